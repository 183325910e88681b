/**
 * Starts the tasks of a gang: by a command that starts them on all its nodes, such as srun, or those of this
 * node without a command. The command runs in a session of its own, so it survives the conductor. Its exit
 * status says nothing: srun also ends with 0 when a node is lost. How the tasks end is in their folders.
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
import { startShim, writeLaunch } from "./shim.ts";
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
  /** Tasks that the conductor has started itself. */
  readonly ranks?: readonly number[];
}

export class Step {
  readonly spec: Omit<LaunchSpec, "env">;
  readonly #ownRanks: readonly number[] | undefined;
  #process: ProcessIdentity | undefined;
  #child: ChildProcess | undefined;
  #problem: string | undefined;
  #endedAtMs: number | undefined;
  #isJudged = false;
  #isKilled = false;

  private constructor({ spec, process, ranks }: SavedStep) {
    this.spec = spec;
    this.#process = process;
    this.#ownRanks = ranks;
  }

  static adopt(saved: SavedStep): Step {
    return new Step(saved);
  }

  /** Writes the scripts of all tasks and starts the command. */
  static start(machine: Machine, whole: LaunchSpec, command: readonly string[]): Step {
    const { env, ...spec } = whole;
    const step = new Step({ spec });
    step.#attempt(() => {
      for (const rank of step.#ranks) writeLaunch(taskSpec(whole, rank), markOf(machine, whole), "cluster");
      step.#spawn(env, command);
    });
    return step;
  }

  /** Starts the tasks of this node. */
  static startOwn(machine: Machine, whole: LaunchSpec, ranks: readonly number[]): Step {
    const { env: _, ...spec } = whole;
    const step = new Step({ spec, ranks });
    step.#attempt(() => {
      for (const rank of ranks) {
        const child = startShim(taskSpec(whole, rank), markOf(machine, whole), machine.setpriv, "node");
        child.once("error", (error) => {
          step.#problem = error.message;
        });
        child.unref();
      }
    });
    return step;
  }

  get saved(): SavedStep {
    const ranks = this.#ownRanks;
    return { spec: this.spec, process: this.#process, ...(ranks !== undefined && { ranks }) };
  }

  /** Ranks of the tasks that it starts. */
  get #ranks(): readonly number[] {
    return this.#ownRanks ?? Array.from({ length: this.spec.tasks ?? 1 }, (_, rank) => rank);
  }

  #attempt(start: () => void): void {
    try {
      start();
    } catch (error) {
      this.#problem = (error as Error).message;
    }
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
    const missing = this.#ranks.filter((rank) =>
      blockClaims({ ...this.spec, folder: taskFolder(this.spec, rank) }),
    ).length;
    if (missing === 0) return undefined;
    const of = `${missing} of ${this.#ranks.length}`;
    const job = gangName(this.spec);
    if (this.#ownRanks !== undefined)
      return `Cannot start job ${job}: ${of} tasks on this node did not come to their gates${this.#problem === undefined ? "" : `: ${this.#problem}`}`;
    const why = this.#problem ?? this.#lastWords();
    return `Cannot start job ${job}: the command that starts its tasks ended while ${of} had not begun: ${why}`;
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

/** The launch of one task, with its rank. */
function taskSpec(whole: LaunchSpec, rank: number): LaunchSpec {
  const folder = taskFolder(whole, rank);
  if (whole.ownFolder === undefined) makeTaskFolder(folder);
  return { ...whole, folder, env: { ...whole.env, TUTTI_RANK: String(rank) } };
}

function markOf({ containment }: Machine, spec: LaunchSpec): string {
  return `${containment.marks}${gangName(spec)}`;
}
