/**
 * Defines the interface of drivers, which run a policy in real time: live-pool.ts for space sharing,
 * live-rounds.ts for time sharing. A driver holds a table of live jobs and the policy made for it. It queues
 * events until the next decision and passes them on in the order that core/policy.ts defines. Some policies
 * can withdraw a job that they know; for other policies, the owner builds a new driver (adoption.ts).
 */
import { UNKNOWN } from "@tutti/kernel/core/jobs.ts";
import type { StartRule } from "@tutti/kernel/core/policy.ts";
import { JobTable } from "@tutti/kernel/machines/job-table.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { processesOf } from "@tutti/protocol/job-size.ts";
import type { JobRecord } from "../contract/record.ts";

/** A job as drivers and policies see it. Times in monotonic ms. */
export interface LiveJob extends Pick<JobRecord, "job" | "estimateMs" | "memoryBytes"> {
  /** Processors. */
  readonly size: number;
  readonly submitMs: number;
  /** Index of its queue in the list of queue classes, or UNKNOWN. */
  readonly queueClass: number;
  /** User ID of its owner. */
  readonly user?: number | undefined;
  /** Name of its owner. */
  readonly owner?: string | undefined;
  /** CPUs of each task; undefined: 1. */
  readonly threads?: number | undefined;
  /** Units of each kind that it needs, or that it holds. Left out: none. */
  readonly demand?: readonly number[] | undefined;
}

/** A job that has a process when a driver is made: it runs, or it is stopped until it is placed again. */
export interface RunningJob extends LiveJob {
  /** Running time so far. */
  readonly ranMs: number;
  /** It stands still, and so does its running time. */
  readonly isPaused: boolean;
  /** Its processors (indices into the list of CPUs), ascending. */
  readonly processors: readonly number[];
}

/** A job that got processors in a decision. */
export interface Start {
  readonly job: JobNumber;
  readonly rule: StartRule;
  readonly processors: readonly number[];
}

/** A change of the matrix other than a start. */
export interface PlacementChange {
  readonly kind: "placed" | "removed";
  readonly job: JobNumber;
  /** Number of the row while it exists. */
  readonly row: number;
}

export interface Decision {
  readonly starts: readonly Start[];
  readonly notes: readonly PlacementChange[];
}

/** A gang in a row, with its processors (indices into the list of CPUs). */
export interface Placement {
  readonly job: JobNumber;
  readonly processors: readonly number[];
}

export type MatrixRows = readonly (readonly Placement[])[];

export interface LiveDriver {
  /** True: the table has no room for another job, so a new driver is needed. */
  readonly isFull: boolean;
  readonly rowCount: number;
  /** Queues an arrival. */
  arrive(job: LiveJob, nowMs: number): void;
  /** Queues a departure. */
  depart(job: JobNumber, nowMs: number): void;
  /** The job has begun at this instant, later than it was decided; the next adoption counts from there. */
  beganAt?(job: JobNumber, startMs: number): void;
  /** Whether `withdraw` may be called. */
  readonly canWithdraw: boolean;
  /** Withdraws a waiting job. */
  withdraw(job: JobNumber, nowMs: number): void;
  /** Pauses or resumes a job. Returns false if that needs a new driver; left out: it always does. */
  setPaused?(job: JobNumber, isPaused: boolean, nowMs: number): boolean;
  /** Whether the job was paused by `setPaused`. */
  hasPaused?(job: JobNumber): boolean;
  /** Instant at which a decision becomes due; Infinity: not before the next event. */
  dueMs(): number;
  /** Passes queued events to the policy and lets it decide. @throws whatever the policy throws */
  decide(nowMs: number): Decision;
  /** The matrix, beginning with the row whose turn it is. */
  layout(): MatrixRows;
  /**
   * Number of the slot, counted from the grid's epoch, in which it is the turn of the first row of `layout`.
   */
  layoutSlot(): number;
  /** Advances to the slot of `nowMs`, without a decision. Left out: there are no slots. */
  catchUp?(nowMs: number): void;
  /** Running time of a job so far. */
  ranMs(job: JobNumber, nowMs: number): number;
  /** The start that the policy promised, in monotonic ms; NaN: no promise. */
  promisedMs(job: JobNumber): number;
  /** Whether a job runs beyond its expected end, so that the policy is wrong about free processors. */
  hasOverrun(nowMs: number): boolean;
}

