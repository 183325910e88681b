/**
 * Defines how gangs are stopped, continued and killed. Three kinds of freezer implement this interface, and
 * one conformance suite tests all of them (test/conductor/freezers.test.ts).
 */
import { type ProcessIdentity, type ProcessStat, signal } from "@tutti/host/processes.ts";
import type { FreezerKind } from "@tutti/protocol/attempts.ts";

export interface Freezer {
  readonly kind: FreezerKind;
  /**
   * From now on, the gang can be stopped. Called before a first process, the job, passes its gate; a gang
   * whose tasks were started by the cluster has several. Without a job, only the mark tells what belongs to
   * it.
   */
  enter(gang: string, shim?: ProcessIdentity, job?: ProcessIdentity): void;
  /**
   * Stops every process of the gangs, including processes that they start meanwhile. Gangs may already be
   * frozen.
   * @returns false if it could not confirm that all processes stopped; call it again soon
   */
  freeze(...gangs: readonly string[]): boolean;
  thaw(gang: string): void;
  /** Whether every process is confirmed to be stopped; also true if there is no process. */
  isFrozen(gang: string): boolean;
  /** Processes of the gang that have not ended, without its shim. */
  pids(gang: string): number[];
  /**
   * Kills every process of the gang except its shim. Call it until it returns true, which means that no
   * process is left.
   */
  kill(gang: string): boolean;
  /** The gang has ended and has no processes. */
  leave(gang: string): void;
  /** The conductor's folder was removed and created again: writes its files again. */
  rewriteHome(): void;
  /**
   * Continues what an earlier conductor may have left stopped, except the processes of paused gangs.
   * @returns the gangs that were stopped
   */
  thawLeftovers(): ReadonlySet<string>;
}

/** srun only waits for its tasks: it passes on what they print, and to them the signals that it gets. */
export function isLauncher(process: Pick<ProcessStat, "name"> | undefined): boolean {
  return process?.name === "srun";
}

/** They only wait for the end of a container, whose processes are in the gang, and would die of signals. */
const KEEPERS: ReadonlySet<string> = new Set(["bwrap", "podman", "conmon"]);

export function isKeeper(process: Pick<ProcessStat, "name"> | undefined): boolean {
  return process !== undefined && KEEPERS.has(process.name);
}

/** Sends a signal to every process of the gang except its shim. */
export function signalAll(freezer: Freezer, gang: string, name: NodeJS.Signals): void {
  for (const pid of freezer.pids(gang)) signal(pid, name);
}
