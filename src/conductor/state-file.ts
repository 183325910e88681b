/**
 * Saves the conductor's state so that the next conductor can continue from it. The state is one JSON file,
 * which is always replaced as a whole.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { ProcessIdentity } from "../host/processes.ts";
import type { AttemptEnd, EndReason, LaunchSpec } from "../protocol/attempts.ts";
import type { ConductorMatrix } from "../protocol/conductor.ts";

export interface SavedAttempt {
  /** Without the environment, which only the launch needs. */
  readonly spec: Omit<LaunchSpec, "env">;
  readonly shim?: ProcessIdentity;
  /** First process of the job; saved because the job may later change what its folder says. */
  readonly job?: ProcessIdentity;
  /** The job was let through its gate. */
  readonly begun: boolean;
  readonly startedAtMs: number;
  readonly ranMs: number;
  readonly reason: EndReason;
  readonly killed: boolean;
  readonly end?: AttemptEnd;
  /** It takes no turns, because the front end's store does not know it. */
  readonly kept?: true;
}

/**
 * Version 1, with optional fields that were added later. A conductor of the first release can read it and
 * ignores these fields.
 */
export interface SavedState {
  readonly version: 1;
  readonly bootId: string;
  readonly epochMs: number;
  readonly matrix: ConductorMatrix;
  readonly guardian?: ProcessIdentity;
  readonly attempts: readonly SavedAttempt[];
}

/**
 * Undefined if there is no usable file. The conductor then learns from the folders of the attempts what the
 * front end asks for.
 */
export function readState(path: string): SavedState | undefined {
  try {
    const state = JSON.parse(readFileSync(path, "utf8"));
    return state?.version === 1 && Array.isArray(state.attempts) ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Does not sync to disk: the file survives the process, and no job survives a reboot. */
export function writeState(path: string, state: SavedState): void {
  writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
