/**
 * Enforces the configured limits on the jobs of a user, of a group and of a queue: keeps waiting jobs from
 * the policy until there is room (structures/limit-gate.ts), and counts how many jobs wait. To which groups a
 * user belongs is looked up when a job is submitted, and when the scheduler starts.
 */

import { type Limit, LimitGate, type Waits } from "@tutti/kernel/structures/limit-gate.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { hasProcess, isEnded } from "@tutti/protocol/states.ts";
import type { Config, LimitSettings } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";

export interface JobLimit extends Limit {
  readonly of: "user" | "group" | "queue";
  /** Of the user, the group or the queue. */
  readonly name: string;
  /** Maximum number of jobs that wait, whether queued or held. */
  readonly maxWaiting: number;
  /** Quota: CPU time that may have been used, as it counts now (shares/quotas.ts). */
  readonly maxCpuMs: number;
}

type Owner = Pick<JobRecord, "uid" | "user">;
type Owned = Owner & Pick<JobRecord, "queue">;
type Sized = Pick<JobRecord, "tasks" | "threads">;

const NONE: readonly JobLimit[] = [];
const NO_LIMIT = Number.POSITIVE_INFINITY;
export const HOUR_MS = 3_600_000;

export class JobLimits {
  readonly #config: Pick<Config, "limits" | "queues">;
  readonly #groupsOf: (owner: Owner) => readonly string[];
  readonly #isUsed: boolean;
  readonly hasQuotas: boolean;
  /** By key, so that each limit is one object. */
  readonly #limits = new Map<string, JobLimit>();
  /** Limits of each live job, as they were when it was submitted. */
  readonly #ofJobs = new Map<JobNumber, readonly JobLimit[]>();
  /** Limits of users, as they were when one last submitted a job. */
  readonly #ofUsers = new Map<number, readonly JobLimit[]>();
  /** Waiting jobs by the key of the limit. */
  readonly #waiting = new Map<string, number>();
  readonly #gate = new LimitGate<JobLimit>();

  constructor(
    config: Pick<Config, "limits" | "queues"> = { limits: {}, queues: [] },
    groupsOf: (owner: Owner) => readonly string[] = () => [],
  ) {
    this.#config = config;
    this.#groupsOf = groupsOf;
    this.#isUsed =
      Object.keys(config.limits).length > 0 || config.queues.some(({ limits }) => limits !== undefined);
    const { users = {}, groups = {}, ...everybody } = config.limits;
    this.hasQuotas = [everybody, ...Object.values(users), ...Object.values(groups)].some(
      ({ cpuHours }) => cpuHours !== undefined,
    );
  }

