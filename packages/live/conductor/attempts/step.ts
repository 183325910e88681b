/**
 * Runs the command by which the cluster starts the tasks of a gang on all its nodes, such as srun. It runs in
 * a session of its own, so it survives the conductor. Its exit status says nothing: srun also ends with 0
 * when a node is lost. How the tasks end is in their folders.
 */

import { readText } from "@tutti/host/files.ts";
import { type ChildProcess, spawn } from "@tutti/host/ports/child-process.ts";
import { closeSync, openSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { identityOf, isAlive, type ProcessIdentity, sessionOf, signal } from "@tutti/host/processes.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import { MARK_VARIABLE } from "../freezers/signals.ts";
import { blockClaims } from "./claim.ts";
import type { Machine } from "./gang-part.ts";
import { writeLaunch } from "./shim.ts";
import { makeTaskFolder, taskFolder } from "./task.ts";

/** Tasks that have not claimed this long after the end of the command never will. */
const CLAIM_MS = 10_000;
/** Between asking the command to end, killing it, and killing what it has started. */
const KILL_MS = 3000;
const LOG_LINES = 3;
const LOG_LENGTH = 500;

/** What the next conductor must know about a step. */
export interface SavedStep {
  readonly spec: Omit<LaunchSpec, "env">;
  readonly process?: ProcessIdentity;
}

export class Step {
  readonly spec: Omit<LaunchSpec, "env">;
  #process: ProcessIdentity | undefined;
  #child: ChildProcess | undefined;
  #problem: string | undefined;
  #endedAtMs: number | undefined;
  #isJudged = false;
  #isKilled = false;

  private constructor(spec: Omit<LaunchSpec, "env">, process: ProcessIdentity | undefined) {
    this.spec = spec;
    this.#process = process;
  }

  static adopt({ spec, process }: SavedStep): Step {
    return new Step(spec, process);
  }

  /** Writes the scripts of all tasks and starts the command. */
  static start({ containment }: Machine, whole: LaunchSpec, command: readonly string[]): Step {
    const { env, ...spec } = whole;
    const step = new Step(spec, undefined);
    try {
      for (let rank = 0; rank < (spec.tasks ?? 1); rank++) {
        const folder = taskFolder(spec, rank);
        makeTaskFolder(folder);
        writeLaunch({ ...whole, folder }, `${containment.marks}${gangName(spec)}`, "cluster");
      }
      step.#spawn(env, command);
    } catch (error) {
      step.#problem = (error as Error).message;
    }
    return step;
  }

  get saved(): SavedStep {
    return { spec: this.spec, process: this.#process };
  }

  /**
   * Why not all tasks of the gang can start; undefined as long as they can. Once there is a reason, none of
   * the missing tasks starts later.
   */
  failure(nowMs: number): string | undefined {
    if (this.#isJudged || this.#isRunning()) return undefined;
    this.#endedAtMs ??= nowMs;
    if (this.#problem === undefined && nowMs < this.#endedAtMs + CLAIM_MS) return undefined;
    this.#isJudged = true;
    const { tasks = 1 } = this.spec;
    const ranks = Array.from({ length: tasks }, (_, rank) => rank);
    const missing = ranks.filter((rank) =>
      blockClaims({ ...this.spec, folder: taskFolder(this.spec, rank) }),
    ).length;
    if (missing === 0) return undefined;
    const why = this.#problem ?? this.#lastWords();
    return `Cannot start job ${gangName(this.spec)}: the command that starts its tasks ended while ${missing} of ${tasks} had not begun: ${why}`;
  }

  /** Ends the command, and with it the tasks that it has started, if they still run. */
  kill(): void {
    const process = this.#process;
    if (this.#isKilled || process === undefined || !isAlive(process)) return;
    this.#isKilled = true;
    // A helper of srun ends the tasks; it needs time for that.
    signal(process.pid, "SIGCONT");
    signal(process.pid, "SIGTERM");
    const later = (act: () => void, waitMs: number) => setTimeout(act, waitMs).unref();
    later(() => isAlive(process) && signal(process.pid, "SIGKILL"), KILL_MS);
    later(() => {
      for (const { pid } of sessionOf(process.pid, this.spec.uid)) signal(pid, "SIGKILL");
    }, 2 * KILL_MS);
  }

  #spawn(env: Readonly<Record<string, string>>, [program = "", ...words]: readonly string[]): void {
    const log = openSync(join(this.spec.folder, "step.log"), "a", 0o600);
    // With the mark, the command would be stopped together with the gang, and the shims as well.
    const { [MARK_VARIABLE]: _, ...own } = env;
    try {
      const child = spawn(program, words, {
        cwd: "/",
        env: own,
        detached: true,
        stdio: ["ignore", log, log],
      });
      this.#child = child;
      child.once("error", (error) => {
        this.#problem = error.message;
      });
      child.unref();
      this.#process = child.pid === undefined ? undefined : identityOf(child.pid);
    } finally {
      closeSync(log);
    }
  }

  #isRunning(): boolean {
    if (this.#problem !== undefined) return false;
    if (this.#child !== undefined) return this.#child.exitCode === null && this.#child.signalCode === null;
    return this.#process !== undefined && isAlive(this.#process);
  }

  #lastWords(): string {
    const log = readText(join(this.spec.folder, "step.log"), "utf8")?.trim() ?? "";
    const lines = log.split("\n").slice(-LOG_LINES).join("; ").slice(-LOG_LENGTH);
    return lines === "" ? "it wrote nothing" : `"${lines}"`;
  }
}
