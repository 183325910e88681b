/**
 * The front end's end of the runner: starts its process, sends it tasks, and starts another one if it was
 * killed. Tasks of a killed runner are run again.
 */

import { makeFolder } from "@tutti/host/make-folders.ts";
import { type ChildProcess, spawn } from "@tutti/host/ports/child-process.ts";
import { fileURLToPath } from "@tutti/host/ports/url.ts";
import { programFile } from "@tutti/host/programs.ts";
import { OWN_ENVIRONMENT } from "@tutti/host/surroundings.ts";
import type { FromRunner, HookTask } from "@tutti/protocol/news/runner.ts";
import type { HookRunner, StartRunner } from "./news-desk.ts";

const PROGRAM = fileURLToPath(
  programFile("hooks", new URL("../../conductor/hooks/runner.ts", import.meta.url)),
);
/** If a runner ends at once, for example because the machine has no more processes. */
const START_AGAIN_MS = 1000;

/** @param home folder of the runner, private to the scheduler's user; created if missing */
export function runnerIn(home: string): StartRunner {
  return (onResult) => new RunnerProcess(home, onResult);
}

class RunnerProcess implements HookRunner {
  readonly #home: string;
  readonly #onResult: Parameters<StartRunner>[0];
  readonly #tasks = new Map<string, HookTask>();
  #child: ChildProcess | undefined;
  #isReady = false;
  #isClosed = false;
  #again: NodeJS.Timeout | undefined;

  constructor(home: string, onResult: Parameters<StartRunner>[0]) {
    this.#home = home;
    this.#onResult = onResult;
  }

  /** The first task starts the process, which then waits for others. */
  run(task: HookTask): void {
    this.#tasks.set(task.id, task);
    if (this.#isReady) this.#send(task);
    else if (this.#child === undefined && this.#again === undefined) this.#start();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
    if (this.#child?.connected) this.#child.disconnect();
    this.#child?.unref();
  }

  #start(): void {
    this.#again = undefined;
    let child: ChildProcess;
    try {
      makeFolder(this.#home, 0o700);
      child = spawn(process.execPath, [PROGRAM, this.#home], {
        cwd: "/",
        // Ctrl-C in the terminal of the scheduler is not meant for hooks.
        detached: true,
        env: OWN_ENVIRONMENT,
        stdio: ["ignore", "ignore", "ignore", "ipc"],
      });
    } catch {
      this.#ended();
      return;
    }
    this.#child = child;
    child.on("message", (message) => this.#receive(message as FromRunner));
    child.once("error", () => this.#ended(child));
    child.once("exit", () => this.#ended(child));
    child.unref();
    child.channel?.unref();
  }

  #receive(message: FromRunner): void {
    if (this.#isClosed) return;
    if (message.type === "ready") {
      this.#isReady = true;
      for (const task of this.#tasks.values()) this.#send(task);
    } else {
      this.#tasks.delete(message.result.id);
      this.#onResult(message.result);
    }
  }

  #send(task: HookTask): void {
    // A runner that has just ended is noticed by its exit.
    this.#child?.send(task, () => {});
  }

  #ended(child?: ChildProcess): void {
    if (child !== this.#child || this.#isClosed || this.#again !== undefined) return;
    this.#child = undefined;
    this.#isReady = false;
    this.#again = setTimeout(() => {
      this.#again = undefined;
      if (this.#tasks.size > 0) this.#start();
    }, START_AGAIN_MS).unref();
  }
}
