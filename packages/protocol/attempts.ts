/**
 * Defines the types that front end, executor and conductor share: jobs, their attempts, and how attempts
 * end. An attempt is one start of a job.
 */
import type { Clocks } from "@tutti/host/clock.ts";
import type { ProcessIdentity } from "@tutti/host/processes.ts";
import { GPU_USE_FIELDS, type GpuUse } from "./gpu-use.ts";
import {
  type Frozen,
  integer,
  list,
  type MessageOf,
  matching,
  number,
  type ObjectOf,
  object,
  oneOf,
  optional,
  record,
  refined,
  type Shape,
  shape,
  type TypeOf,
  text,
  truth,
  whole,
} from "./shape.ts";

/** Number of a job, as users see it; never used again. */
export type JobNumber = number;

export const KEY = {
  job: whole(),
  /** 1, 2, … */
  attempt: whole(),
};
/** One try to run a job: a job that is requeued gets the next attempt. */
export const attemptKey = object(KEY);
export type AttemptKey = Frozen<TypeOf<typeof attemptKey>>;

/** The shim puts the identity into a script and into file names, so only digits are safe. */
export const identity = matching("32 hexadecimal digits", /^[0-9a-f]{32}$/);
export const IDENTIFIED = {
  ...KEY,
  /**
   * 32 random hexadecimal digits, made when the front end decides on the attempt. The attempt's claim and
   * exit files contain them; files with another identity are ignored. An older store can reuse a number,
   * but never an identity. Left out: the attempt is from the first release.
   */
  identity: optional(identity),
};
export type IdentifiedAttempt = Frozen<ObjectOf<typeof IDENTIFIED>>;

/** Name of the gang of an attempt, as used in cgroups and environment marks. */
export function gangName({ job, attempt }: AttemptKey): string {
  return `${job}.${attempt}`;
}

const isPlain = (value: unknown) => typeof value === "string" && !value.includes("\0");
export const plainText = shape<string>("a text without the character NUL", isPlain);
export const absolutePath = shape<string>(
  "an absolute path",
  (value) => isPlain(value) && String(value).startsWith("/"),
);
export const words = refined(list(plainText), ({ length }) => (length > 0 ? undefined : " is an empty list"));
export const graceMs = whole(0, 2 ** 31 - 1);
export const tasksRun = oneOf("once", "each");
/** Far more than the processors of any machine that Tutti schedules. */
export const MAX_TASKS = 1_000_000;

const variable = shape<string>("a value for the environment", isPlain);
const environment = refined(record(variable), (env) => {
  const wrong = Object.keys(env).find((name) => name === "" || name.includes("=") || !isPlain(name));
  return wrong === undefined
    ? undefined
    : ` is no environment: ${JSON.stringify(wrong)} cannot be a variable`;
});

const signalName = matching<NodeJS.Signals>("the name of a signal", /^SIG[A-Z0-9]+$/);
/** A signal before the end of an attempt. */
export const limitSignal = object({
  name: signalName,
  /** Running time in ms between the signal and the end. */
  beforeMs: number,
  /** first: the process of the command. others: all but that one. */
  to: oneOf("first", "others", "all"),
});
/** Which processes of a gang get a signal. steps: those that srun has started in it. */
const signalTarget = oneOf("first", "others", "all", "steps");
export type SignalTarget = TypeOf<typeof signalTarget>;
/**
 * For nodes that share nothing with the front end: the conductor makes the attempt's folder there, with these
 * files. Left out: the front end has made it, on a disk that the node shares.
 */
export const ownFolder = optional(
  object({
    /** Content of the host file. */
    hosts: text,
    script: optional(object({ path: absolutePath, base64: text })),
  }),
);
/**
 * The user by name, where nodes have user ids of their own: replaces `uid` and `gid`. Left out: these hold.
 */
export const userName = optional(plainText);

