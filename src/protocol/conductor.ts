/**
 * What the front end and the conductor say to each other: one JSON object per line over the conductor's Unix socket.
 *
 * The front end decides, the conductor acts. The conductor holds a copy of the matrix and turns it by an absolute clock; it alone launches,
 * stops, continues, pins and kills processes. It goes on with the last matrix while no front end is connected. Every
 * message of the front end may be sent again after a reconnect: launching is keyed by job, attempt and identity, the matrix by its number.
 *
 * Protocol 2 gives every attempt an identity; protocol 1 had none. A front end says hello with 2; a conductor that refuses that is of the first
 * release, and is spoken to in protocol 1 until it ends.
 *
 *   front end                         conductor                        shim (one per attempt, own session)
 *      │ hello, matrix, launch, signal     │  spawn, freeze, thaw, pin, kill   │ claims the attempt, runs the command,
 *      │◀── state, launched, ended, slots ─│◀──────── exit file on disk ───────│ writes its exit status to disk
 */
import type {
  AttemptCommand,
  AttemptKey,
  AttemptReport,
  AttemptState,
  FreezerKind,
  MatrixSchedule,
} from "./attempts.ts";

/** A gang in a row: these CPUs are its own for that row's slot. */
export interface PlacedGang extends AttemptKey {
  /** CPU numbers of this machine. */
  readonly cpus: readonly number[];
}

export type ConductorMatrix = MatrixSchedule<PlacedGang>;

export type ToConductor =
  /** First message of a connection. A second front end makes the conductor drop the first one. */
  | { readonly type: "hello"; readonly protocol: 1 | 2; readonly frontEnd: string }
  | { readonly type: "matrix"; readonly matrix: ConductorMatrix }
  | AttemptCommand;

export type FromConductor =
  /** Answer to `hello`: all attempts that the conductor knows of, and the number of the matrix it turns. */
  | {
      readonly type: "state";
      /** Left out: 1. */
      readonly protocol?: 2;
      readonly attempts: readonly AttemptState[];
      readonly sequence: number;
      readonly pid: number;
      readonly freezer: FreezerKind;
      /** Beginning of slot 0 on the monotonic clock in ms (process.hrtime); slots go on across restarts. */
      readonly epochMs: number;
    }
  | AttemptReport;
