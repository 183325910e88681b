/**
 * Keeps the checker's own books of what keeps jobs from starting or running from outside: drains, holds,
 * windows of the whole machine, edits, pauses, and limits. A paused job of space sharing keeps its
 * processors; a paused gang leaves its rows and keeps only its resources.
 */
import type { Stop, Withdrawal } from "@tutti/kernel/core/interruptions.ts";
import { type Instance, type JobIndex, queueOf, userOf } from "@tutti/kernel/core/jobs.ts";
import { limitsFor } from "@tutti/kernel/core/limits/job-limits.ts";
import type { Guarantees } from "@tutti/kernel/core/policy.ts";

/** What the checker knows about its jobs. */
interface WithheldJobs {
  /** Whether the job waits for its start, or has not arrived, so that it can be held or changed. */
  isInQueue(job: JobIndex): boolean;
  /** Called for each job that has been edited. */
  changed(job: JobIndex): void;
}

export class WithheldBook {
  readonly #instance: Instance;
  readonly #jobs: WithheldJobs;
  /** By their beginning; the first ones have begun. */
  readonly #withdrawals: readonly Withdrawal[];
  #begun = 0;
  /** Withdrawals that have found their job in the queue, or not yet there. */
  readonly #away = new Map<JobIndex, Withdrawal[]>();
  readonly #freezes = new Map<JobIndex, Stop[]>();
  /** All pauses by their beginning; the first ones have begun. */
  readonly #pauses: readonly Stop[];
  #begunPauses = 0;
  /** Gangs that are paused, with the pause. */
  readonly #paused = new Map<JobIndex, Stop>();
  /** When each gang was last continued, in seconds. */
  readonly #continuedS = new Map<JobIndex, number>();
  readonly #queues = new Map<JobIndex, string>();
  /** Jobs that have started and not ended. */
  readonly #started = new Set<JobIndex>();
  #seenS = Number.NEGATIVE_INFINITY;

  /** @param instance whose jobs are changed by edits */
  constructor(instance: Instance, jobs: WithheldJobs) {
    this.#instance = instance;
    this.#jobs = jobs;
    const { withdrawals = [], freezes = [] } = instance.interruptions ?? {};
    this.#withdrawals = [...withdrawals].sort((a, b) => a.fromS - b.fromS);
    this.#pauses = [...freezes].sort((a, b) => a.fromS - b.fromS);
    for (const freeze of this.#pauses) {
      const own = this.#freezes.get(freeze.job);
      if (own === undefined) this.#freezes.set(freeze.job, [freeze]);
      else own.push(freeze);
    }
  }

