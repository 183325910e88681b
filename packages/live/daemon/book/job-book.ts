/**
 * Keeps the live jobs, in memory and on disk. Changes are written immediately, inside the cycle's
 * transaction; `rollback` restores the previous state. Ended jobs are only on disk.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { hasProcess, isEnded, JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import { isConditional } from "../contract/dependencies.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import { retainedBytes } from "../contract/submission.ts";
import type { StoredContent } from "../store/contents.ts";
import type { EndedJob } from "../store/kept.ts";
import { changesSpec } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { ArrayLimits } from "./array-limits.ts";
import { Delays } from "./delays.ts";
import { EndedJobs } from "./ended-jobs.ts";
import { Holdings } from "./holdings.ts";
import { JobLimits } from "./job-limits.ts";
import { KeptContents } from "./kept-contents.ts";
import { LiveNumbers } from "./rising-numbers.ts";
import { SameNames } from "./same-names.ts";

/** Maximum number of jobs of its name that a singleton says it waits for. */
const NAMED = 10;

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
  /** Another number after each change of a job. */
  revision = 0;
  readonly #arrayLimits = new ArrayLimits();
  readonly #delays = new Delays();
  readonly #names = new SameNames();
  readonly #counts: Record<JobState, number>;
  readonly holdings = new Holdings();
  /** Limits on the jobs of users, groups and queues. */
  readonly limits: JobLimits;
  readonly #keptContents = new KeptContents();
  /** Statistics of ended jobs. */
  readonly ended: EndedJobs;
  #undo: (() => void)[] = [];
  #latestJob: number;
  #committedJob: number;
  #latestPlace = 0;
  #committedPlace = 0;

  /** @param latestJob new numbers begin above it, even if the store's last job has a lower number */
  constructor(store: Store, latestJob = store.latestJob(), limits = new JobLimits()) {
    this.#store = store;
    this.limits = limits;
    this.#latestJob = latestJob;
    this.#committedJob = latestJob;
    const counts = store.kept.counts();
    this.ended = new EndedJobs(counts);
    this.#counts = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
    for (const { state, jobs } of counts) this.#counts[state] += jobs;
    for (const record of store.liveJobs()) {
      // The places of ended jobs no longer matter.
      this.#latestPlace = Math.max(this.#latestPlace, record.queueRank);
      this.#enter(record);
      this.limits.change(undefined, record);
      this.numbers.enter(record);
      this.#names.enter(record);
      this.holdings.enter(record, store.contents.of(record));
    }
    this.#committedPlace = this.#latestPlace;
    this.#findUnsettled();
    for (const { job, uid, ...ids } of store.kept.withContents(store.contents.nothing())) {
      this.#keptContents.enter(uid, job, store.contents.of(ids));
    }
  }

  /** Finds ended jobs whose dependents were not handled before the last front end stopped. */
  #findUnsettled(): void {
    const others = new Set<JobNumber>();
    for (const { after } of this.#live.values()) {
      for (const other of after)
        if (isConditional(other) && !this.#live.has(other.job)) others.add(other.job);
    }
    for (const job of others) {
      const ended = this.#store.job(job);
      if (ended !== undefined) this.#unsettled.set(job, ended);
    }
  }

  get liveCount(): number {
    return this.#live.size;
  }

  get counts(): Readonly<Record<JobState, number>> {
    return { ...this.#counts };
  }

  nextJob(): JobNumber {
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
    return this.#inOrder((record) => this.limits.isThrough(record) && this.isReady(record));
  }

  /** The same with the jobs that wait only for room of a limit of the configuration. */
  eligibleSoon(): JobRecord[] {
    return this.#inOrder((record) => this.isReady(record) && !this.limits.waitsForQuota(record));
  }

  /** Number of jobs that wait for a quota. */
  waitingForQuotas(): number {
    if (!this.limits.hasQuotas) return 0;
    return this.#inOrder((record) => this.isReady(record) && this.limits.waitsForQuota(record)).length;
  }

  #inOrder(isIn: (record: JobRecord) => boolean): JobRecord[] {
    const records: JobRecord[] = [];
    for (const record of this.#live.values()) if (isIn(record)) records.push(record);
    return records.sort((a, b) => (servedBefore(a, b) ? -1 : 1));
  }

  /** A job that waits only for a limit of the configuration enters its line, and is released later. */
  isEligible(record: JobRecord): boolean {
    return this.isReady(record) && this.limits.mayStart(record);
  }

  /**
   * Releases the jobs for which the limits of the configuration leave room; `takeReleased` returns only jobs
   * that other limits kept waiting.
   * @param canStart whether the machine as it is now lets the job start
   */
  settleLimits(canStart: (record: JobRecord) => boolean): readonly JobRecord[] {
    const released = this.limits.settle((job) => {
      const record = this.#live.get(job)!;
      return this.isReady(record) && canStart(record);
    });
    return released.map((job) => this.#live.get(job)!);
  }

  /**
   * All jobs that may start now, in service order. Those that the machine keeps from starting leave the room
   * that limits gave them.
   */
  allowed(canStart: (record: JobRecord) => boolean): readonly JobRecord[] {
    for (const record of this.#live.values()) {
      if (!this.isEligible(record) || canStart(record)) continue;
      this.limits.yield(record.job);
    }
    this.limits.unsettle();
    this.settleLimits(canStart);
    return this.eligible().filter(canStart);
  }

  /** Whether the job waits only because of a limit of the configuration. */
  waitsForLimit(record: JobRecord): boolean {
    return this.isReady(record) && !this.limits.isThrough(record);
  }

  /** Whether nothing keeps the job from the policy, as far as limits of the configuration do not matter. */
  isReady(record: JobRecord): boolean {
    return (
      record.state === "queued" &&
      record.notBeforeMs === undefined &&
      this.#arrayLimits.mayStart(record) &&
      !this.#waitsForJobs(record)
    );
  }

  #waitsForJobs(record: JobRecord): boolean {
    if (record.singleton && this.#names.before(record, 1).length > 0) return true;
    return record.after.some(({ job }) => this.#live.has(job) || this.#unsettled.has(job));
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
    const { state, notBeforeMs } = record;
    return state === "queued" && notBeforeMs === undefined && !this.#arrayLimits.mayStart(record);
  }

  /** Jobs that wait for a time, and perhaps for more. */
  get timed() {
    const records = [...this.#delays.jobs()].map((job) => this.#live.get(job)!);
    return records as readonly (JobRecord & { readonly notBeforeMs: number })[];
  }

  /** Jobs that only wait for a time. */
  delayed() {
    return this.timed.filter((record) => record.state === "queued" && !this.#waitsForJobs(record));
  }

  /** Unix time at which the next job need no longer wait for its begin or its next attempt; or Infinity. */
  nextDueMs(): number {
    return this.#delays.nextMs();
  }

  /** Takes the jobs that need no longer wait, the earliest first. The caller must change them at once. */
  takeDue(unixMs: number, most: number): JobRecord[] {
    return this.#delays.takeDue(unixMs, most).map((job) => this.#live.get(job)!);
  }

  /** Jobs that became eligible since the last call, because of limits of arrays or as singletons. */
  takeReleased(): readonly JobRecord[] {
    return [...this.#arrayLimits.takeReleased(), ...this.#names.takeReleased()]
      .map((job) => this.#live.get(job))
      .filter((record) => record !== undefined && this.isEligible(record)) as JobRecord[];
  }

  /** Live jobs that must end before this one starts. */
  waitsFor(record: JobRecord): JobNumber[] {
    const jobs = record.after.filter(({ job }) => this.#live.has(job)).map(({ job }) => job);
    return record.singleton ? [...jobs, ...this.#names.before(record, NAMED)] : jobs;
  }

  /** Live jobs that a new singleton would wait for. */
  namesakesOf(named: Pick<JobRecord, "uid" | "name">): JobNumber[] {
    return this.#names.all(named, NAMED);
  }

  /** The live job of the same user and name that comes next by number. */
  nextOfSameName(record: JobRecord): JobRecord | undefined {
    const job = this.#names.after(record);
    return job === undefined ? undefined : this.#live.get(job);
  }

  *dependentsOf(job: JobNumber): Generator<JobRecord, void> {
    for (const dependent of this.#dependents.get(job) ?? []) {
      const record = this.#live.get(dependent);
      if (record !== undefined) yield record;
    }
  }

  /** @param spec what rarely changes of it, as JSON for the store */
  add(record: JobRecord, spec?: string): void {
    this.#store.insertJob(record, isEnded(record.state) ? retainedBytes(record) : undefined, spec);
    this.#replace(record, undefined);
    if (isEnded(record.state)) this.#keepContents(record, this.#store.contents.of(record));
  }

  /** Changes a live job. When it ends, it leaves the book. */
  change(record: JobRecord, changes: Partial<JobRecord>): JobRecord {
    const changed = { ...record, ...changes };
    if (isEnded(changed.state)) return this.#end(changed, record);
    this.#store.updateJob(changed);
    if (changesSpec(changes)) this.#store.updateSpec(changed);
    this.#replace(changed, record);
    return changed;
  }

  #end(changed: JobRecord, before: JobRecord): JobRecord {
    const { contents } = this.#store;
    // A job of an earlier version cannot be run again, so nothing is kept for that.
    const isKept = changed.repeat !== undefined;
    const ended = isKept ? changed : { ...changed, environment: contents.nothing(), script: undefined };
    this.#store.endJob(ended, retainedBytes(ended));
    const had = contents.of(before);
    this.#replace(ended, before);
    if (isKept) this.#keepContents(ended, had);
    else this.#dropContents(had);
    if (this.#dependents.has(ended.job)) {
      this.#unsettled.set(ended.job, ended);
      this.#undo.push(() => this.#unsettled.delete(ended.job));
    }
    return ended;
  }

  /** Keeps environment and script of an ended job; earlier ones of its user lose theirs. */
  #keepContents({ uid, job }: JobRecord, contents: readonly StoredContent[]): void {
    const surplus = this.#keptContents.enter(uid, job, contents);
    this.#undo.push(() => this.#keptContents.leave(uid, job));
    for (const earlier of surplus) {
      this.#store.loseContents(earlier);
      const had = this.#keptContents.leave(uid, earlier);
      this.#undo.push(() => this.#keptContents.enter(uid, earlier, had));
      this.#dropContents(had);
    }
  }

  #dropContents(contents: readonly StoredContent[]): void {
    for (const content of contents) if (!this.holdings.isUsed(content)) this.#store.contents.drop(content);
  }

  /** Bytes in the store that a user has, or will have when all jobs have ended. */
  storeBytesOf(uid: number): number {
    const { ledger } = this.#store;
    return ledger.bytesOf(uid) + this.holdings.of(uid).storeBytes + this.#keptContents.bytesOf(uid);
  }

  /** The last number given. */
  get latestJob(): JobNumber {
    return this.#latestJob;
  }

  /** Drops environments and scripts that only these ended jobs had, after they were removed. */
  dropContentsOf(jobs: readonly EndedJob[]): void {
    for (const { uid, job } of jobs) this.#dropContents(this.#keptContents.of(uid, job));
  }

  /** Updates counts after ended jobs were removed from the store. */
  forget(jobs: readonly EndedJob[]): void {
    for (const job of jobs) {
      this.#keptContents.leave(job.uid, job.job);
      this.#counts[job.state]--;
      this.ended.remove(job);
    }
  }

  /** If the cycle is rolled back, this is undone together with the jobs. */
  alsoUndo(undo: () => void): void {
    this.#undo.push(undo);
  }

  commit(): void {
    this.#committedJob = this.#latestJob;
    this.#committedPlace = this.#latestPlace;
    this.#undo = [];
  }

  rollback(): void {
    for (let i = this.#undo.length - 1; i >= 0; i--) this.#undo[i]();
    if (this.#undo.length > 0) {
      this.#arrayLimits.rebuild(
        [...this.#live.values()].filter((record) => record.notBeforeMs === undefined),
      );
      this.limits.rebuild(this.#live.values());
    }
    this.#undo = [];
    this.#latestJob = this.#committedJob;
    this.#latestPlace = this.#committedPlace;
  }

  #replace(now: JobRecord, before: JobRecord | undefined): void {
    // Looked up now, because after a rollback the store no longer has them.
    const contents = isLive(now) === isLive(before) ? [] : this.#store.contents.of(before ?? now);
    this.#swap(before, now, contents);
    this.#undo.push(() => this.#swap(now, before, contents));
  }

  #swap(from: JobRecord | undefined, to: JobRecord | undefined, contents: readonly StoredContent[]): void {
    this.revision++;
    if (isLive(to) && !isLive(from)) {
      this.holdings.enter(to, contents);
      this.numbers.enter(to);
    }
    if (isLive(from) && !isLive(to)) {
      this.holdings.leave(from, contents);
      this.numbers.leave(from);
    }
    if (isLive(from) && !(isLive(to) && to.name === from.name)) this.#names.leave(from);
    if (isLive(to) && !(isLive(from) && from.name === to.name)) this.#names.enter(to);
    this.limits.change(from, to);
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
    this.#delays.enter(record);
    // A job that waits for a time takes no place that others of its array could use.
    if (record.notBeforeMs === undefined) this.#arrayLimits.enter(record);
    if (hasProcess(record.state)) this.#withProcess.add(record.job);
    for (const { job } of record.after) {
      const dependents = this.#dependents.get(job);
      if (dependents === undefined) this.#dependents.set(job, new Set([record.job]));
      else dependents.add(record.job);
    }
  }

  #leave(record: JobRecord): void {
    this.#live.delete(record.job);
    this.#delays.leave(record);
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
