/**
 * Keeps the live jobs, in memory and on disk. Changes are written immediately, inside the cycle's
 * transaction; `rollback` restores the previous state. Ended jobs are only on disk.
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
  /** In ascending order; the map is in the order of changes. */
  readonly numbers = new LiveNumbers();
  /** Index of the jobs with a process. */
  readonly #withProcess = new Set<JobNumber>();
  /** The dependents of a job. */
  readonly #dependents = new Map<JobNumber, Set<JobNumber>>();
  readonly #unsettled = new Map<JobNumber, JobRecord>();
  readonly #arrayLimits = new ArrayLimits();
  readonly #counts: Record<JobState, number>;
  readonly holdings = new Holdings();
  /** Statistics of ended jobs. */
  readonly ended: EndedJobs;
  #undo: (() => void)[] = [];
  #latestJob: number;
  #committedJob: number;
  #latestPlace: number;

  /** @param latestJob new numbers begin above it, even if the store's last job has a lower number */
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

  /** Finds ended jobs whose dependents were not handled before the last front end stopped. */
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

  /** The highest number given in this cycle; undefined: none was given. */
  get givenInCycle(): JobNumber | undefined {
    return this.#latestJob > this.#committedJob ? this.#latestJob : undefined;
  }

  /** Another front end has given numbers up to this one. */
  raise(job: JobNumber): void {
    if (job <= this.#latestJob) return;
    this.#latestJob = job;
    this.#committedJob = job;
  }

  nextQueueRank(): number {
    this.#undo.push(() => this.#latestPlace--);
    return ++this.#latestPlace;
  }

  /** A live job. */
  live(job: JobNumber): JobRecord | undefined {
    return this.#live.get(job);
  }

  /** A live or ended job. */
  find(job: JobNumber): JobRecord | undefined {
    return this.#live.get(job) ?? this.#store.job(job);
  }

  all(): IterableIterator<JobRecord> {
    return this.#live.values();
  }

  *withProcess(): IterableIterator<JobRecord> {
    for (const job of this.#withProcess) yield this.#live.get(job)!;
  }

  /** Memory requested by all jobs with a process together. */
  usedMemoryBytes(): number {
    let bytes = 0;
    for (const record of this.withProcess()) bytes += record.memoryBytes ?? 0;
    return bytes;
  }

  /** Jobs that the policy may know, in service order. */
  eligible(): JobRecord[] {
    const records: JobRecord[] = [];
    for (const record of this.#live.values()) if (this.isEligible(record)) records.push(record);
    return records.sort((a, b) => (servedBefore(a, b) ? -1 : 1));
  }

  isEligible(record: JobRecord): boolean {
    return (
      record.state === "queued" &&
      this.#arrayLimits.mayStart(record) &&
      !record.after.some(({ job }) => this.#live.has(job) || this.#unsettled.has(job))
    );
  }

  /** Ended jobs whose dependents have not been handled yet: some may have to be cancelled. */
  get unsettled(): ReadonlyMap<JobNumber, JobRecord> {
    return this.#unsettled;
  }

  /** All dependents of an ended job have been handled. */
  settled(job: JobNumber): void {
    const ended = this.#unsettled.get(job);
    if (ended === undefined) return;
    this.#unsettled.delete(job);
    this.#undo.push(() => this.#unsettled.set(job, ended));
  }

  /** Whether the job waits because of the limit of its array. */
  waitsForArray(record: JobRecord): boolean {
    return record.state === "queued" && !this.#arrayLimits.mayStart(record);
  }

  /** Jobs that became eligible since the last call because of the limits of their arrays. */
  takeReleased(): readonly JobRecord[] {
    return this.#arrayLimits
      .takeReleased()
      .map((job) => this.#live.get(job))
      .filter((record) => record !== undefined && this.isEligible(record)) as JobRecord[];
  }

  /** Live jobs that must end before this one starts. */
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

  /**
   * Changes a live job. When it ends, it leaves the book, and its environment and script are dropped unless
   * other jobs use them.
   */
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

  /** The last number given. */
  get latestJob(): JobNumber {
    return this.#latestJob;
  }

  /** Updates counts after ended jobs were removed from the store. */
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
    // Looked up now, because after a rollback the store no longer has them.
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
