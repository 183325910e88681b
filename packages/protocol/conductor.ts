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
import {
  ATTEMPT_COMMANDS,
  type AttemptKey,
  type AttemptReport,
  type AttemptState,
  absolutePath,
  attemptKey,
  type FreezerKind,
  gangName,
  graceMs,
  IDENTIFIED,
  INPUT_PIECE,
  identity,
  KEY,
  limitSignal,
  MAX_TASKS,
  ownFolder,
  plainText,
  SCHEDULE,
  stepSpec,
  tasksRun,
  userName,
  words,
} from "./attempts.ts";
import {
  type Frozen,
  integer,
  list,
  type MessageOf,
  object,
  oneOf,
  optional,
  refined,
  shape,
  type TypeOf,
  text,
  whole,
} from "./shape.ts";

const mark = optional(oneOf(true));

/** A gang in a row, and the CPUs that it has during the slot of that row. */
const placedGang = object({
  ...KEY,
  /** CPU numbers of this machine. */
  cpus: list(whole(0, 65_535)),
  /**
   * Its processes wait at their gates, even in slots of its row, until a matrix leaves this out. Protocol
   * 3.
   */
  closed: mark,
});
export type PlacedGang = Frozen<TypeOf<typeof placedGang>>;

export const conductorMatrix = refined(
  object({
    ...SCHEDULE,
    /** Rows in the order of the round. A gang that is in no row is stopped. */
    rows: list(list(placedGang)),
    /**
     * A row gets exactly its own slots: if none of its gangs is left here, the rest of the slot stays idle,
     * because on other nodes its gangs may still run. Protocol 3.
     */
    strict: mark,
  }),
  ({ rows }) => rowsProblem(rows),
);
export type ConductorMatrix = Frozen<TypeOf<typeof conductorMatrix>>;

/** Why rows of gangs cannot take turns. */
function rowsProblem(rows: readonly (readonly PlacedGang[])[]): string | undefined {
  const cpusOfGang = new Map<string, string>();
  for (const row of rows) {
    const taken = new Set<number>();
    const gangs = new Set<string>();
    for (const gang of row) {
      const name = gangName(gang);
      if (gangs.has(name)) return `: job ${name} is twice in one row`;
      gangs.add(name);
      for (const cpu of gang.cpus) {
        if (taken.has(cpu)) return `: CPU ${cpu} is used twice in one row`;
        taken.add(cpu);
      }
      const cpus = gang.cpus.join(",");
      if ((cpusOfGang.get(name) ?? cpus) !== cpus) return `: job ${name} has other CPUs in another row`;
      cpusOfGang.set(name, cpus);
    }
  }
  return undefined;
}

const ranks = refined(list(whole(0, MAX_TASKS - 1)), (all) =>
  new Set(all).size < all.length ? " has a rank twice" : undefined,
);
/** The part of a gang on a node whose conductor does not start the gang's command. Protocol 3. */
const memberSpec = object({
  ...IDENTIFIED,
  /** As in `LaunchSpec`. */
  folder: absolutePath,
  uid: optional(whole()),
  gid: optional(whole()),
  user: userName,
  ownFolder,
  graceMs,
  /** Names of all nodes of the gang, that of its first process first. Given back in `about`. */
  nodes: words,
  tasksRun,
  /**
   * As in `LaunchSpec`: each node counts, and all reach the limit in the same slot. Only tasks with ranks end
   * at it; the others end with the command.
   */
  limitMs: optional(whole()),
  limitSignal: optional(limitSignal),
  /** As in `LaunchSpec`: of the whole gang. Here, the part is watched. */
  memoryBytes: optional(whole()),
  /** As in `LaunchSpec`. */
  gpus: optional(list(plainText)),
  /**
   * Ranks of the tasks that the gang's step starts on this node, each under a shim in `folder`/tasks/RANK.
   * Empty if the command runs once: then the processes here are those that the command starts by srun or
   * mpirun.
   */
  ranks,
});
export type MemberSpec = Frozen<TypeOf<typeof memberSpec>>;

const instant = shape<number>("a time in ms", Number.isFinite);