  /** Limits of a job, from the narrowest to the widest. */
  of({ uid, user, queue }: Owned): readonly JobLimit[] {
    if (!this.#isUsed) return NONE;
    const ofQueue = this.#config.queues.find(({ queueClass }) => queueClass.name === queue)?.limits;
    const limit = this.#limit("queue", queue, ofQueue ?? {});
    const ofOwner = this.ofOwner({ uid, user });
    return limit === undefined ? ofOwner : [...ofOwner, limit];
  }

  /** Limits of a live job, as they were when it was submitted. */
  ofJob({ job }: Pick<JobRecord, "job">): readonly JobLimit[] {
    return this.#ofJobs.get(job) ?? NONE;
  }

  /** Limits of a user and of the user's groups. */
  ofOwner({ uid, user }: Owner): readonly JobLimit[] {
    if (!this.#isUsed) return NONE;
    const { users = {}, groups = {}, ...everybody } = this.#config.limits;
    const own = Object.hasOwn(users, user) ? users[user] : {};
    const names = Object.keys(groups);
    const member = names.length === 0 ? [] : this.#groupsOf({ uid, user });
    return [
      this.#limit("user", user, { ...everybody, ...own }, `user ${uid}`),
      ...names
        .filter((name) => member.includes(name))
        .map((name) => this.#limit("group", name, groups[name])),
    ].filter((limit) => limit !== undefined);
  }

  /** Quotas of a user and of the user's groups, as they were when the user last submitted a job. */
  quotasOf(owner: Owner): readonly JobLimit[] {
    let limits = this.#ofUsers.get(owner.uid);
    if (limits === undefined) {
      limits = this.ofOwner(owner);
      this.#ofUsers.set(owner.uid, limits);
    }
    return limits.filter(({ maxCpuMs }) => maxCpuMs !== NO_LIMIT);
  }

  /** Lets no more jobs of these limits start, and those of others again. */
  close(limits: ReadonlySet<JobLimit>): void {
    this.#gate.close(limits);
  }

  /** Whether a quota keeps the job waiting: when it may start depends on usage. */
  waitsForQuota({ job }: Pick<JobRecord, "job">): boolean {
    const limits = this.#ofJobs.get(job) ?? NONE;
    return !this.#gate.isThrough(job) && limits.some((limit) => this.#gate.isClosed(limit));
  }

  /** Whether a quota would keep a new job waiting. */
  hasReachedQuota(job: Owned): boolean {
    return this.of(job).some((limit) => this.#gate.isClosed(limit));
  }

  /** Number of jobs that wait and count against a limit. */
  waitingOf({ key }: JobLimit): number {
    return this.#waiting.get(key) ?? 0;
  }

  /** A live job has entered, has changed, or has left. */
  change(from: JobRecord | undefined, to: JobRecord | undefined): void {
    if (!this.#isUsed) return;
    const before = liveOf(from);
    const after = liveOf(to);
    if (before !== undefined) this.#countWaiting(before, -1);
    const job = before?.job ?? after?.job;
    if (job === undefined) return;
    if (after === undefined || (before !== undefined && before.queue !== after.queue)) {
      this.#ofJobs.delete(job);
      this.#gate.leave(job);
    }
    if (after === undefined) return;
    if (!this.#ofJobs.has(job)) {
      const limits = this.of(after);
      this.#ofJobs.set(job, limits);
      this.#ofUsers.set(after.uid, limits);
    }
    this.#countWaiting(after, 1);
    if (before !== undefined && this.#gate.has(job) && countsAlike(before, after)) return;
    this.#gate.leave(job);
    const limits = this.#ofJobs.get(job)!;
    if (hasProcess(after.state) && limits.length > 0) this.#gate.hold(limited(after, limits));
  }

  /**
   * Whether limits let the job start. A job that asks for the first time waits until the next `settle`.
   * @param record a job that nothing else keeps from the policy
   */
  mayStart(record: JobRecord): boolean {
    const limits = this.#ofJobs.get(record.job) ?? NONE;
    if (limits.length === 0) return true;
    if (!this.#gate.has(record.job)) this.#gate.offer(limited(record, limits));
    return this.#gate.isThrough(record.job);
  }

  /** Whether limits let the job start, without a change. */
  isThrough({ job }: Pick<JobRecord, "job">): boolean {
    return (this.#ofJobs.get(job) ?? NONE).length === 0 || this.#gate.isThrough(job);
  }

  /** The policy gives the job back: others may take the room that it had. */
  yield(job: JobNumber): void {
    this.#gate.yield(job);
  }

  /** Number of jobs that wait for a limit. */
  get waitingCount(): number {
    return this.#gate.waitingCount;
  }

  /** Which of new jobs, that come last in this order, limits would let start at once. */
  haveRoom(jobs: readonly (Owned & Sized)[]): readonly boolean[] {
    return jobs.map(this.counter((job: Owned & Sized) => this.of(job)));
  }

  /** A function that says whether limits would let a job start at once, with those that had room before. */
  counter<Job extends Sized>(limitsOf: (job: Job) => readonly JobLimit[]): (job: Job) => boolean {
    const asked = new Map<JobLimit, { cpus: number; jobs: number }>();
    return (job) => {
      const limits = limitsOf(job);
      const cpus = processorsOf(job);
      const hasRoom = limits.every((limit) => {
        const more = asked.get(limit) ?? { cpus: 0, jobs: 0 };
        return this.#gate.hasRoom(limit, more.cpus + cpus, more.jobs + 1);
      });
      if (!hasRoom) return false;
      for (const limit of limits) {
        const more = asked.get(limit) ?? { cpus: 0, jobs: 0 };
        asked.set(limit, { cpus: more.cpus + cpus, jobs: more.jobs + 1 });
      }
      return true;
    };
  }

  /** Whether `settle` may let jobs start. */
  get isUnsettled(): boolean {
    return this.#gate.isUnsettled;
  }

  /** Other jobs than before may be able to start. */
  unsettle(): void {
    this.#gate.unsettle();
  }

  /** Lets jobs start for which there is room now. */
  settle(canStart: (job: JobNumber) => boolean): readonly JobNumber[] {
    return this.#gate.settle(canStart);
  }

  /** Because of which limit the job waits. */
  waitsFor({ job }: Pick<JobRecord, "job">): Waits<JobLimit> | undefined {
    return this.#gate.waitsFor(job);
  }

  /** Whether the job counts against the limit: it has started, or may start. */
  uses({ job }: Pick<JobRecord, "job">, limit: JobLimit): boolean {
    return this.#gate.isThrough(job) && this.#ofJobs.get(job)?.includes(limit) === true;
  }

  /** Starts from scratch after a rollback. */
  rebuild(live: Iterable<JobRecord>): void {
    this.#gate.clear();
    this.#ofJobs.clear();
    this.#waiting.clear();
    for (const record of live) this.change(undefined, record);
  }

  #limit(
    of: JobLimit["of"],
    name: string,
    settings: LimitSettings,
    key = `${of} ${name}`,
  ): JobLimit | undefined {
    const { runningCpus, runningJobs, waitingJobs, cpuHours = NO_LIMIT } = settings;
    if (Object.values(settings).every((value) => value === undefined)) return undefined;
    let limit = this.#limits.get(key);
    if (limit === undefined) {
      limit = {
        ...{ key, of, name },
        maxCpus: runningCpus ?? NO_LIMIT,
        maxJobs: runningJobs ?? NO_LIMIT,
        maxWaiting: waitingJobs ?? NO_LIMIT,
        maxCpuMs: cpuHours * HOUR_MS,
      };
      this.#limits.set(key, limit);
    }
    return limit;
  }

  #countWaiting({ job, state }: JobRecord, change: 1 | -1): void {
    if (hasProcess(state)) return;
    for (const { key } of this.#ofJobs.get(job) ?? NONE)
      this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + change);
  }
}

/**
 * Limits on the jobs of a user, apart from those of queues, and what the user's own jobs use of them.
 * @param usedCpuMs CPU time that the user has used, as it counts now
 */
export function limitsOf(
  owner: Owner,
  limits: JobLimits,
  live: Iterable<JobRecord>,
  usedCpuMs: () => number,
) {
  const all = limits.ofOwner(owner);
  if (all.length === 0) return [];
  const own = [...live].filter(({ uid }) => uid === owner.uid);
  return all.map((limit) => {
    const { of, name, maxCpus, maxJobs, maxWaiting, maxCpuMs } = limit;
    const using = own.filter((record) => limits.uses(record, limit));
    return {
      ...{ of: of as Exclude<JobLimit["of"], "queue">, name },
      ...(maxCpus !== NO_LIMIT && { runningCpus: maxCpus }),
      ...(maxJobs !== NO_LIMIT && { runningJobs: maxJobs }),
      ...(maxWaiting !== NO_LIMIT && { waitingJobs: maxWaiting }),
      ...(maxCpuMs !== NO_LIMIT && { cpuHours: maxCpuMs / HOUR_MS, usedCpuMs: usedCpuMs() }),
      usedCpus: using.reduce((sum, record) => sum + processorsOf(record), 0),
      usedJobs: using.length,
      waiting: own.filter(({ state }) => !hasProcess(state)).length,
    };
  });
}

function liveOf(record: JobRecord | undefined): JobRecord | undefined {
  return record !== undefined && !isEnded(record.state) ? record : undefined;
}

/** Whether a change leaves the job where it is: it keeps its room, or its place among those that wait. */
function countsAlike(before: JobRecord, after: JobRecord): boolean {
  if (hasProcess(before.state) || hasProcess(after.state))
    return hasProcess(before.state) && hasProcess(after.state);
  return (
    before.state === after.state &&
    before.priority === after.priority &&
    before.queueRank === after.queueRank &&
    before.notBeforeMs === after.notBeforeMs &&
    processorsOf(before) === processorsOf(after)
  );
}

function limited(record: JobRecord, limits: readonly JobLimit[]) {
  const { job, priority, queueRank } = record;
  return { job, cpus: processorsOf(record), limits, priority, queueRank };
}
