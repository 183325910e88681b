/**
 * The live state at one instant, in columns: jobs with processes, those in the queue, and those that join it
 * later. Questions about the same instant share it, since it takes longer to read than to ask.
 */
import { type JobNotes, MAX_INT32, type Workload } from "@tutti/kernel/core/jobs.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { exportedLimits } from "../book/exported-limits.ts";
import type { JobRecord } from "../contract/record.ts";
import { MEMORY, NOW_S } from "../forecast/model.ts";
import type { KnownKinds, PastJobs } from "../forecast/past-jobs.ts";
import type { JobTimes } from "../forecast/running-times.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { countHeld, demandOf, freeUnits } from "../scheduling/units.ts";

export type LiveContext = Pick<FrontEndParts, "book" | "scheduler" | "shares" | "clock" | "config">;

/** A job that is not submitted. */
export type Hypothetical = Pick<
  JobRecord,
  | "uid"
  | "user"
  | "name"
  | "tasks"
  | "threads"
  | "memoryBytes"
  | "use"
  | "estimateMs"
  | "limitMs"
  | "queue"
  | "priority"
>;

/** What of a job is in the world. */
export type WorldJob = Hypothetical & Pick<JobRecord, "job" | "array" | "queueRank">;

type Column = Float64Array | Int32Array | Uint8Array;

/** Columns of some jobs, in the order of the jobs. */
interface JobColumns {
  readonly id: Int32Array;
  readonly submitS: Float64Array;
  readonly size: Int32Array;
  readonly estimateS: Float64Array;
  readonly processes: Int32Array;
  readonly threads: Int32Array;
  readonly queue: Int32Array;
  readonly estimateMs: Float64Array;
  readonly ranMs: Float64Array;
  readonly isLimited: Uint8Array;
  readonly isThrough: Uint8Array;
}

/** Countable units that jobs of the world can get, and how many each asks for or holds. */
interface Countable {
  readonly name: string;
  readonly amount: number;
  readonly demandOf: (job: WorldJob) => number;
  readonly demand: Int32Array;
}

export class LiveState {
  /** Unix time in ms. */
  readonly atMs: number;
  readonly nowMs: number;
  /** In the order in which an adoption would take them over. */
  readonly running: readonly JobRecord[];
  /** In the order in which they are served. */
  readonly queued: readonly JobRecord[];
  /** In the order of their begin. */
  readonly later: readonly (JobRecord & { readonly notBeforeMs: number })[];
  /** All of them. */
  readonly jobs: readonly JobRecord[];
  /** The first job in the queue for which there was no place. */
  readonly beyond: JobRecord | undefined;
  /** By row, 1 if limits let the job start. */
  readonly isThrough: Uint8Array;
  readonly past: PastJobs;
  readonly #context: LiveContext;
  readonly #queueNames: readonly string[];
  readonly #columns: JobColumns;
  readonly #countable: readonly Countable[];
  readonly #notes: Notes;
  readonly #kinds: KnownKinds;
  readonly #shares: Workload["shares"];
  /** One job of each user. */
  readonly #owners: readonly WorldJob[];
  readonly #sizes = new Map<string, Int32Array>();
  #rows: ReadonlyMap<JobNumber, number> | undefined;

  /** @param most waiting jobs, the first ones */
  constructor(context: LiveContext, most: number, past: PastJobs) {
    const { book, scheduler, clock } = context;
    const nowMs = clock.nowMs();
    this.#context = context;
    this.past = past;
    this.nowMs = nowMs;
    this.atMs = clock.unixMs();
    this.running = [...book.withProcess()]
      .filter(({ job }) => !scheduler.isOutside(job))
      .sort((a, b) => scheduler.ranMs(b.job, nowMs) - scheduler.ranMs(a.job, nowMs) || a.job - b.job);
    const eligible = book.eligibleSoon().filter((record) => {
      const obstacle = scheduler.obstacle(record, nowMs);
      return obstacle === undefined || obstacle.kind === "window";
    });
    this.queued = eligible.slice(0, most);
    this.beyond = eligible[most];
    this.later = [...book.delayed()]
      .sort((a, b) => a.notBeforeMs - b.notBeforeMs || a.job - b.job)
      .slice(0, most - this.queued.length);
    this.jobs = [...this.running, ...this.queued, ...this.later];
    this.#queueNames = scheduler.options.queueClasses.map(({ name }) => name);
    this.#columns = this.#submittedColumns();
    this.isThrough = this.#columns.isThrough;
    this.#countable = this.#resources();
    this.#notes = new Notes(this.jobs);
    this.#kinds = past.kindsOf(this.jobs);
    this.#shares = context.shares.now();
    this.#owners = [...new Map(this.jobs.map((job) => [`${job.uid} ${job.user}`, job])).values()];
  }

