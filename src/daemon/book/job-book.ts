/**
 * The jobs that have not ended, in memory and on disk alike. Changes are written at once, inside the cycle's transaction; `rollback`
 * puts back what was. Ended jobs are only on disk.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import { hasProcess, isEnded, JOB_STATES, type JobState } from "../../protocol/states.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import { retainedBytes } from "../contract/submission.ts";
import type { StoredContent } from "../store/contents.ts";
import type { EndedJob } from "../store/kept.ts";
import type { Store } from "../store/store.ts";
import { ArrayLimits } from "./array-limits.ts";
import { EndedJobs } from "./ended-jobs.ts";
import { Holdings } from "./holdings.ts";
import { LiveNumbers } from "./rising-numbers.ts";

export class JobBook {
  readonly #store: Store;
  readonly #live = new Map<JobNumber, JobRecord>();
  /** In rising order; the map is in the order of changes. */
  readonly numbers = new LiveNumbers();
  /** Jobs with a process, so that nobody has to look through the queue for them. */
  readonly #withProcess = new Set<JobNumber>();
  /** Who waits for a job. */
  readonly #dependents = new Map<JobNumber, Set<JobNumber>>();
  readonly #unsettled = new Map<JobNumber, JobRecord>();
  readonly #arrayLimits = new ArrayLimits();
  readonly #counts: Record<JobState, number>;
  readonly holdings = new Holdings();
  /** Of those that have ended, numbers only. */
  readonly ended: EndedJobs;
  #undo: (() => void)[] = [];
  #latestJob: number;
  #committedJob: number;
  #latestPlace: number;

  /** @param latestJob numbers go on above it, though the store may know none as high */
  constructor(store: Store, latestJob = store.latestJob()) {
    this.#store = store;
    this.#latestJob = latestJob;
    this.#committedJob = latestJob;
    this.#latestPlace = store.latestPlace();
    const counts = store.kept.counts();
    this.ended = new EndedJobs(counts);
    this.#counts = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
    for (const { state, jobs } of counts) this.#counts[state] += jobs;
    for (const record of store.liveJobs()) {
      this.#enter(record);
      this.numbers.enter(record);
      this.holdings.enter(record, store.contents.of(record));
    }
    this.#findUnsettled();
  }

  /** The last front end may have ended between the end of a job and that of its dependents. */
  #findUnsettled(): void {
    const others = new Set<JobNumber>();
    for (const { after } of this.#live.values()) {
      for (const { job, ok } of after) if (ok && !this.#live.has(job)) others.add(job);
    }
    for (const job of others) {
      const ended = this.#store.job(job);
      if (ended !== undefined && ended.state !== "done") this.#unsettled.set(job, ended);
    }
  }

  get liveCount(): number {
    return this.#live.size;
  }

  get counts(): Readonly<Record<JobState, number>> {
    return { ...this.#counts };
  }

  nextJob(): JobNumber {
    this.#undo.push(() => this.#latestJob--);
    return ++this.#latestJob;
  }

  /** The number up to which this cycle gives numbers; undefined when it gives none. */
  get givenInCycle(): JobNumber | undefined {
    return this.#latestJob > this.#committedJob ? this.#latestJob : undefined;
  }

  /** Someone else has given numbers up to this one. */
  raise(job: JobNumber): void {
    if (job <= this.#latestJob) return;
    this.#latestJob = job;
    this.#committedJob = job;
  }

  nextQueueRank(): number {
    this.#undo.push(() => this.#latestPlace--);
    return ++this.#latestPlace;
  }

  /** A job that has not ended. */
  live(job: JobNumber): JobRecord | undefined {
    return this.#live.get(job);
  }

  /** Any job. */
  find(job: JobNumber): JobRecord | undefined {
    return this.#live.get(job) ?? this.#store.job(job);
  }

  all(): IterableIterator<JobRecord> {
    return this.#live.values();
  }

  *withProcess(): IterableIterator<JobRecord> {
    for (const job of this.#withProcess) yield this.#live.get(job)!;
  }

  /** What the jobs with a process may have together. */
  usedMemoryBytes(): number {
    let bytes = 0;
    for (const record of this.withProcess()) bytes += record.memoryBytes ?? 0;
    return bytes;
  }

  /** Jobs that nothing keeps from being told to the policy, in the order in which they are served. */
  eligible(): JobRecord[] {
    const found: JobRecord[] = [];
    for (const record of this.#live.values()) if (this.isEligible(record)) found.push(record);
    return found.sort((a, b) => (servedBefore(a, b) ? -1 : 1));
  }

  isEligible(record: JobRecord): boolean {
    return (
      record.state === "queued" &&
      this.#arrayLimits.mayGo(record) &&
      !record.after.some(({ job }) => this.#live.has(job) || this.#unsettled.has(job))
    );
  }

  /** Jobs that have ended and whose dependents do not know it yet. Those wait until then: some may have to be cancelled. */
  get unsettled(): ReadonlyMap<JobNumber, JobRecord> {
    return this.#unsettled;
  }

  /** The dependents of a job that has ended know it. */
  settled(job: JobNumber): void {
    const ended = this.#unsettled.get(job);
    if (ended === undefined) return;
    this.#unsettled.delete(job);
    this.#undo.push(() => this.#unsettled.set(job, ended));
  }

  /** Whether it waits for others of its array, of which only so many are to go at a time. */
  waitsForArray(record: JobRecord): boolean {
    return record.state === "queued" && !this.#arrayLimits.mayGo(record);
  }

  /** Jobs that the limits of their arrays have let go since this was asked last, and that nothing else keeps. */
  takeReleased(): readonly JobRecord[] {
    return this.#arrayLimits
      .takeReleased()
      .map((job) => this.#live.get(job))
      .filter((record) => record !== undefined && this.isEligible(record)) as JobRecord[];
  }

  /** Jobs that have to end before. */
  waitsFor(record: JobRecord): JobNumber[] {
    return record.after.filter(({ job }) => this.#live.has(job)).map(({ job }) => job);
  }

  *dependentsOf(job: JobNumber): Generator<JobRecord, void> {
    for (const dependent of this.#dependents.get(job) ?? []) {
      const record = this.#live.get(dependent);
      if (record !== undefined) yield record;
    }
  }

  add(record: JobRecord): void {
    this.#store.insertJob(record, isEnded(record.state) ? retainedBytes(record) : undefined);
    this.#replace(record, undefined);
  }

  /** Changes a live job; one that has ended leaves the book, and what it needed for a start only goes. */
  change(record: JobRecord, changes: Partial<JobRecord>): JobRecord {
    const changed = { ...record, ...changes };
    if (isEnded(changed.state)) return this.#end(changed, record);
    this.#store.updateJob(changed);
    this.#replace(changed, record);
    return changed;
  }

  #end(changed: JobRecord, before: JobRecord): JobRecord {
    const { contents } = this.#store;
    const ended = { ...changed, environment: contents.nothing(), script: undefined };
    this.#store.endJob(ended, retainedBytes(ended));
    const had = contents.of(before);
    this.#replace(ended, before);
    for (const content of had) if (!this.holdings.isUsed(content)) contents.drop(content);
    if (this.#dependents.has(ended.job)) {
      this.#unsettled.set(ended.job, ended);
      this.#undo.push(() => this.#unsettled.delete(ended.job));
    }
    return ended;
  }

  /** The number given last. */
  get latestJob(): JobNumber {
    return this.#latestJob;
  }

  /** Ended jobs have gone from the store. */
  forget(jobs: readonly EndedJob[]): void {
    for (const job of jobs) {
      this.#counts[job.state]--;
      this.ended.remove(job);
    }
  }

  commit(): void {
    this.#committedJob = this.#latestJob;
    this.#undo = [];
  }

  rollback(): void {
    for (let i = this.#undo.length - 1; i >= 0; i--) this.#undo[i]();
    if (this.#undo.length > 0) this.#arrayLimits.rebuild(this.#live.values());
    this.#undo = [];
  }

  #replace(now: JobRecord, before: JobRecord | undefined): void {
    // Looked up now: when the cycle is rolled back the store has it no more.
    const contents = isLive(now) === isLive(before) ? [] : this.#store.contents.of(before ?? now);
    this.#swap(before, now, contents);
    this.#undo.push(() => this.#swap(now, before, contents));
  }

  #swap(from: JobRecord | undefined, to: JobRecord | undefined, contents: readonly StoredContent[]): void {
    if (isLive(to) && !isLive(from)) {
      this.holdings.enter(to, contents);
      this.numbers.enter(to);
    }
    if (isLive(from) && !isLive(to)) {
      this.holdings.leave(from, contents);
      this.numbers.leave(from);
    }
    if (from !== undefined) {
      this.#counts[from.state]--;
      if (isLive(from)) this.#leave(from);
      else this.ended.remove(countedOf(from));
    }
    if (to !== undefined) {
      this.#counts[to.state]++;
      if (isLive(to)) this.#enter(to);
      else this.ended.add(countedOf(to));
    }
  }

  #enter(record: JobRecord): void {
    this.#live.set(record.job, record);
    this.#arrayLimits.enter(record);
    if (hasProcess(record.state)) this.#withProcess.add(record.job);
    for (const { job } of record.after) {
      const dependents = this.#dependents.get(job);
      if (dependents === undefined) this.#dependents.set(job, new Set([record.job]));
      else dependents.add(record.job);
    }
  }

  #leave(record: JobRecord): void {
    this.#live.delete(record.job);
    this.#arrayLimits.leave(record);
    this.#withProcess.delete(record.job);
    for (const { job } of record.after) {
      const dependents = this.#dependents.get(job);
      dependents?.delete(record.job);
      if (dependents?.size === 0) this.#dependents.delete(job);
    }
  }
}

function isLive(record: JobRecord | undefined): record is JobRecord {
  return record !== undefined && !isEnded(record.state);
}

function countedOf(record: JobRecord) {
  const { uid, state, attempt } = record;
  return { uid, state, wasStarted: attempt > 0, bytes: retainedBytes(record) };
}
