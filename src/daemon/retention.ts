/**
 * What is forgotten: jobs that ended long ago, or are too many, the oldest end first, with their attempts, forecasts and folders; and old
 * events. A job goes from the store in one transaction, which leaves a note that its folder is to be removed; so after a crash a job is
 * there wholly or not at all, and no folder stays behind. Everything goes in small steps, and never into a job that has not ended.
 */
import type { Context } from "./context.ts";

const DAY_MS = 86_400_000;
/** Jobs and events of one transaction: some milliseconds. */
const JOBS_PER_STEP = 50;
const EVENTS_PER_STEP = 500;
const MOST_EVENTS = 1_000_000;
/** Between two steps others have their turn. */
const REST_MS = 50;
const ROUND_MS = 60_000;
const FIRST_ROUND_MS = 1000;

export class Retention {
  readonly #context: Context;
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** From now on, until `stop`. */
  start(): void {
    this.#later(FIRST_ROUND_MS, () => this.#round());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  /** Forgets a few jobs and events. Says whether there may be more. A disk that refuses takes the whole step back. */
  step(): boolean {
    const { store, book, config, clock } = this.#context;
    const beforeMs = clock.unixMs() - config.keepDays * DAY_MS;
    const { done, failed, cancelled } = book.counts;
    const tooMany = done + failed + cancelled - config.keepJobs;
    const jobs = store
      .oldestEnded(JOBS_PER_STEP)
      .filter(({ endedAtMs }, i) => i < tooMany || endedAtMs < beforeMs);
    const lastEvent = store.lastEventToForget(beforeMs, MOST_EVENTS, EVENTS_PER_STEP);
    if (jobs.length === 0 && lastEvent === undefined) return false;
    try {
      store.begin();
      store.forgetJobs(jobs);
      if (lastEvent !== undefined) store.forgetEvents(lastEvent);
      store.commit();
    } catch {
      store.rollback();
      return false;
    }
    book.forget(jobs.map(({ state }) => state));
    return true;
  }

  #round(): void {
    if (this.step()) this.#later(REST_MS, () => this.#round());
    else {
      const again = () => this.#later(ROUND_MS, () => this.#round());
      this.#removeFolders().then(again, again);
    }
  }

  /** Those that cannot be removed are tried again in the next round. */
  async #removeFolders(): Promise<void> {
    const { store, launcher } = this.#context;
    let last = 0;
    while (!this.#isStopped) {
      const jobs = store.leftovers(last, JOBS_PER_STEP);
      if (jobs.length === 0) return;
      const removed: number[] = [];
      for (const job of jobs) {
        if (await launcher.remove(job)) removed.push(job);
        // The store may be closed by now.
        if (this.#isStopped) return;
      }
      last = jobs[jobs.length - 1];
      try {
        store.begin();
        store.forgetLeftovers(removed);
        store.commit();
      } catch {
        store.rollback();
        return;
      }
    }
  }

  #later(waitMs: number, call: () => void): void {
    if (this.#isStopped) return;
    const { clock } = this.#context;
    this.#cancelTimer = clock.at(clock.nowMs() + waitMs, call);
  }
}
