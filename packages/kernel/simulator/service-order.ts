/**
 * Gives a policy the waiting jobs in order of priority. Policies keep the jobs in the order in which they
 * arrive, or of their numbers. So the policy gets numbers of its own, which grow with each arrival. If a job
 * is served before others that wait, these are withdrawn and arrive again behind it, as they do live
 * (daemon/scheduling/scheduler.ts).
 *
 *   jobs      0  1  2  3      job 3 has a higher priority than 1 and 2, which wait
 *   numbers   0  4  5  3      1 and 2 were the numbers of jobs 1 and 2 before
 */
import { type JobIndex, type JobsView, NO_JOB, servedBefore } from "../core/jobs.ts";
import type { GangMachine, Policy, Pool } from "../core/policy.ts";
import { type JobDetails, JobTable } from "../machines/job-table.ts";

/** What a policy knows its jobs by. */
interface Numbers {
  /** NO_JOB if the number is not, or no longer, that of a job. */
  rowOf(number: number): JobIndex;
  /** −1 if the job has none. */
  numberOf(job: JobIndex): number;
  /** The job no longer waits. */
  leaveQueue(job: JobIndex): void;
}

/**
 * Makes a policy that serves jobs in order of priority.
 * @param priority present priority of each job; undefined: that of all jobs is the same
 * @param view the machine, with the policy's numbers of jobs
 */
export function makeInOrder<Machine>(
  machine: Machine,
  jobs: JobsView,
  priority: Int32Array | undefined,
  view: (machine: Machine, numbers: Numbers) => Machine,
  make: (machine: Machine, jobs: JobsView) => Policy,
): Policy {
  if (priority === undefined) return make(machine, jobs);
  const isReturning = (job: JobIndex) => (machine as Partial<GangMachine>).isReturning?.(job) === true;
  const ordered = new OrderedJobs(jobs, priority, isReturning);
  return ordered.following(make(view(machine, ordered), ordered.table));
}

class OrderedJobs implements Numbers {
  /** What the policy sees, by its numbers. */
  readonly table: JobTable;
  readonly #jobs: JobsView;
  readonly #priority: Int32Array;
  readonly #isReturning: (job: JobIndex) => boolean;
  /** Jobs by number. */
  readonly #rows: JobIndex[] = [];
  readonly #numbers = new Map<JobIndex, number>();
  /** Jobs that the policy knows and has not started. */
  readonly #waiting = new Set<JobIndex>();