const launchFields = {
  ...IDENTIFIED,
  /** Absolute folder of the attempt. The front end makes it, `uid` owns it, the shim keeps files there. */
  folder: absolutePath,
  command: words,
  cwd: absolutePath,
  env: environment,
  /** Absolute; parent folders exist. The shim opens it for appending. Never a pipe. */
  stdout: absolutePath,
  stderr: absolutePath,
  /** truncate: the shim empties both files first. Conductors of earlier versions ignore it. */
  openMode: optional(oneOf("append", "truncate")),
  /**
   * User and group of the job. A conductor that runs as root refuses a launch without them; any other
   * refuses a launch for a user other than its own. Left out in attempts of the first release: the
   * conductor's.
   */
  uid: optional(whole()),
  gid: optional(whole()),
  user: userName,
  ownFolder,
  /** Memory limit of the whole gang in bytes; undefined: no limit. Enforced only by a memory cgroup. */
  memoryBytes: optional(whole()),
  /** File mode creation mask of the job, 0 … 0o777; left out: 0o022, as in the first release. */
  umask: optional(whole(0, 0o777)),
  /** Limit on running time in ms, counted only while the gang's row has its slots; undefined: no limit. */
  limitMs: optional(whole()),
  /**
   * A signal before the limit, and before the node is taken away; left out: none. Conductors of earlier
   * versions ignore it.
   */
  limitSignal: optional(limitSignal),
  /** Time between SIGTERM and SIGKILL in ms. */
  graceMs,
  /** The gang's CPUs by node, the node of its first process first. Left out: all are on this machine. */
  nodes: optional(list(object({ node: text, cpus: list(whole()) }))),
  /**
   * once: the command runs once, on the first node. each: it runs once per task, on all nodes of the gang,
   * and the executor distributes the tasks. Left out: once.
   */
  tasksRun: optional(tasksRun),
  /** Number of tasks of the gang, at least 1. */
  tasks: optional(whole(1)),
  /** CPUs of each task, all on one node; left out: 1. */
  threads: optional(whole()),
  /** Type of MPI for tasks that run `each`, such as pmix; left out: none. */
  mpi: optional(text),
  /** Names of its GPUs on each of its nodes, to measure them. Earlier conductors ignore them. */
  gpus: optional(list(plainText)),
  /** What the command reads: what a client writes into a pipe, or a terminal. Left out: nothing. */
  input: optional(oneOf("pipe", "terminal")),
};
/** All that the conductor needs to run an attempt. */
const launchSpec = object(launchFields);
export type LaunchSpec = Frozen<TypeOf<typeof launchSpec>>;
export type OwnFolder = NonNullable<LaunchSpec["ownFolder"]>;
/** A step writes a script for each task, so their number must be known. */
export const stepSpec: Shape<TypeOf<typeof launchSpec>> = object({
  ...launchFields,
  tasks: whole(1, MAX_TASKS),
});

/** Why Tutti ended an attempt; `none` if it ended by itself. */
export const endReason = oneOf("none", "cancelled", "time-limit", "memory-limit", "shutdown", "requeued");
export type EndReason = TypeOf<typeof endReason>;

/** What all processes of an attempt used together, as far as control groups count it, and of its GPUs. */
export interface Usage extends Partial<GpuUse> {
  readonly cpuMs?: number;
  /** Including the files that the kernel kept in memory for it. */
  readonly peakMemoryBytes?: number;
  /** Read from block devices. */
  readonly readBytes?: number;
  readonly writtenBytes?: number;
}

/** What control groups count. */
export const COUNTED_FIELDS = ["cpuMs", "peakMemoryBytes", "readBytes", "writtenBytes"] as const;
export const USAGE_FIELDS = [...COUNTED_FIELDS, ...GPU_USE_FIELDS] as const;

export interface AttemptEnd extends IdentifiedAttempt, Usage {
  /**
   * Unix time in ms at which its command began, or at the earliest began if the conductor died in that
   * moment. Left out: it never began, or the conductor is of an earlier version.
   */
  readonly startedAtMs?: number;
  /** Exit code 0 … 255; undefined if a signal ended the attempt or it was lost. */
  readonly code?: number;
  /** Name of the signal that ended the attempt, such as SIGKILL. */
  readonly signal?: string;
  readonly reason: EndReason;
  /** Why there is no exit status, as text for people: the attempt never started, or its shim was killed. */
  readonly lost?: string;
  /** The attempt was certainly lost before its command began, so a restart runs nothing twice. */
  readonly neverBegan?: true;
  /** Unix time in ms. */
  readonly endedAtMs: number;
  /** The clocks at the end; left out: nobody saw it, or the conductor is of an earlier version. */
  readonly clocks?: Clocks;
  /** How long its rows had the processors, in ms. */
  readonly ranMs: number;
}

