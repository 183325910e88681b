/** `node:worker_threads` of a simulated program: another instance of a program in the same process. */
import { EventEmitter } from "./events.ts";
import { nameOf } from "./programs.ts";
import type { RunningProgram } from "./world.ts";

const START_MS = 15;
const MESSAGE_MS = 0.05;

export function workersOf(program: RunningProgram, parentPort: EventEmitter | undefined) {
  const later = (ms: number, call: () => void) =>
    program.clock.at(program.clock.monotonicMs() + ms, () => program.run(call));

  /** One side of the channel between a thread and the one that started it. */
  class Port extends EventEmitter {
    other: EventEmitter | undefined;
    isOver = false;

    postMessage(message: unknown): void {
      const copy = structuredClone(message);
      later(MESSAGE_MS, () => {
        if (!this.isOver) this.other?.emit("message", copy);
      });
    }
  }

  class Worker extends Port {
    constructor(file: URL | string) {
      super();
      const inside = new Port();
      inside.other = this;
      this.other = inside;
      later(START_MS, () => {
        if (!this.isOver) program.startThread(nameOf(String(file)), inside);
      });
    }

    terminate(): Promise<number> {
      this.isOver = true;
      (this.other as Port).isOver = true;
      later(0, () => this.emit("exit", 1));
      return Promise.resolve(1);
    }
    ref(): this {
      return this;
    }
    unref(): this {
      return this;
    }
  }
  return { Worker, parentPort: parentPort ?? null, isMainThread: parentPort === undefined };
}