  constructor(jobs: JobsView, priority: Int32Array, isReturning: (job: JobIndex) => boolean) {
    this.#jobs = jobs;
    this.#priority = priority;
    this.#isReturning = isReturning;
    const known = {
      shape: jobs.shape !== undefined,
      memory: jobs.memoryKB !== undefined,
      origin: jobs.origin !== undefined,
      kinds: jobs.demand.length,
      molding: jobs.molding !== undefined,
    };
    this.table = new JobTable(known, (details) => {
      for (const [number, job] of this.#rows.entries()) this.#copyDetails(details, job, number);
    });
    const { shares } = jobs;
    this.table.shares = shares && {
      update: () => shares.update(),
      level: (number) => shares.level(this.rowOf(number)),
      user: (number) => shares.user(this.rowOf(number)),
    };
  }

  rowOf(number: number): JobIndex {
    const job = this.#rows[number] ?? NO_JOB;
    return this.#numbers.get(job) === number ? job : NO_JOB;
  }

  numberOf(job: JobIndex): number {
    return this.#numbers.get(job) ?? -1;
  }

  leaveQueue(job: JobIndex): void {
    this.#waiting.delete(job);
    // It may have been started on another size.
    this.#copy(job, this.numberOf(job));
  }

  /** The same policy, whose hooks take rows. */
  following(policy: Policy): Policy {
    return {
      depart: (job) => policy.depart(this.numberOf(job)),
      withdraw: (job) => {
        this.#waiting.delete(job);
        policy.withdraw!(this.numberOf(job));
      },
      restore: (job, startS) => policy.restore!(this.#add(job), startS),
      decide: (arrived) => policy.decide(this.#inOrder(arrived, policy)),
    };
  }

  /** The numbers of jobs that arrive, and of those that arrive again because they are served after one. */
  #inOrder(arrived: readonly JobIndex[], policy: Policy): number[] {
    const isBefore = (a: JobIndex, b: JobIndex) => servedBefore(this.#priority, a, b);
    // A gang that was paused keeps its number. It goes before the queue.
    const returning = arrived.filter(this.#isReturning);
    for (const job of returning) this.#copy(job, this.numberOf(job));
    const coming = arrived.filter((job) => !this.#isReturning(job));
    coming.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    const behind = coming.length === 0 ? [] : [...this.#waiting].filter((job) => isBefore(coming[0], job));
    for (const job of behind) policy.withdraw!(this.numberOf(job));
    const queued = [...coming, ...behind].sort((a, b) => (isBefore(a, b) ? -1 : 1));
    for (const job of queued) this.#waiting.add(job);
    return [...returning.map((job) => this.numberOf(job)), ...queued.map((job) => this.#add(job))];
  }

  #add(job: JobIndex): number {
    const number = this.#rows.push(job) - 1;
    this.#numbers.set(job, number);
    this.#copy(job, number);
    return number;
  }

  #copy(job: JobIndex, number: number): void {
    const { table } = this;
    const details = table.reserve(number);
    table.size[number] = this.#jobs.size[job];
    table.submitS[number] = this.#jobs.submitS[job];
    table.estimateS[number] = this.#jobs.estimateS[job];
    if (details !== undefined) this.#copyDetails(details, job, number);
  }

  #copyDetails(details: JobDetails, job: JobIndex, number: number): void {
    const { memoryKB, demand } = this.#jobs;
    if (details.memoryKB !== undefined) details.memoryKB[number] = memoryKB![job];
    for (const [k, column] of details.demand.entries()) column[number] = demand[k][job];
    for (const group of ["shape", "origin", "molding"] as const) {
      const to: Record<string, { [row: number]: number }> = details[group] ?? {};
      const from = this.#jobs[group] as Record<string, ArrayLike<number>> | undefined;
      for (const column of Object.keys(to)) to[column][number] = from![column][job];
    }
  }
}

/** A pool, with the policy's numbers of jobs. */
export function poolInOrder(pool: Pool, numbers: Numbers): Pool {
  return {
    get processors() {
      return pool.processors;
    },
    get free() {
      return pool.free;
    },
    get nowS() {
      return pool.nowS;
    },
    get outages() {
      return pool.outages;
    },
    resources: pool.resources,
    fits: (number, size) => pool.fits(numbers.rowOf(number), size),
    start: (number, rule, size) => {
      const job = numbers.rowOf(number);
      pool.start(job, rule, size);
      numbers.leaveQueue(job);
    },
    promise: (number, startS) => pool.promise(numbers.rowOf(number), startS),
    wakeAt: (timeS) => pool.wakeAt(timeS),
  };
}

/** A matrix, with the policy's numbers of jobs. */
export function gangsInOrder(machine: GangMachine, numbers: Numbers): GangMachine {
  const { limits } = machine;
  const rowOf = (number: number) => numbers.rowOf(number);
  return {
    get processors() {
      return machine.processors;
    },
    get rowCount() {
      return machine.rowCount;
    },
    get nowS() {
      return machine.nowS;
    },
    slotS: machine.slotS,
    switchS: machine.switchS,
    movesGangs: machine.movesGangs,
    limits: limits && {
      maxRows: limits.maxRows,
      fits: (number) => limits.fits(rowOf(number)),
      ...(limits.areThere && { areThere: (first, end) => limits.areThere!(first, end) }),
    },
    isReturning: (number) => machine.isReturning?.(rowOf(number)) === true,
    rowAt: (position) => machine.rowAt(position),
    positionOf: (row) => machine.positionOf(row),
    firstRun: (row) => machine.firstRun(row),
    nextRun: (run) => machine.nextRun(run),
    runBefore: (row, processor) => machine.runBefore(row, processor),
    runJob: (run) => numbers.numberOf(machine.runJob(run)),
    runRow: (run) => machine.runRow(run),
    runFirst: (run) => machine.runFirst(run),
    runSize: (run) => machine.runSize(run),
    nextStretch: (run) => machine.nextStretch(run),
    firstRunOfJob: (number) => machine.firstRunOfJob(rowOf(number)),
    nextRunOfJob: (run) => machine.nextRunOfJob(run),
    slotsOf: (number) => machine.slotsOf(rowOf(number)),
    firstIdle: (processor) => machine.firstIdle(processor),
    isIdle: (row, first, end) => machine.isIdle(row, first, end),
    addRow: () => machine.addRow(),
    deleteRow: (row) => machine.deleteRow(row),
    place: (number, row, first, size) => {
      machine.place(rowOf(number), row, first, size);
      numbers.leaveQueue(rowOf(number));
    },
    placeStretches: (number, row, stretches, count) => {
      machine.placeStretches(rowOf(number), row, stretches, count);
      numbers.leaveQueue(rowOf(number));
    },
    release: (number, row) => machine.release(rowOf(number), row),
    exchange: (a, b, first, end) => machine.exchange(a, b, first, end),
    migrate: (number, row, first) => machine.migrate(rowOf(number), row, first),
    servedSlots: (number) => machine.servedSlots(rowOf(number)),
    promise: (number, startS) => machine.promise(rowOf(number), startS),
  };
}
