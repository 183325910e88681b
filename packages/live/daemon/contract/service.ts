/**
 * Defines the interface of the front end. The API is a thin layer over it, and tests call it directly.
 * Arguments have already been checked against protocol/schema.ts. A refusal is a value with a reason, never
 * an exception. When a submit is answered, its jobs are on disk.
 */

import type { NumberRange } from "@tutti/kernel/core/number-ranges.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import type { Filters } from "@tutti/protocol/job-fields.ts";
import type { Answer } from "@tutti/protocol/refusal.ts";
import type {
  AllocationsAnswer,
  DrainAnswer,
  DrainBody,
  DryRunAnswer,
  InputBody,
  InputTakenAnswer,
  Job,
  JobsAnswer,
  MatrixAnswer,
  OffAnswer,
  OffBody,
  PolicyAnswer,
  QueuesAnswer,
  SharesAnswer,
  ShutdownAnswer,
  SignalBody,
  StatusAnswer,
  Stray,
  SubmitJob,
  TimelineAnswer,
  UpdateBody,
  UsageAnswer,
  WhatIfAnswer,
  WhatIfBody,
  WhyAnswer,
  WindowAnswer,
  WindowBody,
  WindowsAnswer,
} from "@tutti/protocol/schema.ts";
import type { JobState } from "@tutti/protocol/states.ts";

/**
 * The user who sends a request. Administrators (root, or the user who started a private front end) can see
 * and change all jobs.
 */
export interface Caller {
  readonly uid: number;
  readonly user: string;
  readonly isAdministrator: boolean;
}

/** Selects jobs that meet all these conditions. */
export interface JobQuery extends Filters {
  readonly states?: readonly JobState[];
  /** In ascending order, without overlaps. */
  readonly numbers?: readonly NumberRange[];
  /** Only jobs with greater numbers. */
  readonly after?: JobNumber;
  /** Maximum number of jobs; the end of the list says whether there are more. */
  readonly most?: number;
  /** Only the newest jobs in these states, up to this number. */
  readonly last?: number;
  /** Of the ended jobs, only the newest, up to this number. */
  readonly lastEnded?: number;
}

/** Returned at the end of a list: whether there are more jobs, and which requested numbers are missing. */
export type ListEnd = Pick<JobsAnswer, "next" | "missing">;

/** A change to apply to each of many jobs. */
export type Change =
  | { readonly action: "cancel" | "hold" | "release" | "resume" }
  /** `hold`: it waits until it is released. */
  | { readonly action: "requeue"; readonly hold?: boolean | undefined }
  /** `release`: under space sharing, other jobs may use its CPUs until it is resumed. */
  | { readonly action: "pause"; readonly release?: boolean | undefined }
  | { readonly action: "signal"; readonly signal: SignalBody }
  | { readonly action: "priority"; readonly priority: number }
  | { readonly action: "update"; readonly update: UpdateBody };

/** An answer of the API without the name of its schema. */
type Content<ApiAnswer> = Omit<ApiAnswer, "schema">;
export type Why = Content<WhyAnswer>;
export type DryRun = Content<DryRunAnswer>;
export type WhatIf = WhatIfAnswer["policies"][number];
export type Timeline = Content<TimelineAnswer>;
/** What would be different. */
export interface WhatIfQuestion extends Omit<WhatIfBody, "policies"> {
  /** Default: the current one. */
  readonly policy?: string | undefined;
}
/** Unix times in ms. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}
export interface UsageQuestion {
  /** What has a row of its own; neither: one row for all. */
  readonly by: { readonly user: boolean; readonly queue: boolean };
  /** Unix times in ms, of the ends of jobs; `toMs` left out: now. */
  readonly fromMs: number;
  readonly toMs?: number | undefined;
}
export type Matrix = Omit<MatrixAnswer, "schema" | "nowMs">;
export type Status = Omit<
  StatusAnswer,
  "schema" | "version" | "user" | "isAdministrator" | "http" | "strays" | "web"
>;

/** Sums since the front end started. Durations are in ms. */
export interface Totals {
  /** Jobs that ended. */
  readonly ended: Readonly<Record<"done" | "failed" | "cancelled", number>>;
  /** First starts of jobs. */
  readonly starts: number;
  /** Sum over them: from the submit, or the requested begin if that was later. */
  readonly waitMs: number;
  /** Running time of ended attempts. */
  readonly ranMs: number;
  /** CPU time of ended attempts, where it is counted. */
  readonly cpuMs: number;
  /** Time in which their GPUs were busy, where it is measured. */
  readonly gpuMs: number;
}

