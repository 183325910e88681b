/** Holds the launches that the conductor has yet to carry out. */
import { monotonicMs } from "@tutti/host/clock.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";

/** Starting a process takes a few ms, so none is started this long before a boundary. */
const QUIET_MS = 3;

interface LaunchQueueOptions {
  /** Time until the next slot begins, in ms; undefined: there are no slots now. */
  readonly leftMs: (nowMs: number) => number | undefined;
  readonly launch: (spec: LaunchSpec) => void;
}

export class LaunchQueue {
  readonly #options: LaunchQueueOptions;
  readonly #specs: LaunchSpec[] = [];
  #closed = false;

  constructor(options: LaunchQueueOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#specs.length === 0;
  }

  add(spec: LaunchSpec): void {
    this.#specs.push(spec);
    if (this.#specs.length === 1) setImmediate(() => this.#next());
  }

  find(name: string): LaunchSpec | undefined {
    return this.#specs.find((spec) => gangName(spec) === name);
  }

  /** @param identity take it only if it has this identity; undefined: any */
  take(name: string, identity: string | undefined): LaunchSpec | undefined {
    const at = this.#specs.findIndex(
      (spec) => gangName(spec) === name && (identity ?? spec.identity) === spec.identity,
    );
    return at < 0 ? undefined : this.#specs.splice(at, 1)[0];
  }

  takeAll(): LaunchSpec[] {
    return this.#specs.splice(0);
  }

  close(): void {
    this.#closed = true;
  }

  /** Launches one attempt at a time, and never just before a boundary. */
  #next(): void {
    if (this.#closed) return;
    const leftMs = this.#options.leftMs(monotonicMs()) ?? 0;
    if (leftMs > 0 && leftMs < QUIET_MS) {
      setTimeout(() => this.#next(), QUIET_MS + 1);
      return;
    }
    const spec = this.#specs.shift();
    if (spec === undefined) return;
    this.#options.launch(spec);
    if (this.#specs.length > 0) setImmediate(() => this.#next());
  }
}
