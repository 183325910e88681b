/**
 * What is forgotten: jobs that have ended, with their attempts, forecasts and folders, and events.
 *
 * - A job or an event goes `keepDays` after its end.
 * - Of the jobs that have ended at most `keepJobs` are kept, with at most 1 GiB of commands and paths; and at most a million events. Where
 *   there are more, users share the room fairly: it is divided equally, what somebody does not need is for the others, and who keeps
 *   more than then comes out loses what is above, the oldest end first (max-min fairness, fair-share.ts). Events that concern all count as
 *   one user's.
 * - Jobs that were cancelled before they ever started, which cost nothing and leave no results, are shared apart: they have the room that the
 *   others leave, and a tenth of the room in any case.
 *
 * So, with `users` who have ended jobs, whatever the others do:
 *
 * - nobody loses a job that was started before keepDays who has at most 0.9 × keepJobs ÷ users of them, with 1 GiB ÷ users of commands;
 * - nobody loses one that never started who has at most 0.1 × keepJobs ÷ users of those;
 * - when a step finds nothing to do, no more than keepJobs, 1 GiB and a million events are kept;
 * - a step forgets at most JOBS_PER_STEP jobs and EVENTS_PER_STEP events, and there is a pause after each.
 *
 * A job goes from the store in one transaction, which leaves a note that its folder is to be removed; so after a crash a job is
 * there wholly or not at all, and no folder stays behind. A job that has not ended never goes.
 */
import type { FrontEndParts } from "../front-end-parts.ts";
import type { EndedJob, EventCount } from "../store/kept.ts";

/** What is kept at most, of all users together. */
export interface RetentionLimits {
  readonly bytes: number;
  readonly events: number;
}

const DAY_MS = 86_400_000;
/** Jobs and events of one transaction: some milliseconds. */
const JOBS_PER_STEP = 100;
const EVENTS_PER_STEP = 1000;
const MOST: RetentionLimits = { bytes: 2 ** 30, events: 1_000_000 };
/** Between two steps others have their turn. */
const REST_MS = 50;
const ROUND_MS = 60_000;
const FIRST_ROUND_MS = 1000;

export class Retention {
  readonly #context: FrontEndParts;
  readonly #most: RetentionLimits;
  #cancelTimer: (() => void) | undefined;
  #isStarted = false;
  #isStopped = false;
  /** The next step comes soon anyway. */
  #isBusy = false;
  #isRemoving = false;

  constructor(context: FrontEndParts, most: Partial<RetentionLimits> = {}) {
    this.#context = context;
    this.#most = { ...MOST, ...most };
  }

  /** From now on, until `stop`. */
  start(): void {
    this.#isStarted = true;
    this.#later(FIRST_ROUND_MS, () => this.#round());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  /** Jobs may have ended: when there are too many by now, they do not wait for the next round. */
  wake(): void {
    if (!this.#isStarted || this.#isBusy) return;
    const { book, config } = this.#context;
    if (book.ended.surpluses(config.keepJobs, this.#most.bytes).length === 0) return;
    this.#isBusy = true;
    this.#cancelTimer?.();
    this.#later(REST_MS, () => this.#round());
  }

  /** Forgets a few jobs and events. Says whether there may be more. A disk that refuses takes the whole step back. */
  step(): boolean {
    const { store, book, feed, config, clock } = this.#context;
    const beforeMs = clock.unixMs() - config.keepDays * DAY_MS;
    let jobs: readonly EndedJob[] = [];
    let events: readonly EventCount[] = [];
    const isDone = store.tryTransaction(() => {
      jobs = this.#jobsToForget(beforeMs);
      store.kept.forgetJobs(jobs);
      events = this.#forgetEvents(beforeMs);
    });
    if (!isDone) return false;
    book.forget(jobs);
    feed.forget(events);
    return jobs.length > 0 || events.length > 0;
  }

  #jobsToForget(beforeMs: number): readonly EndedJob[] {
    const { store, book, config } = this.#context;
    const aged = store.kept.endedBefore(beforeMs, JOBS_PER_STEP);
    if (aged.length > 0) return aged;
    const found: EndedJob[] = [];
    for (const surplus of book.ended.surpluses(config.keepJobs, this.#most.bytes)) {
      const { uid, wasStarted } = surplus;
      let { jobs, bytes } = surplus;
      for (const job of store.kept.endedOf(uid, JOBS_PER_STEP - found.length, wasStarted)) {
        if (jobs <= 0 && bytes <= 0) break;
        found.push(job);
        jobs--;
        bytes -= job.bytes;
      }
      if (found.length === JOBS_PER_STEP) break;
    }
    return found;
  }

  #forgetEvents(beforeMs: number): readonly EventCount[] {
    const { store, feed } = this.#context;
    const aged = store.kept.forgetEventsBefore(beforeMs, EVENTS_PER_STEP);
    if (aged.length > 0) return aged;
    const forgotten: EventCount[] = [];
    let left = EVENTS_PER_STEP;
    for (const surplus of feed.surpluses(this.#most.events)) {
      const events = Math.min(surplus.events, left);
      if (events === 0) break;
      store.kept.forgetEventsOf(surplus.uid, events);
      forgotten.push({ uid: surplus.uid, events });
      left -= events;
    }
    return forgotten;
  }

  #round(): void {
    this.#isBusy = this.step();
    this.#later(this.#isBusy ? REST_MS : ROUND_MS, () => this.#round());
    if (this.#isBusy || this.#isRemoving) return;
    this.#isRemoving = true;
    const done = () => {
      this.#isRemoving = false;
    };
    // What cannot be removed is tried again in the next round.
    this.#removeFolders().then(done, done);
  }

  async #removeFolders(): Promise<void> {
    const { store, launcher } = this.#context;
    let last = 0;
    while (!this.#isStopped) {
      const jobs = store.kept.leftovers(last, JOBS_PER_STEP);
      if (jobs.length === 0) return;
      const removed: number[] = [];
      for (const job of jobs) {
        if (await launcher.remove(job)) removed.push(job);
        // The store may be closed by now.
        if (this.#isStopped) return;
      }
      last = jobs[jobs.length - 1];
      if (!store.tryTransaction(() => store.kept.forgetLeftovers(removed))) return;
    }
  }

  #later(waitMs: number, call: () => void): void {
    if (this.#isStopped) return;
    const { clock } = this.#context;
    this.#cancelTimer = clock.at(clock.nowMs() + waitMs, call);
  }
}
