/**
 * What drives a policy in real time: one driver per way of sharing (live-pool.ts, live-rounds.ts). A driver holds a table of live
 * jobs and the policy made for it; events are queued until the next decision and told in the order that the contract of
 * core/policy.ts states. A driver can take a job back that has been told if its policy can: else whoever owns it makes a new one (adoption).
 */
import { UNKNOWN } from "../../core/jobs.ts";
import type { StartRule } from "../../core/policy.ts";
import { JobTable } from "../../machines/job-table.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";

/** What policies see of a record, with what the scheduler knows of it. Times in monotonic ms. */
export interface LiveJob extends Pick<JobRecord, "job" | "estimateMs" | "memoryBytes"> {
  /** Processors. */
  readonly size: number;
  readonly submitMs: number;
  /** Place of its queue in the list of queue classes, or UNKNOWN. */
  readonly queueClass: number;
  /** User ID of its owner. */
  readonly user?: number | undefined;
}

/** A job with a process, when a driver is made: running, or stopped until it is placed again. */
export interface RunningJob extends LiveJob {
  /** Running time so far. */
  readonly ranMs: number;
  /** Its processors (places in the list of CPUs), ascending. */
  readonly processors: readonly number[];
}

/** A job that a decision gave processors. */
export interface Start {
  readonly job: JobNumber;
  readonly rule: StartRule;
  readonly processors: readonly number[];
}

/** One change of the matrix that is no start. */
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

/** A gang in a row, on processors (places in the list of CPUs). */
export interface Placement {
  readonly job: JobNumber;
  readonly processors: readonly number[];
}

export type MatrixRows = readonly (readonly Placement[])[];

export interface LiveDriver {
  /** Whether another job can be told of; if not, a new driver is due. */
  readonly isFull: boolean;
  readonly rowCount: number;
  /** Queues an arrival noticed at an instant. */
  arrive(job: LiveJob, nowMs: number): void;
  /** Queues a departure noticed at an instant. */
  depart(job: JobNumber, nowMs: number): void;
  /** Whether `withdraw` may be called. */
  readonly canWithdraw: boolean;
  /** Takes back a job that waits, as of an instant. */
  withdraw(job: JobNumber, nowMs: number): void;
  /** Instant from which a decision is due; Infinity: none until something happens. */
  dueMs(): number;
  /** Tells the policy what has happened and lets it decide. @throws whatever the policy throws */
  decide(nowMs: number): Decision;
  /** The matrix from the row whose turn it is. */
  layout(): MatrixRows;
  /** Number of the slot in which the first row of `layout` has its turn, counted from the grid's epoch. */
  layoutSlot(): number;
  /** Running time of a job so far. */
  ranMs(job: JobNumber, nowMs: number): number;
  /** The start that the policy promised, in monotonic ms; NaN when there is none. */
  promisedMs(job: JobNumber): number;
  /** Whether a running job is beyond the end that the policy expects, so that the policy errs about free processors. */
  hasOverrun(nowMs: number): boolean;
}

/** The job table of a driver: made with room to spare, rows are never used twice. What the machine goes by is not what the policy holds. */
export class LiveTable {
  /** What the policy is shown. */
  readonly jobs = new JobTable({ shape: true, memory: true, origin: true });
  readonly size: Int32Array;
  readonly estimateS: Float64Array;
  /** Of the whole gang; 0 where nobody told. */
  readonly memoryBytes: Float64Array;
  readonly numbers: Float64Array;
  readonly #rows = new Map<JobNumber, number>();
  readonly #originMs: number;
  #used = 0;

  /** @param originMs instant that policies see as time 0 */
  constructor(capacity: number, originMs: number) {
    this.#originMs = originMs;
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
    this.#rows.set(job.job, row);
    const { jobs } = this;
    jobs.reserve(row);
    jobs.size[row] = job.size;
    jobs.submitS[row] = (job.submitMs - this.#originMs) / 1000;
    jobs.estimateS[row] = job.estimateMs / 1000;
    const { memoryKB, origin, shape } = jobs;
    if (memoryKB !== undefined && job.memoryBytes !== undefined)
      memoryKB[row] = Math.ceil(job.memoryBytes / 1024 / job.size);
    if (origin !== undefined) {
      origin.user[row] = job.user ?? UNKNOWN;
      origin.queue[row] = job.queueClass;
    }
    if (shape !== undefined) {
      shape.processes[row] = job.size;
      shape.threads[row] = 1;
      shape.queue[row] = job.queueClass;
    }
    return row;
  }

  /** Row of a job; −1 when it is not in the table. */
  rowOf(job: JobNumber): number {
    return this.#rows.get(job) ?? -1;
  }
}

/** Rows of a new table: as many as are needed, twice over, and never few. */
export function tableCapacity(live: number): number {
  return Math.max(4096, 2 * live + 64);
}
