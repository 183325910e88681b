/**
 * Enforces the limit of an array: how many of its jobs may be in flight. A released job counts until it has
 * ended or is held, whether it is running or still waits for processors. So the limit is always fully used,
 * even when jobs are held or cancelled.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { hasProcess } from "@tutti/protocol/states.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import { countLeading } from "./rising-numbers.ts";

interface LimitedArray {
  readonly most: number;
  readonly inFlight: Set<JobNumber>;
  /** In the order in which they are released. */
  readonly waiting: JobRecord[];
}

export class ArrayLimits {
  readonly #arrays = new Map<JobNumber, LimitedArray>();
  /** Arrays in which another job may be released. */
  readonly #touched = new Set<JobNumber>();
  #released: JobNumber[] = [];

  /** Adds a live job in its current state. */
  enter(record: JobRecord): void {
    const { array, arrayLimit } = record;
    if (array === undefined || arrayLimit === undefined) return;
    let limited = this.#arrays.get(array);
    if (limited === undefined) {
      limited = { most: arrayLimit, inFlight: new Set(), waiting: [] };
      this.#arrays.set(array, limited);
    }
    if (hasProcess(record.state)) limited.inFlight.add(record.job);
    else if (record.state === "queued")
      limited.waiting.splice(positionOf(limited.waiting, record), 0, record);
    this.#touched.add(array);
  }

  /** Removes a job that has ended or is about to change. */
  leave({ array, ...record }: JobRecord): void {
    const limited = array === undefined ? undefined : this.#arrays.get(array);
    if (array === undefined || limited === undefined) return;
    if (!limited.inFlight.delete(record.job)) {
      const position = positionOf(limited.waiting, record);
      if (limited.waiting[position]?.job === record.job) limited.waiting.splice(position, 1);
    }
    if (limited.inFlight.size === 0 && limited.waiting.length === 0) this.#arrays.delete(array);
    else this.#touched.add(array);
  }

  /** Whether the limit allows the job to start. */
  mayStart({ job, array, arrayLimit }: JobRecord): boolean {
    if (array === undefined || arrayLimit === undefined) return true;
    this.#settle();
    return this.#arrays.get(array)?.inFlight.has(job) === true;
  }

  /** Jobs that were released since the last call. */
  takeReleased(): readonly JobNumber[] {
    this.#settle();
    return this.#released.splice(0);
  }

  /** Starts from scratch after a rollback. */
  rebuild(live: Iterable<JobRecord>): void {
    this.#arrays.clear();
    this.#touched.clear();
    this.#released = [];
    for (const record of live) this.enter(record);
  }

  #settle(): void {
    for (const array of this.#touched) {
      const limited = this.#arrays.get(array);
      while (limited !== undefined && limited.inFlight.size < limited.most && limited.waiting.length > 0) {
        const { job } = limited.waiting.shift()!;
        limited.inFlight.add(job);
        this.#released.push(job);
      }
    }
    this.#touched.clear();
  }
}

/** Position that the job has or would have among the waiting jobs. */
function positionOf(
  waiting: readonly JobRecord[],
  record: Pick<JobRecord, "priority" | "queueRank">,
): number {
  return countLeading(waiting, (other) => servedBefore(other, record));
}
