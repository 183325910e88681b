/**
 * Lets jobs through to the policy so that all that were let through together stay within limits: on the jobs
 * of a user, of a group and of a queue. A job counts from when it is let through, whether it runs or waits
 * for processors, until it leaves. So a policy may start all that it knows, in any order, at one instant.
 *
 * Jobs are considered in service order. A job that would exceed a limit is passed over by jobs that do not
 * share this limit. Those that share it wait, so that the room that others leave is kept for it. A job that
 * has been passed often by jobs with which it shares another limit keeps the room there, too. It keeps room
 * of a wider limit only if it has room in all narrower ones: nobody blocks a queue by not using their own
 * share. So no job waits for ever, unless jobs that are served before it arrive for ever.
 *
 * A limit can be closed. Then none of its jobs is let through, and they keep no room of their other limits.
 */

export interface Limit {
  /** Different for each limit. */
  readonly key: string;
  readonly maxCpus: number;
  readonly maxJobs: number;
}

/** What a job counts as, and where it is in the service order. */
interface LimitedJob<L extends Limit> {
  readonly job: number;
  readonly cpus: number;
  /** From the narrowest to the widest; never empty. */
  readonly limits: readonly L[];
  readonly priority: number;
  readonly queueRank: number;
}

interface Entry<L extends Limit> extends LimitedJob<L> {
  isThrough: boolean;
  /** How many jobs that share a limit with it were let through before it, though they come after it. */
  passed: number;
}

/** What jobs that were let through use of a limit. */
interface Use {
  cpus: number;
  jobs: number;
}

/** Why a job is not let through: its limit has no room, or the room is kept for an earlier job. */
export interface Waits<L extends Limit> {
  readonly limit: L;
  /** The earlier job; undefined: the limit has no room. */
  readonly keptFor: number | undefined;
}

/** After this number of jobs that passed it, a job keeps room in all limits that it can reach. */
const PATIENCE = 100;

export class LimitGate<L extends Limit> {
  readonly #entries = new Map<number, Entry<L>>();
  readonly #uses = new Map<string, Use>();
  /** Waiting jobs in service order, by their limits: of those that share all limits, the first decides. */
  readonly #lanes = new Map<string, Entry<L>[]>();
  /** The job that keeps the room of a limit. */
  #keptFor = new Map<string, number>();
  #closed: ReadonlySet<L> = new Set();
  #isUnsettled = false;

  /** Whether `settle` may let jobs through. */
  get isUnsettled(): boolean {
    return this.#isUnsettled;
  }

  /** Outer conditions have changed: other jobs than before may be able to start. */
  unsettle(): void {
    this.#isUnsettled = this.#lanes.size > 0;
  }

