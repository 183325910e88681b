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
import type { ProcessIdentity } from "../host/processes.ts";
import type {
  AttemptEnd,
  AttemptKey,
  AttemptState,
  EndReason,
  FreezerKind,
  LaunchSpec,
  SlotStatistics,
} from "./attempts.ts";

/** A gang in a row: these CPUs are its own for that row's slot. */
export interface PlacedGang extends AttemptKey {
  /** CPU numbers of this machine. */
  readonly cpus: readonly number[];
}

/** The Ousterhout matrix as the conductor turns it. A gang may stand in several rows, with the same CPUs in each. */
export interface TurningMatrix {
  /** Grows by one with every change; an older matrix than the one held is ignored. */
  readonly sequence: number;
  /** 20 … 60,000. */
  readonly slotMs: number;
  /**
   * gang: gangs of other rows are stopped. concurrent: where two gangs share a CPU, those of other rows run in the idle
   * class, weighted by their grades of membership (Silva and Scherson 1999).
   */
  readonly mode: "gang" | "concurrent";
  /**
   * Number of a slot of the grid, epoch + k × slotMs, in which rows[0] has its turn: slot k belongs to row (k − fromSlot) mod rows.
   * So a change of the rows does not disturb the round. Left out: 0.
   */
  readonly fromSlot?: number;
  /** Rows in order of the round. A gang that is in no row is stopped. */
  readonly rows: readonly (readonly PlacedGang[])[];
}

export type ToConductor =
  /** First message of a connection. A second front end makes the conductor drop the first one. */
  | { readonly type: "hello"; readonly protocol: 1 | 2; readonly frontEnd: string }
  | { readonly type: "matrix"; readonly matrix: TurningMatrix }
  /**
   * Starts an attempt, which waits until its row has a slot. Answered by `launched` when the command begins then, or by `ended` if it
   * could not be started. Said again, it is answered again and nothing is run twice.
   */
  | { readonly type: "launch"; readonly spec: LaunchSpec }
  /** TERM, then KILL of the whole tree after the grace time; `kill` at once. A stopped gang is continued for it. */
  | {
      readonly type: "stop";
      readonly attempt: AttemptKey;
      readonly kill: boolean;
      readonly reason: EndReason;
      /** Stops the attempt of this identity only; left out: whichever has that number. */
      readonly identity?: string;
    }
  /** The front end has written the end to its store; the conductor may forget the attempt. With `identity`: only the attempt that has it. */
  | { readonly type: "forget"; readonly attempt: AttemptKey; readonly identity?: string }
  /**
   * The store does not know this attempt, and nobody has said yet what is to become of it: it runs on whatever the rows are, beside the gangs, until
   * it ends or is stopped. It holds until the next front end says hello and sends a matrix without saying this again. With `identity`: only for the
   * attempt that has it. Protocol 2.
   */
  | { readonly type: "keep"; readonly attempt: AttemptKey; readonly identity?: string }
  /** Kills what is left, removes cgroups, exits. Without `killJobs` it refuses while attempts run. */
  | { readonly type: "shutdown"; readonly killJobs: boolean };

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
  | {
      readonly type: "launched";
      readonly attempt: AttemptKey;
      /** That of the launch, if it had one. */
      readonly identity?: string;
      readonly shim: ProcessIdentity;
      readonly startedAtMs: number;
    }
  | { readonly type: "ended"; readonly end: AttemptEnd }
  | { readonly type: "slots"; readonly statistics: SlotStatistics }
  | { readonly type: "refused"; readonly message: string };