  /** Row of a submitted job. */
  rowOf(job: JobNumber): number | undefined {
    this.#rows ??= new Map(this.jobs.map((record, row) => [record.job, row]));
    return this.#rows.get(job);
  }

  /** Processors that each job gets under a policy, which `sizeOf` tells for its label. */
  sizes(label: string, sizeOf: (job: JobRecord, row: number) => number): Int32Array {
    const known = this.#sizes.get(label) ?? column(new Int32Array(this.jobs.length), this.jobs, sizeOf);
    this.#sizes.set(label, known);
    return known;
  }

  /**
   * The state as a workload, without windows, with further jobs that arrive now; and what is known of how
   * long the jobs take.
   */
  with(more: readonly WorldJob[]): { readonly workload: Workload; readonly times: JobTimes } {
    const { book, scheduler } = this.#context;
    const all = joinedColumns(this.#columns, this.#columnsOf(more));
    const { id, submitS, size, estimateS, processes, threads, queue, isThrough } = all;
    const { estimateMs, ranMs, isLimited } = all;
    const { kind, kin } = this.past.kindsOf(more, this.#kinds);
    const limits = exportedLimits(book.limits, [...this.#owners, ...more], this.#queueNames);
    const countable = this.#countable.map((one) => {
      const demand = joined(one.demand, column(new Int32Array(more.length), more, one.demandOf));
      return { ...one, demand };
    });
    const needed = countable.filter(({ demand }) => demand.some((amount) => amount > 0));
    return {
      workload: {
        name: "live state",
        count: id.length,
        processors: scheduler.machine.places,
        jobs: { id, submitS, runS: new Float64Array(id.length), size, estimateS },
        shape: { processes, threads, queue },
        resources: needed.map(({ name, amount }) => ({ name, amount })),
        demand: needed.map(({ name, demand }) => ({ kind: name, amount: demand })),
        shares: this.#shares,
        limits: limits && { ...limits, isThrough },
        notes: this.#notes.with(more),
        trace: undefined,
        header: [],
        diagnostics: [],
      },
      times: {
        running: this.running.length,
        ...{ estimateMs, ranMs, isLimited, kin },
        kind: joined(this.#kinds.kind, kind),
        history: this.past.history,
      },
    };
  }

  #submittedColumns(): JobColumns {
    const { book, scheduler } = this.#context;
    const { running, jobs, nowMs } = this;
    const columns = this.#columnsOf(jobs);
    const { submitS, estimateMs, ranMs, isLimited, isThrough } = columns;
    submitS.fill(0, 0, running.length);
    running.forEach((record, row) => {
      if (record.state === "paused") estimateMs[row] = scheduler.jobs.estimateMs(record, nowMs);
      ranMs[row] = scheduler.ranMs(record.job, nowMs);
      isLimited[row] = record.limitMs === undefined ? 0 : 1;
    });
    const firstLater = running.length + this.queued.length;
    this.later.forEach(({ notBeforeMs }, i) => {
      submitS[firstLater + i] += Math.max(0, notBeforeMs - this.atMs) / 1000;
    });
    jobs.forEach((record, row) => {
      isThrough[row] = row < running.length || book.limits.isThrough(record) ? 1 : 0;
    });
    return columns;
  }

  /** Of jobs that arrive now, and that limits do not let start. */
  #columnsOf(jobs: readonly WorldJob[]): JobColumns {
    const { length } = jobs;
    const numbers = (of: (job: WorldJob) => number) => column(new Int32Array(length), jobs, of);
    const times = (of: (job: WorldJob) => number) => column(new Float64Array(length), jobs, of);
    return {
      id: numbers(({ job }) => job),
      submitS: new Float64Array(length).fill(NOW_S),
      size: numbers(processorsOf),
      estimateS: times(({ estimateMs }) => estimateMs / 1000),
      processes: numbers(({ tasks }) => tasks),
      threads: numbers(({ threads = 1 }) => threads),
      queue: numbers(({ queue }) => this.#queueNames.indexOf(queue)),
      estimateMs: times(({ estimateMs }) => estimateMs),
      ranMs: new Float64Array(length),
      isLimited: new Uint8Array(length),
      isThrough: new Uint8Array(length),
    };
  }

  /** Units of countable resources, and memory. */
  #resources(): Countable[] {
    const { scheduler, book } = this.#context;
    const { counted, memoryBytes } = scheduler.machine;
    const { held } = countHeld(this.running, counted);
    // Paused jobs that the policy does not know keep what they hold.
    const outside = [...book.withProcess()].filter(({ job }) => !held.has(job));
    const countable = (name: string, amount: number, demandOf: Countable["demandOf"]): Countable => ({
      name,
      amount,
      demandOf,
      demand: column(new Int32Array(this.jobs.length), this.jobs, demandOf),
    });
    const all = counted.map((kind, k) =>
      countable(
        kind.name,
        freeUnits(kind, outside).length,
        (job) => (held.get(job.job) ?? demandOf(job, counted))[k],
      ),
    );
    const freeBytes = memoryBytes - outside.reduce((sum, job) => sum + (job.memoryBytes ?? 0), 0);
    if (!Number.isFinite(freeBytes)) return all;
    const unitBytes = Math.max(1, Math.ceil(freeBytes / MAX_INT32));
    const units = ({ memoryBytes = 0 }: WorldJob) => Math.ceil(memoryBytes / unitBytes);
    return [...all, countable(MEMORY, Math.max(0, Math.floor(freeBytes / unitBytes)), units)];
  }
}

/** Jobs that have the same share one object: the world is copied to another thread. */
class Notes {
  readonly #known = new Map<string, JobNotes>();
  readonly #ofJobs: readonly JobNotes[];

