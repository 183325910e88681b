/**
 * Defines the messages between front end and conductor. Each message is one JSON object on one line, sent
 * over the conductor's Unix socket.
 *
 *   front end                          conductor                       shim (one per attempt, own session)
 *      │── hello, matrix, launch, … ──────▶│── spawn, freeze, pin, kill ──▶│ claims the attempt,
 *      │◀─ state, launched, ended, slots ──│◀───── exit file on disk ──────│ runs the command
 *
 * The front end decides, the conductor acts. The conductor holds a copy of the matrix and runs its rows by an
 * absolute clock. Only the conductor launches, stops, continues, pins and kills processes. While no front end
 * is connected, it continues with the last matrix. The front end may repeat every message after a reconnect:
 * launches are identified by job, attempt and identity, a matrix by its sequence number.
 *
 * Protocol 2 gives every attempt an identity; protocol 1 had none. A front end says hello with protocol 2. If
 * a conductor refuses it, that conductor is of Tutti's first release, and the front end talks to it in
 * protocol 1 until it ends.
 */
import type {
  AttemptCommand,
  AttemptKey,
  AttemptReport,
  AttemptState,
  FreezerKind,
  MatrixSchedule,
} from "./attempts.ts";

/** A gang in a row, and the CPUs that it has during the slot of that row. */
export interface PlacedGang extends AttemptKey {
  /** CPU numbers of this machine. */
  readonly cpus: readonly number[];
}

export type ConductorMatrix = MatrixSchedule<PlacedGang>;

export type ToConductor =
  /** First message of a connection. If a second front end connects, the conductor drops the first. */
  | { readonly type: "hello"; readonly protocol: 1 | 2; readonly frontEnd: string }
  | { readonly type: "matrix"; readonly matrix: ConductorMatrix }
  | AttemptCommand;

export type FromConductor =
  /** Answer to `hello`: all attempts that the conductor knows, and the number of its current matrix. */
  | {
      readonly type: "state";
      /** Left out: 1. */
      readonly protocol?: 2;
      readonly attempts: readonly AttemptState[];
      readonly sequence: number;
      readonly pid: number;
      readonly freezer: FreezerKind;
      /** Start of slot 0 on the monotonic clock in ms (process.hrtime). Restarts keep the grid of slots. */
      readonly epochMs: number;
    }
  | AttemptReport;
