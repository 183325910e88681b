/**
 * What the front end offers to whoever talks to it: the API is a thin layer over this, and tests call it directly. A
 * request is refused by a value with a reason, never by a crash; a submit that has been answered is on disk.
 */
import type { NumberRange } from "../core/number-ranges.ts";
import type { JobNumber } from "../protocol/attempts.ts";

/** Who asks. An administrator (root, or the user who started an ordinary user's front end) sees and may touch all jobs. */
export interface Caller {
  readonly uid: number;
  readonly user: string;
  readonly isAdministrator: boolean;
}

export type JobState =
  | "queued"
  | "held"
  | "starting"
  | "running"
  | "ending"
  | "done"
  | "failed"
  | "cancelled";

export interface SubmitRequest {
  readonly command: readonly string[];
  /** A script that is kept as it is now; the job gets the path of the copy in place of this word of the command. */
  readonly script?: { readonly base64: string; readonly word: number };
  /** Processes, each on a CPU of its own; 1 when left out. */
  readonly tasks?: number;
  readonly name?: string;
  readonly queue?: string;
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Limit on running time in ms; also the estimate that policies see. */
  readonly limitMs?: number;
  readonly memoryBytes?: number;
  /** Absolute or relative to cwd; %j job, %a array index, %x name. Default: files in the job's folder. */
  readonly stdout?: string;
  readonly stderr?: string;
  /** Jobs that must have ended before; with `ok` only if they ended well, else the job is cancelled. */
  readonly after?: readonly { readonly job: JobNumber; readonly ok: boolean }[];
  /** Index of the job in its array, given as TUTTI_ARRAY_INDEX. An array is submitted as one request per index in one batch. */
  readonly arrayIndex?: number;
  /** At most so many jobs of its array are started and not ended at a time; the same in all of them. */
  readonly arrayAtOnce?: number;
  /** Higher is served first among equals of the policy's order; −100 … 100, only administrators above 0. */
  readonly priority?: number;
  readonly held?: boolean;
  /** How often the job may be started anew after it was lost or asked to be requeued; default 0. */
  readonly retries?: number;
  /** File mode creation mask in octal digits, such as 027; 077 when left out. */
  readonly umask?: string;
  /** Makes a repeated submit harmless: the same key of the same user gives the same jobs. */
  readonly key?: string;
}

export interface JobInfo {
  readonly job: JobNumber;
  /** Number of the first job of the array, when it belongs to one. */
  readonly array?: JobNumber;
  readonly arrayIndex?: number;
  readonly name: string;
  readonly user: string;
  readonly queue: string;
  readonly state: JobState;
  readonly tasks: number;
  readonly priority: number;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly limitMs?: number;
  readonly memoryBytes?: number;
  readonly attempt: number;
  readonly submittedAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** Running time so far in ms, stopped time not counted. */
  readonly ranMs: number;
  readonly code?: number;
  readonly signal?: string;
  /** Why it ended as it did, or why it waits, in a few words. */
  readonly reason?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly cpus: readonly number[];
  readonly after: readonly JobNumber[];
}

/** Reason for which a request is refused. */
export type RefusalCode =
  | "not-found"
  | "not-yours"
  | "invalid"
  | "wrong-state"
  | "too-large"
  | "full"
  | "unavailable";

export interface Refusal {
  readonly refused: RefusalCode;
  /** What, why, and what to do next, for people. */
  readonly message: string;
}

export type Answer<T> = T | Refusal;

export interface MatrixInfo {
  readonly sequence: number;
  readonly policy: string;
  readonly sharing: "space" | "time";
  readonly slotMs: number;
  readonly mode: "gang" | "concurrent";
  readonly cpus: readonly number[];
  /** Monotonic ms at which slot 0 began, so that a client can tell which row runs. */
  readonly epochMs: number;
  /** Slot k belongs to row (k − fromSlot) mod rows; left out: 0. */
  readonly fromSlot?: number;
  readonly rows: readonly (readonly {
    readonly job: JobNumber;
    readonly name: string;
    readonly cpus: readonly number[];
  }[])[];
}

