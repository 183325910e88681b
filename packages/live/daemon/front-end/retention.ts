/**
 * Forgets old events, and ended jobs with their attempts, forecasts and folders.
 *
 * - Jobs are forgotten `keepDays` after their end, events `keepDays` after they happened.
 * - At most `keepJobs` ended jobs with 1 GiB of commands and paths are kept, and at most a million events. If
 *   there are more, users share the room fairly (max-min fairness, fair-share.ts): it is divided equally, and
 *   room that some users do not need goes to the others. A user above the resulting level loses the excess,
 *   beginning with the jobs that ended first. Events for all users count as those of one more user.
 * - A user's jobs, events and news together take at most seven eighths of the user's share of the store
 *   (share.ts), so that new jobs have room; administrators have no share.
 * - Jobs that were cancelled before their first start cost nothing and leave no results. They are counted
 *   separately: they get the room that started jobs leave free, and at least a tenth of all room.
 *
 * These guarantees hold whatever other users do; `users` is the number of users with ended jobs:
 *
 * - before keepDays, a user with at most 0.9 × keepJobs ÷ users started jobs, and 1 GiB ÷ users of commands,
 *   loses no job;
 * - a user with at most 0.1 × keepJobs ÷ users jobs that were never started loses no such job;
 * - when a step finds nothing to do, at most keepJobs, 1 GiB and a million events are kept;
 * - a step forgets at most JOBS_PER_STEP jobs and EVENTS_PER_STEP events, and is followed by a pause.
 *
 * One transaction removes a job from the store and notes that its folder must be removed. So after a crash, a
 * job exists completely or not at all, and no folder is left behind. A job that has not ended is never
 * forgotten.
 */
import type { FrontEndParts } from "../front-end-parts.ts";
import type { EndedJob } from "../store/kept.ts";
import { NEW_JOB_BYTES } from "../store/ledger.ts";
import { storeShare } from "./share.ts";

/** Limits for all users together. */
export interface RetentionLimits {
  readonly bytes: number;
  readonly events: number;
  /** The user who runs the scheduler, and has no share. */
  readonly exempt: number;
}

const DAY_MS = 86_400_000;
/** Jobs and events per transaction, which takes a few ms. */
const JOBS_PER_STEP = 100;
const EVENTS_PER_STEP = 1000;
/** Free pages given back per step; moving others into their places takes a few ms. */
const PAGES_PER_STEP = 256;
const MOST: RetentionLimits = {
  bytes: 2 ** 30,
  events: 1_000_000,
  exempt: process.getuid?.() ?? 0,
};
const MOST_OF_SHARE = 7 / 8;
/** Pause between two steps, for other work. */
const REST_MS = 50;
const ROUND_MS = 60_000;
/** After a larger step forward of the wall clock, ages go by the old time for a day. */
const DOUBTED_STEP_MS = 3_600_000;
const FIRST_ROUND_MS = 1000;

export class Retention {
  readonly #context: FrontEndParts;
  readonly #most: RetentionLimits;
  #cancelTimer: (() => void) | undefined;
  #isStarted = false;
  #isStopped = false;
  /** Whether the next step is due soon. */
  #isBusy = false;
  #isRemoving = false;
  /** Unix time minus boot time as ages count it; undefined: before the first step. */
  #aheadMs: number | undefined;
  /** Boot time from which on a step forward is believed. */
  #believedAtMs: number | undefined;

  constructor(context: FrontEndParts, most: Partial<RetentionLimits> = {}) {
    this.#context = context;
    this.#most = { ...MOST, ...most };
  }