/**
 * What a conductor has noted of an attempt, on disk before it acted on it. The next conductor goes on from
 * there, and so does a front end that was away or whose store is older. Unix times in ms, by the clock of the
 * node.
 */
export interface AttemptRecord {
  readonly version: 1;
  /** As in `AttemptEnd`. */
  readonly startedAtMs?: number;
  /** Since when it is paused; left out: it is not paused. */
  readonly pausedAtMs?: number;
  /** Why and when Tutti decided to end it; left out: it may go on. */
  readonly ending?: { readonly reason: EndReason; readonly atMs: number };
}

export interface AttemptState extends IdentifiedAttempt {
  /** Left out by conductors of earlier versions, and by other executors than conductors. */
  readonly record?: AttemptRecord;
  /** Shown to people who must decide about an attempt that the store does not know. */
  readonly about?: {
    /** Left out: the conductor's own user. */
    readonly uid?: number;
    /** As in `LaunchSpec`. */
    readonly user?: string;
    readonly command: readonly string[];
    readonly cwd: string;
    readonly folder: string;
    readonly startedAtMs?: number;
    /** Names of the gang's nodes, that of its first process first. Since protocol 3. */
    readonly nodes?: readonly string[];
    /** Since protocol 3. */
    readonly tasksRun?: "once" | "each";
  };
  readonly phase: "launching" | "running" | "stopping" | "ended";
  readonly shim?: ProcessIdentity;
  readonly ranMs: number;
  readonly end?: AttemptEnd;
}

/** How punctual the slots were since the last message of this type. */
export interface SlotStatistics {
  readonly slots: number;
  /** Lateness of the switches in ms. */
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
  /** Duration of the system calls of a switch, in µs. */
  readonly switchP50Us: number;
  readonly switchP99Us: number;
  /** Lateness in ms of each switch, by the number of its slot. Since protocol 3. */
  readonly lateOfSlots?: readonly (readonly [slot: number, lateMs: number])[];
  /** Slot boundaries skipped because the conductor was late by more than a slot. */
  readonly skipped: number;
  /** CPU share of each gang in its own slots since the last message, 0 … 1 of its CPUs. */
  readonly gangs: readonly {
    readonly job: JobNumber;
    readonly share: number;
    readonly gradeCompute: number;
    /** Its running time so far, in whole ms. Since protocol 3. */
    readonly ranMs?: number;
    /**
     * Memory of its processes here, as a share of the limit of the whole gang. Left out: it has no limit, or
     * a control group keeps it. Since protocol 3.
     */
    readonly memoryShare?: number | undefined;
  }[];
}

/** Ways to stop gangs on this machine, best first. */
export type FreezerKind = "cgroup2" | "cgroup1" | "signals";

const isSlotMs = (value: unknown) => typeof value === "number" && value >= 20 && value <= 60_000;
export const SCHEDULE = {
  /** Grows by one with every change. A matrix older than the current one is ignored. */
  sequence: whole(),
  /** 20 … 60,000. */
  slotMs: shape<number>("between 20 and 60000", isSlotMs),
  /**
   * gang: gangs of other rows are stopped. concurrent: on shared CPUs, gangs of other rows run in the idle
   * class, weighted by their grades of membership (Silva and Scherson 1999).
   */
  mode: oneOf("gang", "concurrent"),
  /**
   * A slot in which rows[0] has its turn. Slot k begins at epoch + k × slotMs and belongs to row
   * (k − fromSlot) mod rows, so a change of the rows does not disturb the round. Left out: 0.
   */
  fromSlot: optional(integer),
  /**
   * Gangs in no row that stay stopped even while no conductor lives. Left out: none. Conductors of earlier
   * versions ignore it, and their guardians continue these gangs, too.
   */
  paused: optional(list(attemptKey)),
};
/** The Ousterhout matrix as the conductor runs it. A gang may be in several rows, on the same CPUs. */
export type MatrixSchedule<Gang> = Frozen<ObjectOf<typeof SCHEDULE>> & {
  /** Rows in the order of the round. A gang that is in no row is stopped. */
  readonly rows: readonly (readonly Gang[])[];
};