  constructor(jobs: readonly WorldJob[]) {
    this.#ofJobs = jobs.map((job) => this.#of(job));
  }

  with(more: readonly WorldJob[]): JobNotes[] {
    return [...this.#ofJobs, ...more.map((job) => this.#of(job))];
  }

  #of({ user, queue, limitMs }: WorldJob): JobNotes {
    const key = `${limitMs} ${queue} ${user}`;
    let notes = this.#known.get(key);
    if (notes === undefined) {
      notes = { user, queue, limitS: limitMs === undefined ? undefined : limitMs / 1000 };
      this.#known.set(key, notes);
    }
    return notes;
  }
}

/** Fills a column. With a loop, since `from` calls an iterator for each of ten thousand jobs. */
function column<Values extends Column, Job>(
  values: Values,
  jobs: readonly Job[],
  of: (job: Job, row: number) => number,
): Values {
  for (let row = 0; row < jobs.length; row++) values[row] = of(jobs[row], row);
  return values;
}

/** @returns the first column itself if there is no more */
export function joined<Values extends Column>(first: Values, more: Values): Values {
  if (more.length === 0) return first;
  const all = new (first.constructor as new (length: number) => Values)(first.length + more.length);
  all.set(first);
  all.set(more, first.length);
  return all;
}

function joinedColumns(first: JobColumns, more: JobColumns): JobColumns {
  const all = Object.entries(first).map(([name, values]) => [
    name,
    joined<Column>(values, more[name as keyof JobColumns]),
  ]);
  return Object.fromEntries(all);
}
