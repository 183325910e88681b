/**
 * Keeps waiting jobs in the order of fair-share: by the level of their user, then by job number. Levels
 * change at every decision, but all jobs of a user have the same one. So each user has a list, and only the
 * users are sorted. The jobs of users with equal levels are in order of their numbers:
 *
 *   level 0.2   anna  3 7 9
 *   level 0.5   ben   1 8      in order: 3 7 9, 1 2 8, 4
 *               carl  2
 *   level 1.4   dora  4
 */
import { type JobIndex, type JobsView, NO_JOB } from "../core/jobs.ts";
import { JobIntegers } from "./job-column.ts";
import { OrderedJobs } from "./ordered-jobs.ts";

/** The waiting jobs of a user. */
interface UserJobs {
  readonly list: OrderedJobs;
  level: number;
  /** Whether it is among those that wait. */
  waits: boolean;
}

export class SharedJobs {
  /** Number of jobs. */
  length = 0;
  readonly #jobs: JobsView;
  readonly #users: UserJobs[] = [];
  readonly #indexOf = new Map<unknown, number>();
  /** Index of each job's user. */
  readonly #userOf = new JobIntegers();
  /** Users with waiting jobs, by level. Users whose jobs have all left stay until the next update. */
  #waiting: UserJobs[] = [];
  #isSorted = true;
  /** Whether levels are those of now. To count usage takes time, so it is done only if levels matter. */
  #isCounted = true;

  // The search of `nextFitting`: users before this position have no job that fits; who has the job found.
  #position = 0;
  #found: UserJobs | undefined;

  constructor(jobs: JobsView) {
    this.#jobs = jobs;
  }

  /** A new decision begins. */
  update(): void {
    for (const user of this.#waiting) user.waits = user.list.length > 0;
    this.#waiting = this.#waiting.filter(({ waits }) => waits);
    this.#isCounted = false;
  }

  /** Present level of the job's user. */
  levelOf(job: JobIndex): number {
    this.#count();
    return this.#jobs.shares?.level(job) ?? 0;
  }

  /** First job in order, or NO_JOB. */
  first(): JobIndex {
    const user = this.#firstUser();
    return user === undefined ? NO_JOB : user.list.first();
  }

  insert(job: JobIndex): void {
    const index = this.#indexFor(job);
    this.#userOf.set(job, index);
    const user = this.#users[index];
    if (!user.waits) {
      user.waits = true;
      user.level = this.#jobs.shares?.level(job) ?? 0;
      this.#waiting.push(user);
      this.#isSorted = false;
    }
    user.list.insert(job, 0);
    this.length++;
  }

  /** Removes a job that is in the list. */
  remove(job: JobIndex): boolean {
    const isThere = this.#users[this.#userOf.get(job)].list.remove(job, 0);
    if (isThere) this.length--;
    return isThere;
  }

  removeFirst(): void {
    const user = this.#firstUser();
    if (user === undefined) return;
    user.list.removeFirst();
    this.length--;
  }

  /** As in OrderedJobs; `skip` is 0 or 1. */
  startSearch(skip: number): void {
    const user = skip === 0 ? undefined : this.#firstUser();
    this.#sort();
    for (const one of this.#waiting) one.list.startSearch(one === user ? 1 : 0);
    this.#position = 0;
  }

  /** As in OrderedJobs, but none of the three may grow during a search. */
  nextFitting(free: number, maxValue: number, spare: number): JobIndex {
    const waiting = this.#waiting;
    let found = NO_JOB;
    let from = this.#position;
    for (let i = from; i < waiting.length; i++) {
      if (waiting[i].level !== waiting[from].level) {
        if (found !== NO_JOB) break;
        from = i;
      }
      const job = waiting[i].list.nextFitting(free, maxValue, spare);
      if (job === NO_JOB || (found !== NO_JOB && found < job)) continue;
      found = job;
      this.#found = waiting[i];
    }
    this.#position = from;
    return found;
  }

  /** As in OrderedJobs. */
  skipFound(): void {
    this.#found!.list.skipFound();
  }

  /** As in OrderedJobs. */
  takeFound(): void {
    this.#found!.list.takeFound();
    this.length--;
  }

  /** Copies the jobs, in order, into `target` and returns their number. */
  copyTo(target: Int32Array): number {
    this.#sort();
    const waiting = this.#waiting;
    let count = 0;
    for (let from = 0, i = 0; i < waiting.length; i++) {
      count += waiting[i].list.copyTo(target.subarray(count));
      if (waiting[i + 1]?.level === waiting[i].level) continue;
      target.subarray(from, count).sort();
      from = count;
    }
    return count;
  }

  /** The user of the first job; undefined if no job waits. */
  #firstUser(): UserJobs | undefined {
    this.#sort();
    let best: UserJobs | undefined;
    for (const user of this.#waiting) {
      if (best !== undefined && user.level !== best.level) return best;
      if (user.list.length === 0) continue;
      if (best === undefined || user.list.first() < best.list.first()) best = user;
    }
    return best;
  }

  #sort(): void {
    if (this.#waiting.length < 2) return;
    this.#count();
    if (!this.#isSorted) this.#waiting.sort((a, b) => a.level - b.level);
    this.#isSorted = true;
  }

  #count(): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    this.#isSorted = false;
    this.#jobs.shares?.update();
    for (const user of this.#waiting)
      if (user.list.length > 0) user.level = this.#jobs.shares?.level(user.list.first()) ?? 0;
  }

  #indexFor(job: JobIndex): number {
    const name = this.#jobs.shares?.user(job);
    let index = this.#indexOf.get(name);
    if (index === undefined) {
      index = this.#users.push({ list: new OrderedJobs(this.#jobs, true), level: 0, waits: false }) - 1;
      this.#indexOf.set(name, index);
    }
    return index;
  }
}
