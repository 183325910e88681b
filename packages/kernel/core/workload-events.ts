/**
 * Defines what a workload file (workload/traces/jsonl.ts) records and what `tutti export` writes: jobs, and
 * what can happen to them and to the machine besides submits and ends. Jobs are given by their numbers.
 */
interface At {
  /** Seconds since the start of the log. */
  readonly atS: number;
}

/** The values of a job that may change while it waits; those that are left out stay as they are. */
export interface JobEdit {
  readonly tasks?: number;
  readonly threads?: number;
  readonly limitS?: number;
  readonly beginS?: number;
  readonly priority?: number;
  readonly memoryBytes?: number;
  readonly name?: string;
  readonly queue?: string;
  readonly use?: Readonly<Record<string, number>>;
}

/**
 * A job, or one of its attempts, with the values that it had when it joined the queue; the file keeps its
 * events. Times are in seconds since the start of the log.
 */
export interface WorkloadJob extends JobEdit {
  readonly job: number;
  readonly submitS: number;
  /** Left out: it has not ended, or never ran. */
  readonly runS?: number;
  /** The running time that policies see of a job without a limit. */
  readonly estimateS?: number;
  readonly user?: string;
  readonly state?: string;
  readonly startS?: number;
  readonly endS?: number;
  readonly after?: readonly { readonly job: number }[];
  readonly retries?: number;
  readonly retryOn?: readonly string[];
  readonly array?: number;
  readonly arrayIndex?: number;
  readonly attempt?: number;
  readonly code?: number;
  readonly signal?: string;
}

export type WorkloadEvent =
  /** A running job is stopped. With `release`, its processors are free for other jobs meanwhile. */
  | (At & { readonly event: "pause"; readonly job: number; readonly release?: boolean })
  | (At & { readonly event: "resume"; readonly job: number })
  /** From now on nothing starts; running jobs continue. */
  | (At & { readonly event: "drain" })
  | (At & { readonly event: "undrain" })
  /**
   * Announced at `atS`: from `fromS` to `untilS`, the whole machine is for jobs of these users and in these
   * queues, or for none, and other jobs start before it only if they end in time by their limits. With fewer
   * processors than the machine has, these are away for all jobs.
   */
  | (At & {
      readonly event: "window";
      readonly fromS: number;
      readonly untilS: number;
      /** Default: all. */
      readonly processors?: number;
      /** The first of them; default: those with the highest numbers that no other window takes. */
      readonly first?: number;
      readonly name?: string;
      readonly users?: readonly string[];
      readonly queues?: readonly string[];
    })
  /** The window of this name ends, or does not begin. */
  | (At & { readonly event: "unreserve"; readonly name: string })
  | (At & { readonly event: "policy"; readonly policy: string })
  /** The machine has this many processors from now on. */
  | (At & { readonly event: "capacity"; readonly processors: number })
  /** A waiting job is changed: it leaves the queue and arrives again with the new values. */
  | (At & { readonly event: "edit"; readonly job: number; readonly set: JobEdit })
  /** A waiting job may not start until it is released. */
  | (At & { readonly event: "hold"; readonly job: number })
  | (At & { readonly event: "release"; readonly job: number })
  /** A waiting job is cancelled. */
  | (At & { readonly event: "cancel"; readonly job: number });