  /**
   * What has begun by the instant takes effect. Returns whether anything has begun or ended since the last
   * call.
   */
  advance(timeS: number): boolean {
    if (timeS === this.#seenS) return false;
    for (; this.#withdrawals[this.#begun]?.fromS <= timeS; this.#begun++) {
      const withdrawal = this.#withdrawals[this.#begun];
      if (!this.#jobs.isInQueue(withdrawal.job)) continue;
      const own = this.#away.get(withdrawal.job);
      if (own === undefined) this.#away.set(withdrawal.job, [withdrawal]);
      else own.push(withdrawal);
      if (withdrawal.change === undefined) continue;
      this.#edit(withdrawal);
      this.#jobs.changed(withdrawal.job);
    }
    const { drains = [] } = this.#instance.interruptions ?? {};
    const isNew = (atS: number) => atS > this.#seenS && atS <= timeS;
    const hasNews = [...drains, ...this.#withdrawals].some(
      ({ fromS, untilS }) => isNew(fromS) || isNew(untilS),
    );
    this.#seenS = timeS;
    return hasNews;
  }

  /** The same for the last withdrawal that has begun before the instant. */
  advanceBefore(timeS: number): boolean {
    const last = this.#withdrawals.findLast(({ fromS }) => fromS < timeS);
    return last !== undefined && last.fromS > this.#seenS && this.advance(last.fromS);
  }

  #edit({ job, change = {} }: Withdrawal): void {
    const { size, estimateS, priority, resources = [], demand = [] } = this.#instance;
    if (change.size !== undefined) size[job] = change.size;
    if (change.estimateS !== undefined) estimateS[job] = change.estimateS;
    if (change.priority !== undefined) priority![job] = change.priority;
    if (change.queue !== undefined) this.#queues.set(job, change.queue);
    if (change.use === undefined) return;
    for (const [k, { name }] of resources.entries()) demand[k][job] = change.use[name] ?? 0;
  }

  isDrained(timeS: number): boolean {
    const { drains = [] } = this.#instance.interruptions ?? {};
    return drains.some(({ fromS, untilS }) => fromS <= timeS && timeS < untilS);
  }

  isHeld(job: JobIndex, timeS: number): boolean {
    return this.#away.get(job)?.some(({ untilS }) => timeS < untilS) === true;
  }

  /** Whether the job, or all that wait for it, may be left at the end of the run. */
  mayStay(job: JobIndex): boolean {
    const { drains = [], freezes = [] } = this.#instance.interruptions ?? {};
    const isEndless = ({ untilS }: { readonly untilS: number }) => untilS === Number.POSITIVE_INFINITY;
    return drains.some(isEndless) || freezes.some(isEndless) || this.#away.get(job)?.some(isEndless) === true;
  }

  /**
   * How a job runs that has its processors from an instant on and has so much left of its run time: when it
   * ends, what is left at another instant, and its pauses until then.
   */
  run(job: JobIndex, fromS: number, leftS: number, atS: number) {
    let endS = fromS + leftS;
    const pauses: { job: JobIndex; fromS: number; untilS: number }[] = [];
    for (const freeze of this.#freezes.get(job) ?? []) {
      if (freeze.fromS <= fromS || freeze.fromS >= endS || freeze.fromS >= atS) continue;
      const stillS = endS - freeze.fromS;
      endS = freeze.untilS + stillS;
      if (atS < freeze.untilS) {
        pauses.push({ job, fromS: freeze.fromS, untilS: Number.NaN });
        return { endS, leftS: stillS, pauses };
      }
      pauses.push({ job, fromS: freeze.fromS, untilS: freeze.untilS });
    }
    return { endS, leftS: endS - atS, pauses };
  }

  /** A gang leaves its rows. Returns whether a pause that has begun after `sinceS` requests that. */
  pause(job: JobIndex, sinceS: number, timeS: number): boolean {
    const continuedS = this.#continuedS.get(job) ?? Number.NEGATIVE_INFINITY;
    const isDue = ({ fromS }: Stop) => fromS > sinceS && fromS <= timeS && fromS >= continuedS;
    const pause = this.#freezes.get(job)?.find(isDue);
    if (pause !== undefined) this.#paused.set(job, pause);
    return pause !== undefined;
  }

  isPaused(job: JobIndex): boolean {
    return this.#paused.has(job);
  }

  /** A paused gang may be placed again. Returns since when, in seconds; undefined if that is not true. */
  continue(job: JobIndex, sinceS: number, timeS: number): number | undefined {
    const { untilS = Number.NaN } = this.#paused.get(job) ?? {};
    if (!(untilS > sinceS && untilS <= timeS)) return undefined;
    this.#paused.delete(job);
    this.#continuedS.set(job, untilS);
    return untilS;
  }

  /** The pauses that have begun since the last call and are not over. */
  begunPauses(timeS: number): readonly Stop[] {
    const first = this.#begunPauses;
    while (this.#pauses[this.#begunPauses]?.fromS <= timeS) this.#begunPauses++;
    return this.#pauses.slice(first, this.#begunPauses).filter(({ untilS }) => untilS > timeS);
  }

  /** The job starts. Returns the limit that is exceeded by this. */
  start(job: JobIndex): string | undefined {
    if (this.#started.has(job)) return undefined;
    this.#started.add(job);
    const { workload, workloadRow } = this.#instance;
    if (workload.limits?.isThrough?.[workloadRow?.[job] ?? job] === 1) return undefined;
    for (const [key, { runningCpus = Infinity, runningJobs = Infinity }] of this.#limitsOf(job)) {
      const sharing = [...this.#started].filter((other) =>
        this.#limitsOf(other).some(([name]) => name === key),
      );
      const cpus = sharing.reduce((sum, other) => sum + this.#cpusOf(other), 0);
      if (cpus > runningCpus || sharing.length > runningJobs) return key;
    }
    return undefined;
  }

  end(job: JobIndex): void {
    this.#started.delete(job);
  }

  #limitsOf(job: JobIndex): ReturnType<typeof limitsFor> {
    const { workload, workloadRow } = this.#instance;
    if (workload.limits === undefined) return [];
    const row = workloadRow?.[job] ?? job;
    return limitsFor(workload.limits, userOf(workload, row), this.#queues.get(job) ?? queueOf(workload, row));
  }

  /** Limits count a job as the live scheduler does. */
  #cpusOf(job: JobIndex): number {
    const { workload, workloadRow, size } = this.#instance;
    return workload.limits?.cpus?.[workloadRow?.[job] ?? job] ?? size[job];
  }
}

/**
 * The claims that a checker can test. Limits decide which jobs a policy knows, and nobody knows in advance
 * how long a pause lasts.
 */
export function checkable(guarantees: Guarantees, { workload, interruptions }: Instance): Guarantees {
  const hasLimits = workload.limits !== undefined;
  if (hasLimits) return { ...guarantees, headNeverFits: false, workConserving: false, keepsPromises: false };
  return interruptions?.freezes?.length ? { ...guarantees, keepsPromises: false } : guarantees;
}
