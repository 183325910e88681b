/**
 * What the front end offers to whoever talks to it: the API is a thin layer over this, and tests call it directly. What is asked has
 * been checked against protocol/schema.ts. A request is refused by a value with a reason, never by a crash; a submit that has been
 * answered is on disk.
 */
import type { NumberRange } from "../../core/number-ranges.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import type { DaemonEvent } from "../../protocol/events.ts";
import type { Answer } from "../../protocol/refusal.ts";
import type {
  Job,
  JobsAnswer,
  MatrixAnswer,
  PolicyAnswer,
  QueuesAnswer,
  ShutdownAnswer,
  StatusAnswer,
  Stray,
  SubmitJob,
  WhatIfAnswer,
  WhyAnswer,
} from "../../protocol/schema.ts";
import type { JobState } from "../../protocol/states.ts";

/** Who asks. An administrator (root, or the user who started an ordinary user's front end) sees and may touch all jobs. */
export interface Caller {
  readonly uid: number;
  readonly user: string;
  readonly isAdministrator: boolean;
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

/** What is to be said when a list is at its end: whether there are more, and which of the numbers asked for are missing. */
export type ListEnd = Pick<JobsAnswer, "next" | "missing">;

/** Something to do with each of many jobs. */
export type Change =
  | { readonly action: "cancel" | "hold" | "release" | "requeue" }
  | { readonly action: "priority"; readonly priority: number };

/** An answer of the API without the name of its schema. */
type Content<ApiAnswer> = Omit<ApiAnswer, "schema">;
export type Why = Content<WhyAnswer>;
export type Matrix = Omit<MatrixAnswer, "schema" | "nowMs">;
export type Status = Omit<
  StatusAnswer,
  "schema" | "version" | "user" | "isAdministrator" | "http" | "strays"
>;

export interface Service {
  /**
   * All or none of the jobs; resolves when they are on disk.
   * @param key makes a repeated submit harmless: the same key of the same user gives the same jobs
   */
  submit(
    caller: Caller,
    jobs: readonly SubmitJob[],
    key?: string,
  ): Promise<Answer<{ readonly jobs: readonly Job[] }>>;
  /** The jobs by number, in pages of a few ms each; jobs may come, change and go between two of them. */
  list(caller: Caller, query: JobQuery): Generator<readonly Job[], ListEnd, void>;
  /** The numbers of the jobs that `list` would give, in steps of a few ms. */
  numbers(
    caller: Caller,
    query: Pick<JobQuery, "states" | "numbers">,
  ): Generator<undefined, readonly JobNumber[], void>;
  job(caller: Caller, job: JobNumber): Answer<Job>;
  /** Number of the job's user, to whom all belongs that the job has written. */
  ownerOf(caller: Caller, job: JobNumber): Answer<number>;
  /** Changes each of the jobs, or refuses it, by itself, in the order given; all of it is one cycle. */
  change(caller: Caller, change: Change, jobs: readonly JobNumber[]): Promise<Answer<readonly Answer<Job>[]>>;
  why(caller: Caller, job: JobNumber): Promise<Answer<Why>>;
  matrix(): Matrix;
  policy(): Content<PolicyAnswer>;
  /** Takes effect while jobs run. */
  setPolicy(caller: Caller, text: string): Promise<Answer<{ readonly policy: string }>>;
  /** Predicted starts of the caller's waiting jobs under a policy. */
  whatIf(caller: Caller, policy: string): Promise<Answer<WhatIfAnswer["policies"][number]>>;
  queues(): QueuesAnswer["queues"];
  /** Ended jobs and those that run, as SWF text, in pieces of a few ms each. */
  exportSwf(caller: Caller): Generator<string, void, void>;
  /** Those that the caller may end with `cancel`; the others are not told. */
  strays(caller: Caller): readonly Stray[];
  /** Calls the listener for each event after `since` that the caller may see, until it says false; returns how to stop. */
  listen(caller: Caller, since: number, listener: (event: DaemonEvent) => unknown): () => void;
  /** Numbers of all jobs; of those that have ended, and what is forgotten, only the caller's own, but for administrators. */
  status(caller: Caller): Status;
  /** Ends the conductor; refused while jobs run, unless they are to be ended with it. Whoever made the front end then ends it too. */
  shutdown(caller: Caller, killJobs: boolean): Promise<Answer<Content<ShutdownAnswer>>>;
}
