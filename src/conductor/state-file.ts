/** What the conductor writes down so that the next one goes on where it died. One JSON file, replaced as a whole. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { ProcessIdentity } from "../host/processes.ts";
import type { AttemptEnd, EndReason, LaunchSpec } from "../protocol/attempts.ts";
import type { ConductorMatrix } from "../protocol/conductor.ts";

export interface SavedAttempt {
  /** Without the environment, which only the launch needs. */
  readonly spec: Omit<LaunchSpec, "env">;
  readonly shim?: ProcessIdentity;
  /** First process of the job; written down, since what the folder says later may be the job's own work. */
  readonly job?: ProcessIdentity;
  /** The job was let through its gate. */
  readonly begun: boolean;
  readonly startedAtMs: number;
  readonly ranMs: number;
  readonly reason: EndReason;
  readonly killed: boolean;
  readonly end?: AttemptEnd;
  /** It runs outside the turns, since the front end's store does not know it. */
  readonly kept?: true;
}

/** Version 1 has gained optional fields: a conductor of the first release reads it too, and passes over them. */
export interface SavedState {
  readonly version: 1;
  readonly bootId: string;
  readonly epochMs: number;
  readonly matrix: ConductorMatrix;
  readonly guardian?: ProcessIdentity;
  readonly attempts: readonly SavedAttempt[];
}

/** Undefined when there is none, or none that can be used: then the folders of the attempts tell what the front end asks for. */
export function readState(path: string): SavedState | undefined {
  try {
    const state = JSON.parse(readFileSync(path, "utf8"));
    return state?.version === 1 && Array.isArray(state.attempts) ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Not forced to disk: it outlives the process, and no job outlives the machine. */
export function writeState(path: string, state: SavedState): void {
  writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