  /** Number of jobs that were not let through. */
  get waitingCount(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) count += lane.length;
    return count;
  }

  /** Whether a limit has this room, and keeps it for nobody. */
  hasRoom(limit: L, cpus: number, jobs: number): boolean {
    if (this.#closed.has(limit)) return false;
    const { key, maxCpus, maxJobs } = limit;
    const use = this.#uses.get(key) ?? { cpus: 0, jobs: 0 };
    return !this.#keptFor.has(key) && use.cpus + cpus <= maxCpus && use.jobs + jobs <= maxJobs;
  }

  has(job: number): boolean {
    return this.#entries.has(job);
  }

  isThrough(job: number): boolean {
    return this.#entries.get(job)?.isThrough === true;
  }

  /** Closes these limits and opens all others. Jobs that were let through stay so until they yield. */
  close(limits: ReadonlySet<L>): void {
    for (const limit of this.#closed) if (!limits.has(limit)) this.unsettle();
    this.#closed = limits;
  }

  isClosed(limit: L): boolean {
    return this.#closed.has(limit);
  }

  /** A job that waits from now on. */
  offer(job: LimitedJob<L>): void {
    const entry = { ...job, isThrough: false, passed: 0 };
    this.#entries.set(job.job, entry);
    this.#wait(entry);
  }

  /** A job that runs already, even if this exceeds a limit. */
  hold(job: LimitedJob<L>): void {
    const entry = { ...job, isThrough: true, passed: 0 };
    this.#entries.set(job.job, entry);
    this.#count(entry, 1);
  }

  /** A job that was let through waits again, at its place in the service order. */
  yield(job: number): void {
    const entry = this.#entries.get(job);
    if (!entry?.isThrough) return;
    entry.isThrough = false;
    this.#count(entry, -1);
    this.#wait(entry);
  }

  leave(job: number): void {
    const entry = this.#entries.get(job);
    if (entry === undefined) return;
    this.#entries.delete(job);
    if (entry.isThrough) {
      this.#count(entry, -1);
      this.unsettle();
      return;
    }
    const key = laneOf(entry);
    const lane = this.#lanes.get(key)!;
    lane.splice(lane.indexOf(entry, positionIn(lane, entry)), 1);
    if (lane.length === 0) this.#lanes.delete(key);
    this.unsettle();
  }

  clear(): void {
    this.#entries.clear();
    this.#uses.clear();
    this.#lanes.clear();
    this.#keptFor.clear();
    this.#isUnsettled = false;
  }

  /**
   * Lets through all jobs for which there is room.
   * @param canStart whether the job could start now, as far as limits do not matter; others keep no room
   * @returns the jobs, in service order
   */
  settle(canStart: (job: number) => boolean): readonly number[] {
    const through: Entry<L>[] = [];
    // What a pass lets through may change which job keeps room, so another pass may let more through.
    while (this.#isUnsettled) {
      const more = this.#pass(canStart);
      this.#isUnsettled = more.length > 0;
      through.push(...more);
    }
    return through.sort((a, b) => (isBefore(a, b) ? -1 : 1)).map(({ job }) => job);
  }

  #pass(canStart: (job: number) => boolean): readonly Entry<L>[] {
    this.#keptFor = new Map();
    const through: Entry<L>[] = [];
    const passedOver: Entry<L>[] = [];
    const isOpen = ([{ limits }]: readonly Entry<L>[]) => !limits.some((limit) => this.#closed.has(limit));
    const open = [...this.#lanes.values()].filter(isOpen);
    const heads = open.flatMap((lane) => headsOf(lane, 0, canStart));
    heads.sort((a, b) => (isBefore(a.entry, b.entry) ? 1 : -1));
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      const { lane, at, entry } = head;
      const blocked = entry.limits.findIndex(
        (limit) => this.#keptFor.has(limit.key) || !this.#fits(entry, limit),
      );
      if (blocked >= 0) {
        const from = entry.passed < PATIENCE ? blocked : 0;
        for (const { key } of entry.limits.slice(from, blocked + 1))
          if (!this.#keptFor.has(key)) this.#keptFor.set(key, entry.job);
        passedOver.push(entry);
        continue;
      }
      entry.isThrough = true;
      this.#count(entry, 1);
      through.push(entry);
      for (const other of passedOver)
        if (other.limits.some((limit) => entry.limits.includes(limit))) other.passed++;
      for (const next of headsOf(lane, at + 1, canStart)) {
        let place = heads.length;
        while (place > 0 && isBefore(heads[place - 1].entry, next.entry)) place--;
        heads.splice(place, 0, next);
      }
    }
    this.#leaveLanes(through);
    return through;
  }

  /** Why a job that waits was not let through; undefined: not because of limits. */
  waitsFor(job: number): Waits<L> | undefined {
    const entry = this.#entries.get(job);
    if (entry === undefined || entry.isThrough) return undefined;
    const full = entry.limits.find((limit) => !this.#fits(entry, limit));
    if (full !== undefined) return { limit: full, keptFor: undefined };
    for (const limit of entry.limits) {
      const keptFor = this.#keptFor.get(limit.key);
      if (keptFor !== undefined && keptFor !== job) return { limit, keptFor };
    }
    return undefined;
  }

  #fits({ cpus }: Entry<L>, { key, maxCpus, maxJobs }: L): boolean {
    const use = this.#uses.get(key) ?? { cpus: 0, jobs: 0 };
    return use.cpus + cpus <= maxCpus && use.jobs + 1 <= maxJobs;
  }

  #count({ cpus, limits }: Entry<L>, sign: 1 | -1): void {
    for (const { key } of limits) {
      const use = this.#uses.get(key) ?? { cpus: 0, jobs: 0 };
      use.cpus += sign * cpus;
      use.jobs += sign;
      if (use.jobs === 0) this.#uses.delete(key);
      else this.#uses.set(key, use);
    }
  }

  #wait(entry: Entry<L>): void {
    const key = laneOf(entry);
    const lane = this.#lanes.get(key);
    if (lane === undefined) this.#lanes.set(key, [entry]);
    else lane.splice(positionIn(lane, entry), 0, entry);
    this.#isUnsettled = true;
  }

  /** At once, because many jobs may be let through together. Mostly they are the first of their lanes. */
  #leaveLanes(through: readonly Entry<L>[]): void {
    const left = new Map<string, number>();
    for (const key of through.map(laneOf)) left.set(key, (left.get(key) ?? 0) + 1);
    for (const [key, count] of left) {
      const lane = this.#lanes.get(key)!;
      const later = lane.findIndex(({ isThrough }) => !isThrough);
      const first = later < 0 ? lane.length : later;
      lane.splice(0, first);
      if (lane.length === 0) this.#lanes.delete(key);
      else if (first < count)
        this.#lanes.set(
          key,
          lane.filter(({ isThrough }) => !isThrough),
        );
    }
  }
}

/** The first job of a lane, from a position on, that could start if no limit existed; or none. */
function headsOf<L extends Limit>(
  lane: readonly Entry<L>[],
  from: number,
  canStart: (job: number) => boolean,
): { readonly lane: readonly Entry<L>[]; readonly at: number; readonly entry: Entry<L> }[] {
  for (let at = from; at < lane.length; at++) {
    const entry = lane[at];
    // A job that alone exceeds a limit, which was higher when it was submitted, keeps nobody waiting.
    const isPossible = entry.limits.every(({ maxCpus, maxJobs }) => entry.cpus <= maxCpus && maxJobs >= 1);
    if (isPossible && canStart(entry.job)) return [{ lane, at, entry }];
  }
  return [];
}

function laneOf<L extends Limit>({ limits }: Entry<L>): string {
  return limits.map(({ key }) => key).join("\n");
}

function isBefore<L extends Limit>(a: LimitedJob<L>, b: LimitedJob<L>): boolean {
  return a.priority === b.priority ? a.queueRank < b.queueRank : a.priority > b.priority;
}

/** Number of jobs of the lane that are served before this one. */
function positionIn<L extends Limit>(lane: readonly Entry<L>[], entry: Entry<L>): number {
  let low = 0;
  let high = lane.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(lane[middle], entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}
