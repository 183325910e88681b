/** Lets waiting jobs join the queue, or cancels them: because of other jobs, or as their time has come. */
import { hasProcess } from "@tutti/protocol/states.ts";
import { isUnmet, unmetText } from "../contract/dependencies.ts";
import type { JobRecord } from "../contract/record.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { RetryDelays } from "./retry-delays.ts";

/** Dependents that are cancelled in one cycle, which takes about 20 ms. */
const MAX_CANCELLED_IN_CYCLE = 500;
/** Jobs that join the queue in one cycle, because their time has come; also about 20 ms. */
const MAX_DUE_IN_CYCLE = 500;

export class WaitingJobs {
  readonly delays: RetryDelays;
  readonly #context: FrontEndParts;
  readonly #cancel: (record: JobRecord, reason: string) => JobRecord;

  constructor(context: FrontEndParts, cancel: (record: JobRecord, reason: string) => JobRecord) {
    this.#context = context;
    this.delays = new RetryDelays(context);
    this.#cancel = cancel;
  }

  /**
   * Lets jobs join the queue whose begin has come, or whose wait before the next attempt is over. They come
   * last in it, as jobs that are submitted now.
   */
  releaseDue(nowMs: number): void {
    const { book, feed, clock, scheduler } = this.#context;
    const unixMs = clock.unixMs();
    for (const record of book.takeDue(unixMs, MAX_DUE_IN_CYCLE)) {
      const eligible = book.change(record, {
        notBeforeMs: undefined,
        eligibleAtMs: unixMs,
        queueRank: book.nextQueueRank(),
      });
      scheduler.jobs.noteSubmit(record.job, nowMs);
      feed.add("eligible", unixMs, eligible, { attempt: record.attempt + 1 });
      if (book.isEligible(eligible)) scheduler.arrived(eligible);
    }
  }

  /**
   * Handles the dependents of ended jobs: they become eligible, or are cancelled if the job should have
   * succeeded but did not; then their own dependents follow. A long chain or a large array is cancelled over
   * several cycles.
   */
  settle(): void {
    const { book } = this.#context;
    let remaining = MAX_CANCELLED_IN_CYCLE;
    for (const ended of book.unsettled.values()) {
      remaining = this.#settle(ended, remaining);
      if (remaining === 0) return;
      book.settled(ended.job);
      for (const dependent of book.dependentsOf(ended.job)) {
        if (book.isEligible(dependent)) this.#context.scheduler.arrived(dependent);
      }
    }
  }

  /**
   * Cancels at most `most` dependents of a job that ended in another way than they need.
   * @returns how many more may be cancelled
   */
  #settle(ended: JobRecord, most: number): number {
    let remaining = most;
    for (const dependent of this.#context.book.dependentsOf(ended.job)) {
      if (hasProcess(dependent.state)) continue;
      if (!dependent.after.some((one) => one.job === ended.job && isUnmet(one, ended.state))) continue;
      if (remaining === 0) return 0;
      this.#cancel(dependent, unmetText(ended.job, ended.state));
      remaining--;
    }
    return remaining;
  }
}