/** Protocol 3: clocks, and the matrix in use. */
const TURNING = {
  /** Answered by `pong` at once. */
  ping: { id: whole() },
  /**
   * Sets the start of slot 0, on this node's monotonic clock in ms. A correction by less than a slot makes
   * the present slot longer or shorter; a larger one counts the slots again.
   */
  grid: {
    epochMs: instant,
    /**
     * When what still runs is stopped because the node is taken away, on the same clock: jobs get the signal
     * before their limit also before that time. Left out: it stays.
     */
    stopAtMs: optional(instant),
  },
  /**
   * Keeps a matrix for a later `turn`. Answered by `staged`, or by `refused`. Replaces the one kept before.
   * Its number must be higher than those of the matrices that are in force or turning.
   */
  stage: { matrix: conductorMatrix },
  /**
   * The staged matrix is in force from the beginning of this slot on, counted in slots of that matrix.
   * Answered by `turning`, or by `refused` if that slot has begun or the matrix was revoked: a turn that
   * comes late never makes a node differ from the others.
   */
  turn: { sequence: whole(), atSlot: integer },
  /** The matrix, staged or turning, will not be used. Answered by `refused` once its slot has begun. */
  revoke: { sequence: whole() },
};
export type ToTurning = MessageOf<typeof TURNING>;

/** Names of the output files in an attempt's own folder. */
const outputFile = oneOf("out", "err");
export type OutputFile = TypeOf<typeof outputFile>;

export const TO_CONDUCTOR = {
  /** First message of a connection. If a second front end connects, the conductor drops the first. */
  hello: {
    protocol: shape<3>(
      "spoken here; the revision e32fa342 of Tutti speaks 1 to 3",
      (protocol) => protocol === 3,
    ),
    frontEnd: text,
    /**
     * Protocol 3: random name of the front end's state folder. While a front end of another owner is
     * connected, or was within the last 10 s, the hello is refused.
     */
    owner: optional(plainText),
  },
  matrix: { matrix: conductorMatrix },
  ...ATTEMPT_COMMANDS,
  ...TURNING,
  /**
   * The gang may have processes here: they take their turns and end with the gang. Answered by `ready`. Its
   * files for the tasks are there before any later ping is answered. Protocol 3.
   */
  join: { member: memberSpec },
  /**
   * Starts a gang's tasks. `step` is a command of the cluster's own, such as srun, which starts the tasks'
   * shims on all nodes; the conductor of the first node runs it. Without `step`, each conductor starts the
   * tasks of its own node. Protocol 3.
   */
  step: { spec: stepSpec, step: optional(words) },
  /** For the node that starts the job's command. Answered by `input-taken`, at the latest after 5 s. */
  input: { attempt: attemptKey, identity: optional(identity), ...INPUT_PIECE },
  /**
   * Asks for what the gang has written on this node, from this byte on: for nodes whose attempts have
   * folders of their own. Answered by `output`.
   */
  read: { attempt: attemptKey, identity: optional(identity), file: outputFile, from: whole() },
};
export type ToConductor = MessageOf<typeof TO_CONDUCTOR>;

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
  /** Answer to `input`. */
  | {
      readonly type: "input-taken";
      readonly attempt: AttemptKey;
      readonly writer: string;
      /** Number of the writer's bytes that are in the job's pipe. */
      readonly taken: number;
      /** not-yet: some of it was not taken in time. closed: nobody reads any longer. */
      readonly reader: "not-yet" | "open" | "closed";
    }
  | { readonly type: "staged"; readonly sequence: number }
  | { readonly type: "turning"; readonly sequence: number; readonly atSlot: number }
  /**
   * From the program that connects to the conductor: none has listened for a while, and no process of the
   * cluster's gangs is left on this node.
   */
  | { readonly type: "vacant" }
  /** Answer to `read`: the next bytes, and how many follow them. Of an unknown attempt, there are none. */
  | {
      readonly type: "output";
      readonly attempt: AttemptKey;
      readonly identity?: string;
      readonly file: OutputFile;
      readonly from: number;
      readonly base64: string;
      readonly left: number;
    }
  /** The cluster takes the node away: the conductor kills its attempts, starts nothing more, and ends. */
  | { readonly type: "leaving" }
  /** All processes that this node starts for the gang wait at their gates. */
  | { readonly type: "ready"; readonly attempt: AttemptKey; readonly identity?: string };
