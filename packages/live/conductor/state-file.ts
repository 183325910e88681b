/**
 * Saves the conductor's state so that the next conductor can continue from it. The state is one JSON file,
 * which is always replaced as a whole. What the conductor intends is in the file before it acts (`save` with
 * an act), so no conductor takes the kills of an earlier one for ends of their own.
 */
import { readFileSync, renameSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import type { ProcessIdentity } from "@tutti/host/processes.ts";
import type { ConductorMatrix } from "@tutti/protocol/conductor.ts";
import type { LastSeen } from "./attempts/absence.ts";
import type { SavedAttempt } from "./attempts/attempt.ts";
import type { SavedMember } from "./attempts/member.ts";
import type { TurningMatrix } from "./matrices.ts";

/**
 * Version 1, with optional fields that were added later. A conductor of the first release can read it and
 * ignores these fields.
 */
export interface SavedState extends LastSeen {
  readonly version: 1;
  readonly epochMs: number;
  /** When the cluster takes the node away, on the monotonic clock in ms. */
  readonly stopAtMs?: number | undefined;
  readonly matrix: ConductorMatrix;
  /** The front end has been answered that these are in force from a later slot on. */
  readonly turning?: readonly TurningMatrix[];
  readonly guardian?: ProcessIdentity;
  /** The process that started the conductor, in a cluster. */
  readonly keeper?: ProcessIdentity;
  readonly attempts: readonly SavedAttempt[];
  readonly members?: readonly SavedMember[];
}

/** Reads the state of the last conductor and writes ours. */
export class StateFile {
  readonly #path: string;
  readonly #state: () => SavedState;
  #acts: (() => void)[] = [];
  #isDue = false;
  #closed = false;

  constructor(path: string, state: () => SavedState) {
    this.#path = path;
    this.#state = state;
  }

  /**
   * Undefined if there is no usable file. The conductor then learns from the folders of the attempts what
   * the front end asks for.
   */
  read(): SavedState | undefined {
    try {
      const state = JSON.parse(readFileSync(this.#path, "utf8"));
      return state?.version === 1 && Array.isArray(state.attempts) ? state : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Saves the state soon, once for all changes made at the same moment.
   * @param act what the state announces; called when it is in the file, or when the disk has refused that
   */
  save(act?: () => void): void {
    if (this.#closed) return;
    if (act !== undefined) this.#acts.push(act);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (this.#closed) return;
      const acts = this.#acts.splice(0);
      this.write();
      for (const act of acts) act();
    });
  }

  /** Does not sync to disk: the file survives the process, and no job survives a reboot. */
  write(): void {
    try {
      writeFileSync(`${this.#path}.new`, JSON.stringify(this.#state()), { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
    } catch (error) {
      // A full disk must not stop the turns. What matters is also in the folders of the attempts.
      console.error(`Cannot write ${this.#path}: ${(error as Error).message}`);
    }
  }

  /** From now on, only `write` saves. */
  close(): void {
    this.#closed = true;
  }
}
