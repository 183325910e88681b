/**
 * The door before a gang policy: a gang waits here, first come first served, while the matrix has no room for it under the limits
 * on rows and memory. Policies with limits of their own (parameter `rows`) get the rows' limit as that parameter and do the waiting
 * themselves; with others a gang that could need a row too many waits for a gap, though a policy may not use that gap. Under space sharing nobody waits here: the policy has the queue.
 */

import type { JobNumber } from "../../protocol/attempts.ts";
import type { JobBook } from "../book/job-book.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Layout } from "./live-driver.ts";

export interface GateLimits {
  readonly cpus: readonly number[];
  readonly mostRows: number;
  readonly memoryBytes: number;
}

export class Gate {
  readonly #limits: GateLimits;
  readonly #book: JobBook;
  /** In the order in which they came. */
  readonly #waiting = new Map<JobNumber, JobRecord>();

  constructor(limits: GateLimits, book: JobBook) {
    this.#limits = limits;
    this.#book = book;
  }

  /**
   * Those who may be told to the policy now, of those who wait here and those who come.
   * @param limits what is kept here: memory always, rows where the policy cannot; nothing under space sharing
   * @param told jobs that the policy knows and has not placed
   * @param rows the matrix now
   */
  next(
    limits: "nothing" | "memory" | "rows",
    arriving: readonly JobRecord[],
    told: ReadonlySet<JobNumber>,
    rows: Layout,
  ): readonly JobRecord[] {
    if (limits === "nothing") return arriving;
    for (const record of arriving) this.#waiting.set(record.job, record);
    if (this.#waiting.size === 0) return [];
    let usedBytes = this.#memoryOf(told);
    const passed: JobRecord[] = [];
    for (const record of this.#waiting.values()) {
      const { tasks, memoryBytes = 0 } = record;
      if (memoryBytes > 0 && usedBytes + memoryBytes > this.#limits.memoryBytes) break;
      // Each gang that is on its way may need a row of its own.
      const onTheirWay = told.size + passed.length;
      const mayNeedRow = rows.length + onTheirWay >= this.#limits.mostRows;
      if (
        limits === "rows" &&
        mayNeedRow &&
        (onTheirWay > 0 || !hasGap(rows, tasks, this.#limits.cpus.length))
      )
        break;
      usedBytes += memoryBytes;
      passed.push(record);
    }
    for (const { job } of passed) this.#waiting.delete(job);
    return passed;
  }

  withdraw(job: JobNumber): void {
    this.#waiting.delete(job);
  }

  clear(): void {
    this.#waiting.clear();
  }

  #memoryOf(told: ReadonlySet<JobNumber>): number {
    let bytes = 0;
    for (const { job, memoryBytes } of this.#book.withProcess())
      if (!told.has(job)) bytes += memoryBytes ?? 0;
    for (const job of told) bytes += this.#book.live(job)?.memoryBytes ?? 0;
    return bytes;
  }
}

/** Whether some row has so many idle processors side by side. */
function hasGap(rows: Layout, size: number, processors: number): boolean {
  return rows.some((seats) => {
    const taken = new Set(seats.flatMap((seat) => seat.processors));
    let gap = 0;
    for (let one = 0; one < processors; one++) {
      gap = taken.has(one) ? 0 : gap + 1;
      if (gap >= size) return true;
    }
    return false;
  });
}