/** Why a job waits, as data; the command line and the dashboard put it in words. */
export interface WhyInfo {
  readonly job: JobNumber;
  readonly state: JobState;
  readonly waitedMs: number;
  readonly tasks: number;
  readonly freeCpus: number;
  readonly queuedBefore: number;
  readonly obstacles: readonly (
    | { readonly kind: "held" }
    | { readonly kind: "dependency"; readonly jobs: readonly JobNumber[] }
    | { readonly kind: "array"; readonly array: JobNumber; readonly atOnce: number }
    | {
        readonly kind: "cpus";
        readonly needed: number;
        readonly free: number;
        readonly rows: number;
        readonly mostRows: number;
      }
    | { readonly kind: "memory"; readonly neededBytes: number; readonly freeBytes: number }
    | { readonly kind: "order"; readonly behind: readonly JobNumber[] }
    | { readonly kind: "reservation"; readonly holder: JobNumber; readonly startAtMs: number }
    | { readonly kind: "conductor"; readonly message: string }
  )[];
  /** How its queue was chosen, in words. */
  readonly queueReason?: string;
  /** Forecast of the start as Unix time in ms; undefined when none could be made. */
  readonly forecast?: {
    readonly p10Ms: number;
    readonly p50Ms: number;
    readonly p90Ms: number;
    readonly pastErrorP50Ms?: number;
  };
}

/** How far the forecasts of the last jobs to start were off. */
export interface ForecastRecord {
  readonly jobs: number;
  /** Of the absolute difference between the start and the median forecast. */
  readonly errorP50Ms: number;
  readonly errorP90Ms: number;
  /** Share of the jobs that started between p10 and p90 of their forecast. */
  readonly withinShare: number;
}

export interface DaemonEvent {
  /** Given without gaps; a client asks for what came after the last one it saw. In what is kept there are gaps where old ones are forgotten. */
  readonly sequence: number;
  readonly atMs: number;
  readonly kind:
    | "submitted"
    | "held"
    | "released"
    | "placed"
    | "removed"
    | "starting"
    | "started"
    | "ended"
    | "requeued"
    | "cancelled"
    | "policy"
    | "matrix"
    | "conductor"
    | "priority"
    | "recovered";
  readonly job?: JobNumber;
  readonly user?: string;
  /** Small, flat, JSON. */
  readonly data?: Readonly<Record<string, string | number | boolean | null>>;
}

/** An attempt that the conductor runs and the store does not know: the store is older than it. */
export interface StrayInfo {
  readonly job: JobNumber;
  readonly attempt: number;
  readonly uid: number;
  readonly user: string;
  /** stopped: a conductor of the first release has it, and lets nothing run that is in no row. */
  readonly state: "running" | "ending" | "stopped";
  readonly command: readonly string[];
  readonly cwd: string;
  readonly folder: string;
  readonly startedAtMs?: number;
  readonly ranMs: number;
}

/** Which jobs are meant: all of these must hold. */
export interface JobQuery {
  readonly states?: readonly JobState[];
  /** Rising, and none overlaps another. */
  readonly numbers?: readonly NumberRange[];
  /** With `*` for anything. */
  readonly name?: string;
  readonly queue?: string;
  readonly user?: string;
  /** Only jobs of greater numbers. */
  readonly after?: JobNumber;
  /** So many jobs; the end says whether there are more. */
  readonly most?: number;
  /** Of the jobs in these states so many, the newest. */
  readonly last?: number;
  /** Of those that have ended so many, the newest. */
  readonly lastEnded?: number;
}

/** Numbers of which no job is kept, whoever had them. */
export interface MissingJobs extends NumberRange {
  readonly because: "forgotten" | "not given";
}