/**
 * The job table of a driver. It is made with spare rows, and rows are never reused. The machine uses its own
 * columns, which the policy cannot change.
 */
/** What users have used of their shares. */
export interface OwnersShares {
  /** Counts usage up to the present decision. */
  update(): void;
  /** Level of a user at the last update. */
  levelOf(user: string): number;
}

export class LiveTable {
  /** The table that the policy sees. */
  readonly jobs: JobTable;
  readonly size: Int32Array;
  readonly estimateS: Float64Array;
  /** Memory of the whole gang; 0 if unknown. */
  readonly memoryBytes: Float64Array;
  /** Units of countable resources, one column per kind. */
  readonly demand: readonly Int32Array[];
  readonly numbers: Float64Array;
  readonly #rows = new Map<JobNumber, number>();
  readonly #originMs: number;
  readonly #owners: (string | undefined)[] = [];
  #used = 0;

  /**
   * @param originMs the instant that policies see as time 0
   * @param kinds number of kinds of countable resources
   */
  constructor(capacity: number, originMs: number, kinds: number, shares: OwnersShares | undefined) {
    this.#originMs = originMs;
    this.jobs = new JobTable({ shape: true, memory: true, origin: true, kinds });
    if (shares !== undefined) {
      this.jobs.shares = {
        update: () => shares.update(),
        level: (row) => {
          const owner = this.#owners[row];
          return owner === undefined ? 0 : shares.levelOf(owner);
        },
        user: (row) => this.#owners[row],
      };
    }
    this.demand = Array.from({ length: kinds }, () => new Int32Array(capacity));
    this.size = new Int32Array(capacity);
    this.estimateS = new Float64Array(capacity);
    this.memoryBytes = new Float64Array(capacity);
    this.numbers = new Float64Array(capacity);
  }

  get spare(): number {
    return this.numbers.length - this.#used;
  }

  /** Appends a job that has arrived and returns its row. */
  add(job: LiveJob): number {
    if (this.spare === 0) throw new Error("The table of live jobs is full");
    const row = this.#used++;
    this.size[row] = job.size;
    this.estimateS[row] = job.estimateMs / 1000;
    this.memoryBytes[row] = job.memoryBytes ?? 0;
    this.numbers[row] = job.job;
    this.#owners[row] = job.owner;
    this.#rows.set(job.job, row);
    const { jobs } = this;
    jobs.reserve(row);
    jobs.size[row] = job.size;
    jobs.submitS[row] = (job.submitMs - this.#originMs) / 1000;
    jobs.estimateS[row] = job.estimateMs / 1000;
    const { memoryKB, origin, shape, demand } = jobs;
    this.demand.forEach((column, k) => {
      column[row] = job.demand?.[k] ?? 0;
      demand[k][row] = column[row];
    });
    if (memoryKB !== undefined && job.memoryBytes !== undefined)
      memoryKB[row] = Math.ceil(job.memoryBytes / 1024 / job.size);
    if (origin !== undefined) {
      origin.user[row] = job.user ?? UNKNOWN;
      origin.queue[row] = job.queueClass;
    }
    if (shape !== undefined) {
      const { threads = 1 } = job;
      shape.processes[row] = processesOf(job.size, threads);
      shape.threads[row] = threads;
      shape.queue[row] = job.queueClass;
    }
    return row;
  }

  /** Row of a job; −1 if it is not in the table. */
  rowOf(job: JobNumber): number {
    return this.#rows.get(job) ?? -1;
  }
}

/** Number of rows of a new table: twice the current need, and at least 4096. */
export function tableCapacity(live: number): number {
  return Math.max(4096, 2 * live + 64);
}