  /** Begins to forget, until `stop`. */
  start(): void {
    this.#isStarted = true;
    this.#later(FIRST_ROUND_MS, () => this.#round());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  /**
   * Called when jobs may have ended: if there are now too many, begins without waiting for the next round.
   */
  wake(): void {
    if (!this.#isStarted || this.#isBusy) return;
    const { book, config } = this.#context;
    const hasSurplus = book.ended.surpluses(config.keepJobs, this.#most.bytes).length > 0;
    if (!hasSurplus && this.#overShare().next().done) return;
    this.#isBusy = true;
    this.#cancelTimer?.();
    this.#later(REST_MS, () => this.#round());
  }

  /**
   * Forgets a few jobs and events. If the disk refuses, forgets nothing.
   * @returns whether there may be more to forget
   */
  step(): boolean {
    const { store, book, config } = this.#context;
    const beforeMs = this.#unixMs() - config.keepDays * DAY_MS;
    let jobs: readonly EndedJob[] = [];
    let hasEvents = false;
    const isDone = store.tryTransaction(() => {
      jobs = this.#jobsToForget(beforeMs);
      store.kept.forgetJobs(jobs);
      book.dropContentsOf(jobs);
      hasEvents = this.#forgetEvents(beforeMs);
    });
    if (!isDone) return false;
    book.forget(jobs);
    const hasPages = store.shrink(PAGES_PER_STEP);
    return jobs.length > 0 || hasEvents || hasPages;
  }

  /** The time as ages count it: a clock that is wrong for some hours must not delete everything. */
  #unixMs(): number {
    const { clock } = this.#context;
    const bootMs = clock.bootMs();
    const aheadMs = clock.unixMs() - bootMs;
    this.#aheadMs ??= aheadMs;
    if (aheadMs - this.#aheadMs > DOUBTED_STEP_MS) this.#believedAtMs ??= bootMs + DAY_MS;
    else this.#believedAtMs = undefined;
    if (bootMs >= (this.#believedAtMs ?? 0)) this.#aheadMs = aheadMs;
    return bootMs + this.#aheadMs;
  }

  #jobsToForget(beforeMs: number): readonly EndedJob[] {
    const { store, book, config } = this.#context;
    const aged = store.kept.endedBefore(beforeMs, JOBS_PER_STEP);
    if (aged.length > 0) return aged;
    const chosen: EndedJob[] = [];
    for (const surplus of book.ended.surpluses(config.keepJobs, this.#most.bytes)) {
      const { uid, wasStarted } = surplus;
      let { jobs, bytes } = surplus;
      for (const job of store.kept.endedOf(uid, JOBS_PER_STEP - chosen.length, wasStarted)) {
        if (jobs <= 0 && bytes <= 0) break;
        chosen.push(job);
        jobs--;
        bytes -= job.bytes;
      }
      if (chosen.length === JOBS_PER_STEP) break;
    }
    for (const [uid, bytes] of chosen.length > 0 ? [] : this.#overShare()) {
      let left = bytes;
      for (const job of store.kept.endedOf(uid, JOBS_PER_STEP - chosen.length)) {
        if (left <= 0) break;
        chosen.push(job);
        left -= job.bytes + NEW_JOB_BYTES;
      }
    }
    return chosen;
  }

  /** Users with too much in the store, and how much too much it is. */
  *#overShare(): Generator<readonly [uid: number, bytes: number], void> {
    const { store, book } = this.#context;
    const most = MOST_OF_SHARE * storeShare(this.#context);
    for (const uid of store.ledger.users()) {
      if (uid <= 0 || uid === this.#most.exempt) continue;
      const bytes = book.storeBytesOf(uid) - most;
      if (bytes > 0) yield [uid, bytes];
    }
  }

  /** @returns whether it has forgotten any */
  #forgetEvents(beforeMs: number): boolean {
    const { store, feed } = this.#context;
    if (store.kept.forgetEventsBefore(beforeMs, EVENTS_PER_STEP)) return true;
    let remaining = EVENTS_PER_STEP;
    for (const surplus of feed.surpluses(this.#most.events)) {
      const events = Math.min(surplus.events, remaining);
      if (events === 0) break;
      store.kept.forgetEventsOf(surplus.uid, events);
      remaining -= events;
    }
    if (remaining === EVENTS_PER_STEP) {
      for (const [uid] of this.#overShare()) {
        // Jobs that have ended go first, with their news.
        if (store.kept.endedOf(uid, 1).length > 0) continue;
        const before = store.ledger.of(uid, "events").rows;
        store.kept.forgetEventsOf(uid, remaining);
        remaining -= before - store.ledger.of(uid, "events").rows;
        if (remaining <= 0) break;
      }
    }
    return remaining < EVENTS_PER_STEP;
  }

  #round(): void {
    this.#isBusy = this.step();
    this.#later(this.#isBusy ? REST_MS : ROUND_MS, () => this.#round());
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    const done = () => {
      this.#isRemoving = false;
    };
    // The next round tries again to remove folders that could not be removed.
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