/** What is to be said when a list is at its end. */
export interface ListEnd {
  /** There are more jobs: those after this number. */
  readonly next?: JobNumber;
  /** When numbers were asked for: those up to `next` that are missing, rising. */
  readonly missing?: readonly MissingJobs[];
}

/** Something to do with each of many jobs. */
export type Change =
  | { readonly action: "cancel" | "hold" | "release" | "requeue" }
  | { readonly action: "priority"; readonly priority: number };

export interface Service {
  /** All or none of the batch; resolves when it is on disk. */
  submit(
    caller: Caller,
    batch: readonly SubmitRequest[],
  ): Promise<Answer<{ readonly jobs: readonly JobInfo[] }>>;
  /** The jobs by number, in pages of a few ms each; jobs may come, change and go between two of them. */
  list(caller: Caller, query: JobQuery): Generator<readonly JobInfo[], ListEnd, void>;
  /** The numbers of the jobs that `list` would give, in steps of a few ms. */
  numbers(
    caller: Caller,
    query: Pick<JobQuery, "states" | "numbers">,
  ): Generator<undefined, readonly JobNumber[], void>;
  job(caller: Caller, job: JobNumber): Answer<JobInfo>;
  /** Number of the job's user, to whom all belongs that the job has written. */
  ownerOf(caller: Caller, job: JobNumber): Answer<number>;
  cancel(caller: Caller, job: JobNumber): Promise<Answer<JobInfo>>;
  hold(caller: Caller, job: JobNumber): Promise<Answer<JobInfo>>;
  release(caller: Caller, job: JobNumber): Promise<Answer<JobInfo>>;
  requeue(caller: Caller, job: JobNumber): Promise<Answer<JobInfo>>;
  setPriority(caller: Caller, job: JobNumber, priority: number): Promise<Answer<JobInfo>>;
  /** Changes each of the jobs, or refuses it, by itself, in the order given; all of it is one turn. */
  change(
    caller: Caller,
    change: Change,
    jobs: readonly JobNumber[],
  ): Promise<Answer<readonly Answer<JobInfo>[]>>;
  why(caller: Caller, job: JobNumber): Promise<Answer<WhyInfo>>;
  matrix(): MatrixInfo;
  policy(): {
    readonly policy: string;
    /** Those in force, the policy's own first. */
    readonly rules: readonly string[];
    readonly ownRules: number;
    readonly mostRows: number;
  };
  /** Takes effect while jobs run. */
  setPolicy(caller: Caller, text: string): Promise<Answer<{ readonly policy: string }>>;
  queues(): readonly {
    readonly name: string;
    readonly queued: number;
    readonly running: number;
    readonly mostCpus: number;
    readonly limitMs?: number;
  }[];
  /** Ended jobs and those that run, as SWF text, in pieces of a few ms each. */
  exportSwf(caller: Caller): Generator<string, void, void>;
  /** Those that the caller may end with `cancel`; the others are not told. */
  strays(caller: Caller): readonly StrayInfo[];
  /** Calls the listener for each event after `since` that the caller may see, until it says false; returns how to stop. */
  listen(caller: Caller, since: number, listener: (event: DaemonEvent) => unknown): () => void;
  /** Numbers of all jobs; of those that have ended, and what is forgotten, only the caller's own, but for administrators. */
  status(caller: Caller): {
    readonly startedAtMs: number;
    readonly cpus: number;
    readonly busyCpus: number;
    readonly counts: Readonly<Record<JobState, number>>;
    readonly conductor: {
      readonly connected: boolean;
      /** Set when it has not answered for longer than it should take. */
      readonly silentMs?: number;
      readonly pid?: number;
      readonly freezer?: string;
      readonly lateP99Ms?: number;
    };
    /** What keeps the front end from working, such as a full disk. */
    readonly trouble?: string;
    /** Left out: no forecast could be judged yet. */
    readonly forecasts?: ForecastRecord;
    /** Jobs of the caller's that ended before may be forgotten; left out: none is. */
    readonly keptSinceMs?: number;
    readonly residentBytes: number;
  };
}