export interface Service {
  readonly totals: Totals;
  /**
   * Accepts either all jobs or none; resolves when the accepted jobs are on disk.
   * @param key makes a repeated submit harmless: the same key of the same user returns the same jobs
   */
  submit(
    caller: Caller,
    jobs: readonly SubmitJob[],
    key?: string,
  ): Promise<Answer<{ readonly jobs: readonly Job[] }>>;
  /**
   * Runs ended jobs again, as new jobs of the same users: either all or none. Resolves when they are on disk.
   * @param key as for `submit`
   */
  rerun(
    caller: Caller,
    jobs: readonly JobNumber[],
    key?: string,
  ): Promise<Answer<{ readonly jobs: readonly Job[] }>>;
  /** What a submit would answer, with a forecast of the first job. Submits nothing. */
  dryRun(caller: Caller, jobs: readonly SubmitJob[]): Promise<Answer<DryRun>>;
  /** The jobs by number, in pages that take a few ms each. Jobs may come, change and go between two pages. */
  list(caller: Caller, query: JobQuery): Generator<readonly Job[], ListEnd, void>;
  /** The numbers of the jobs that `list` would return, in steps of a few ms. */
  numbers(
    caller: Caller,
    query: Pick<JobQuery, "states" | "numbers">,
  ): Generator<undefined, readonly JobNumber[], void>;
  job(caller: Caller, job: JobNumber): Answer<Job>;
  /** Id of the job's user, who owns everything that the job has written. */
  ownerOf(caller: Caller, job: JobNumber): Answer<number>;
  /** Jobs run on other nodes, so that what they read is sent there. */
  readonly sendsInput: boolean;
  /** Sends a piece of what a job reads. Resolves when it was taken, or after some seconds. */
  sendInput(caller: Caller, job: JobNumber, piece: InputBody): Promise<Answer<Content<InputTakenAnswer>>>;
  /** Changes or refuses each job independently, in the given order and in one cycle. */
  change(caller: Caller, change: Change, jobs: readonly JobNumber[]): Promise<Answer<readonly Answer<Job>[]>>;
  why(caller: Caller, job: JobNumber): Promise<Answer<Why>>;
  matrix(): Matrix;
  policy(): Content<PolicyAnswer>;
  /** Takes effect while jobs run. */
  setPolicy(caller: Caller, text: string): Promise<Answer<{ readonly policy: string }>>;
  /** Forecasts for the caller's jobs, and who gains and loses. Simulates, so users should take turns. */
  whatIf(caller: Caller, question: WhatIfQuestion): Promise<Answer<WhatIf>>;
  /**
   * What ran, runs and is expected in a stretch of time. Makes forecasts, unless there are some of the last
   * seconds, and then returns steps of a few ms, the last of which returns the answer.
   */
  timeline(caller: Caller, span: TimeSpan): Promise<Answer<Generator<undefined, Timeline, void>>>;
  /** Sums over the caller's ended jobs; for administrators, over all. In steps of a few ms. */
  /** Of others than the caller, administrators see everything, and users nothing but their own rank. */
  shares(caller: Caller): Content<SharesAnswer>;
  usage(caller: Caller, question: UsageQuestion): Generator<undefined, Content<UsageAnswer>, void>;
  /** The queues; for a caller, with the limits on their jobs. */
  queues(caller?: Caller): Content<QueuesAnswer>;
  /** Ended and running jobs as SWF text, in pieces that take a few ms each. */
  exportSwf(caller: Caller): Generator<string, void, void>;
  /** The jobs and events as a workload file, in pieces. */
  exportJsonl(caller: Caller): Generator<string, void, void>;
  /** The strays that the caller may end with `cancel`. */
  strays(caller: Caller): readonly Stray[];
  /** Sequence number of the last event of all users; 0 if there is none. */
  latestEvent(): number;
  /**
   * Calls the listener for each event after `since` that the caller may see, until it returns false. Returns
   * a function that stops it.
   */
  listen(caller: Caller, since: number, listener: (event: DaemonEvent) => unknown): () => void;
  /**
   * Counts all jobs that have not ended. Among ended jobs, counts only the caller's own, except for
   * administrators; so does the time since which ended jobs are kept.
   */
  status(caller: Caller): Status;
  /** From now on nothing starts, also after a restart of the front end; undefined undoes it. */
  setDrain(caller: Caller, drain: DrainBody | undefined): Promise<Answer<Content<DrainAnswer>>>;
  /** Keeps the machine for some jobs, or for none, for a time; also over restarts of the front end. */
  reserve(caller: Caller, window: WindowBody): Promise<Answer<Content<WindowAnswer>>>;
  unreserve(caller: Caller, name: string): Promise<Answer<Content<WindowAnswer>>>;
  windows(): WindowsAnswer["windows"];
  /**
   * Ends the conductors; refused while jobs run, unless `killJobs`. Afterwards, the owner of the front end
   * ends it, too (`drained`). With `keepAllocation`, only the front end ends, and jobs continue.
   */
  shutdown(
    caller: Caller,
    killJobs: boolean,
    keepAllocation?: boolean,
  ): Promise<Answer<Content<ShutdownAnswer>>>;
  /** Nodes that the scheduler has for a while. Refused if its nodes neither come nor go. */
  allocations(): Answer<Content<AllocationsAnswer>>;
  /** Asks for nodes again, after an allocation was cancelled or all have ended. */
  startAllocation(caller: Caller): Answer<Content<AllocationsAnswer>>;
  /** Ends the attempts on lost nodes as lost: the caller knows that nothing runs there. */
  sayOff(caller: Caller, body: OffBody): Answer<Content<OffAnswer>>;
}
