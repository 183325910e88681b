/** How gangs are stopped, continued and killed: one contract, three kinds, one conformance suite (test/conductor/freezers.test.ts). */
import { type ProcessIdentity, signal } from "../../host/processes.ts";
import type { FreezerKind } from "../../protocol/attempts.ts";

export interface Freezer {
  readonly kind: FreezerKind;
  /** From now on the gang can be stopped. Called before the job, its first process, is let through its gate. */
  enter(gang: string, shim: ProcessIdentity, job: ProcessIdentity): void;
  /**
   * Stops every process of the gangs, those they start meanwhile included. Frozen already is as good.
   * @returns false when some were not seen to stop, so that asking again soon is worth while
   */
  freeze(...gangs: readonly string[]): boolean;
  thaw(gang: string): void;
  /** True when every process was seen stopped; true too when there is none. */
  isFrozen(gang: string): boolean;
  /** Processes of the gang that have not ended, without its shim. */
  pids(gang: string): number[];
  /** Kills every process of the gang but its shim; true when none is left. To be called again until then. */
  kill(gang: string): boolean;
  /** The gang has ended and has no processes. */
  leave(gang: string): void;
  /** The conductor's folder was removed and made again: writes again what has to be in it. */
  homeIsNew(): void;
  /** Continues whatever may have been left stopped by an earlier life of the conductor. */
  thawLeftovers(): void;
}

/** Sends a signal to every process of the gang but its shim. */
export function signalAll(freezer: Freezer, gang: string, name: NodeJS.Signals): void {
  for (const pid of freezer.pids(gang)) signal(pid, name);
}
