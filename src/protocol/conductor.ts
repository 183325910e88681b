/**
 * Defines the messages between front end and conductor. Each message is one JSON object on one line, sent
 * over the conductor's Unix socket.
 *
 *   front end                          conductor                       shim (one per attempt, own session)
 *      │── hello, matrix, launch, … ──────▶│── spawn, freeze, pin, kill ──▶│ claims the attempt,
 *      │◀─ state, launched, ended, slots ──│◀───── exit file on disk ──────│ runs the command
 *
 * The front end decides, the conductor acts. The conductor holds a copy of the matrix and runs its rows by
 * an absolute clock. Only the conductor launches, stops, continues, pins and kills processes. While no
 * front end is connected, it continues with the last matrix. The front end may repeat every message after a
 * reconnect: launches are identified by job, attempt and identity, a matrix by its sequence number.
 *
 * The protocol is 3. Front ends and conductors that speak 1 or 2 are refused: the revision e32fa342 speaks
 * all.
 *
 * The conductors of a cluster turn the same rows at the same slots. A cluster's conductor takes a matrix
 * in two steps: it keeps the matrix (`stage`, answered by `staged`), and uses it from a slot on that all
 * conductors have acknowledged (`turn`, answered by `turning`). Until that slot, the front end can take it
 * back (`revoke`). So the gates of a gang open in the same slot on all nodes, or on none.
 */
import type {
  AttemptCommand,
  AttemptKey,
  AttemptReport,
  AttemptState,
  FreezerKind,
  IdentifiedAttempt,
  LaunchSpec,
  MatrixSchedule,
} from "./attempts.ts";

/** A gang in a row, and the CPUs that it has during the slot of that row. */
export interface PlacedGang extends AttemptKey {
  /** CPU numbers of this machine. */
  readonly cpus: readonly number[];
  /**
   * Its processes wait at their gates, even in slots of its row, until a matrix leaves this out. Protocol
   * 3.
   */
  readonly closed?: true;
}

export interface ConductorMatrix extends MatrixSchedule<PlacedGang> {
  /**
   * A row gets exactly its own slots: if none of its gangs is left here, the rest of the slot stays idle,
   * because on other nodes its gangs may still run. Protocol 3.
   */
  readonly strict?: true;
}

/** The part of a gang on a node whose conductor does not start the gang's command. Protocol 3. */
export interface MemberSpec extends IdentifiedAttempt {
  /** As in `LaunchSpec`. */
  readonly folder: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly graceMs: number;
  /** Names of all nodes of the gang, that of its first process first. Given back in `about`. */
  readonly nodes: readonly string[];
  readonly tasksRun: "once" | "each";
  /**
   * As in `LaunchSpec`, for tasks with ranks: each node counts, and all reach the limit in the same slot.
   */
  readonly limitMs?: number;
  /**
   * Ranks of the tasks that the gang's step starts on this node, each under a shim in `folder`/tasks/RANK.
   * Empty if the command runs once: then the processes here are those that the command starts by srun or
   * mpirun.
   */
  readonly ranks: readonly number[];
}

export type ToConductor =
  /** First message of a connection. If a second front end connects, the conductor drops the first. */
  | {
      readonly type: "hello";
      readonly protocol: 3;
      readonly frontEnd: string;
      /**
       * Protocol 3: random name of the front end's state folder. While a front end of another owner is
       * connected, or was within the last 10 s, the hello is refused.
       */
      readonly owner?: string;
    }
  | { readonly type: "matrix"; readonly matrix: ConductorMatrix }
  | AttemptCommand
  | ToClusterConductor;

/** Protocol 3: clocks, and the matrix in use. */
export type ToTurning =
  /** Answered by `pong` at once. */
  | { readonly type: "ping"; readonly id: number }
  /**
   * Sets the start of slot 0, on this node's monotonic clock in ms. A correction by less than a slot makes
   * the present slot longer or shorter; a larger one counts the slots again.
   */
  | { readonly type: "grid"; readonly epochMs: number }
  /**
   * Keeps a matrix for a later `turn`. Answered by `staged`, or by `refused`. Replaces the one kept before.
   * Its number must be higher than those of the matrices that are in force or turning.
   */
  | { readonly type: "stage"; readonly matrix: ConductorMatrix }
  /**
   * The staged matrix is in force from the beginning of this slot on, counted in slots of that matrix.
   * Answered by `turning`, or by `refused` if that slot has begun or the matrix was revoked: a turn that
   * comes late never makes a node differ from the others.
   */
  | { readonly type: "turn"; readonly sequence: number; readonly atSlot: number }
  /** The matrix, staged or turning, will not be used. Answered by `refused` once its slot has begun. */
  | { readonly type: "revoke"; readonly sequence: number };

/** Protocol 3. */
type ToClusterConductor =
  | ToTurning
  /**
   * The gang may have processes here: they take their turns and end with the gang. Answered by `ready`. Its
   * files for the tasks are there before any later ping is answered.
   */
  | { readonly type: "join"; readonly member: MemberSpec }
  /**
   * Starts a gang's tasks on all its nodes by a command of the cluster's own, such as srun. The conductor
   * of the first node does it. `step` is the command, and the tasks' shims are what it starts.
   */
  | { readonly type: "step"; readonly spec: LaunchSpec; readonly step: readonly string[] };

export type FromConductor =
  /** Answer to `hello`: all attempts that the conductor knows, and the number of its current matrix. */
  | {
      readonly type: "state";
      readonly protocol: 3;
      readonly attempts: readonly AttemptState[];
      readonly sequence: number;
      readonly pid: number;
      readonly freezer: FreezerKind;
      /** Start of slot 0 on the monotonic clock in ms (process.hrtime). Restarts keep the grid of slots. */
      readonly epochMs: number;
      /** Matrices that are in force from a later slot on. Protocol 3. */
      readonly turning?: readonly { readonly sequence: number; readonly atSlot: number }[];
      /** CPUs on which processes of this conductor may run. Protocol 3. */
      readonly allowedCpus?: readonly number[];
      /** Whether the kernel keeps gangs within their memory. Left out by earlier versions. */
      readonly limitsMemory?: boolean;
      /** Version of Tutti. Protocol 3. */
      readonly version?: string;
    }
  | AttemptReport
  | FromClusterConductor;

/** Protocol 3. */
export type FromClusterConductor =
  /** `nowMs` is this node's monotonic clock when the ping was read. */
  | { readonly type: "pong"; readonly id: number; readonly nowMs: number }
  | { readonly type: "staged"; readonly sequence: number }
  | { readonly type: "turning"; readonly sequence: number; readonly atSlot: number }
  /**
   * From the program that connects to the conductor: none has listened for a while, and no process of the
   * cluster's gangs is left on this node.
   */
  | { readonly type: "vacant" }
  /** The cluster takes the node away: the conductor kills its attempts, starts nothing more, and ends. */
  | { readonly type: "leaving" }
  /** All processes that this node starts for the gang wait at their gates. */
  | { readonly type: "ready"; readonly attempt: AttemptKey; readonly identity?: string };