/** A piece of what a client writes for a job that runs on another node. */
export const INPUT_PIECE = {
  /** Random name of the client. */
  writer: matching("a word", /^[\w-]{1,64}$/),
  /** Number of its bytes before this piece. What was taken already is not taken twice. */
  offset: whole(),
  /** The bytes, in base64; left out: none, the answer only says whether somebody reads. */
  data: optional(matching("base64", /^[A-Za-z0-9+/]*={0,2}$/)),
  /** After these bytes, the job reads the end. For a pipe. */
  end: optional(oneOf(true)),
};
export type InputPiece = Frozen<ObjectOf<typeof INPUT_PIECE>>;

/** Commands for one attempt or for all. Each but `signal` may be repeated, for example after a reconnect. */
export const ATTEMPT_COMMANDS = {
  /**
   * Starts an attempt, which waits until its row has a slot. The answer is `launched` when its command
   * begins, or `ended` if it could not be started. A repeated launch is answered again and runs nothing
   * twice.
   */
  launch: { spec: launchSpec },
  /**
   * SIGTERM, then SIGKILL to the whole process tree after the grace time; with `kill`, SIGKILL at once. A
   * stopped gang is continued so that it receives the signal.
   */
  stop: {
    attempt: attemptKey,
    kill: truth,
    reason: endReason,
    /** Stops the attempt only if it has this identity. Left out: stops any attempt of that number. */
    identity: optional(identity),
  },
  /**
   * Sends a signal to a running attempt. It is sent once: a command that gets lost is not repeated.
   * Conductors of earlier versions refuse it.
   */
  signal: { attempt: attemptKey, identity: optional(identity), name: signalName, to: signalTarget },
  /**
   * The end is in the front end's store, so the conductor may forget the attempt. If there is an
   * `identity`, only if the attempt has this identity.
   */
  forget: { attempt: attemptKey, identity: optional(identity) },
  /**
   * The store does not know this attempt, and no user has decided about it yet. It keeps running next to
   * the gangs, whatever the rows are, until it ends or is stopped. The command is in force until the next
   * front end says hello and sends a matrix without repeating the command. If there is an `identity`, only
   * if the attempt has this identity.
   */
  keep: { attempt: attemptKey, identity: optional(identity) },
  /**
   * Kills all remaining attempts, removes cgroups, exits. Without `killJobs`, refused while attempts run.
   */
  shutdown: { killJobs: truth },
};
export type AttemptCommand = MessageOf<typeof ATTEMPT_COMMANDS>;

/** Reports about attempts and about the punctuality of slots. */
export type AttemptReport =
  | {
      readonly type: "launched";
      readonly attempt: AttemptKey;
      /** The identity of the launch command, if it had one. */
      readonly identity?: string;
      readonly shim: ProcessIdentity;
      readonly startedAtMs: number;
    }
  | { readonly type: "ended"; readonly end: AttemptEnd }
  | { readonly type: "slots"; readonly statistics: SlotStatistics }
  /** Every few seconds while jobs have GPUs. Front ends of earlier versions ignore it. */
  | {
      readonly type: "gpus";
      /** Left out: on this machine. */
      readonly node?: string;
      /** All GPUs that were read, and how busy they were in the last moment. */
      readonly gpus: readonly {
        readonly gpu: string;
        /** 0 … 1; left out: unknown. */
        readonly share?: number | undefined;
        readonly memoryBytes: number;
      }[];
      /** What the jobs have used so far. */
      readonly jobs: readonly (GpuUse & { readonly job: JobNumber })[];
    }
  | {
      readonly type: "refused";
      readonly message: string;
      /** Another front end owns the jobs here: its name. Protocol 3. */
      readonly heldBy?: string;
    };
