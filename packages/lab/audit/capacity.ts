/**
 * Keeps the checker's own view of capacity: which processors are away because of outages, and which job holds
 * which resources.
 */
import type { Interruptions, Outage } from "@tutti/kernel/core/interruptions.ts";
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { MemoryRule } from "@tutti/kernel/core/policy.ts";

export class CapacityBook {
  readonly #outages: readonly Outage[];
  readonly #interruptions: Interruptions;
  #learntAtS = Number.NEGATIVE_INFINITY;

  constructor(interruptions: Interruptions = { outages: [], stops: [] }) {
    this.#interruptions = interruptions;
    this.#outages = interruptions.outages;
  }

  awayAt(timeS: number): number {
    return sumOf(this.#outages.filter(({ fromS, untilS }) => fromS <= timeS && timeS < untilS));
  }

  /**
   * Processors that will be away at an instant, as known now; if a loss has no known end, it does not end.
   */
  expectedAwayAt(timeS: number, nowS: number): number {
    return sumOf(this.#known(nowS).filter((outage) => outage.fromS <= timeS && timeS < knownEndS(outage)));
  }

  /** The times at which known outages begin, after now and before the given time. */
  beginnings(nowS: number, untilS: number): number[] {
    const ahead = this.#known(nowS).filter(({ fromS }) => fromS > nowS && fromS < untilS);
    return ahead.map(({ fromS }) => fromS);
  }

  /** Whether the known capacity has changed since the last call. */
  hasChanged(nowS: number): boolean {
    const sinceS = this.#learntAtS;
    this.#learntAtS = nowS;
    const isNew = (timeS: number) => timeS > sinceS && timeS <= nowS;
    return this.#outages.some(({ announcedS, fromS, untilS }) =>
      announcedS === undefined ? isNew(fromS) || isNew(untilS) : isNew(announcedS),
    );
  }

  /** Whether any of the processors is away, or has been away since the last instant. */
  isAway(stretches: readonly number[], sinceS: number, timeS: number): boolean {
    return this.#outages.some(
      ({ first, processors, fromS, untilS }) =>
        fromS <= timeS && untilS > sinceS && overlap([first, first + processors], stretches),
    );
  }

  /** Whether a stop of the job begins after `sinceS` and not after `timeS`. */
  isStopped(job: JobIndex, sinceS: number, timeS: number): boolean {
    const { stops } = this.#interruptions;
    return stops.some((stop) => stop.job === job && stop.fromS > sinceS && stop.fromS <= timeS);
  }
  isResumed(job: JobIndex, sinceS: number, timeS: number): boolean {
    const { stops } = this.#interruptions;
    return stops.some((stop) => stop.job === job && stop.untilS > sinceS && stop.untilS <= timeS);
  }

  #known(nowS: number): readonly Outage[] {
    return this.#outages.filter(
      (outage) => (outage.announcedS ?? outage.fromS) <= nowS && outage.untilS > nowS,
    );
  }
}

/** Which job holds which resources. */
export class ResourceBook {
  readonly #instance: Instance;
  readonly #holders: JobIndex[] = [];

  constructor(instance: Instance) {
    this.#instance = instance;
  }

  /** Whether the job's resources are free. */
  has(job: JobIndex): boolean {
    return this.hasBesides(job, this.#holders, this.#holders.length);
  }

  /** Whether the job's resources are free while the last `count` of the other jobs hold theirs. */
  hasBesides(job: JobIndex, others: readonly JobIndex[], count: number): boolean {
    const { resources = [], demand = [] } = this.#instance;
    return resources.every(({ amount }, k) => {
      let needed = demand[k][job];
      for (let i = others.length - count; i < others.length; i++) needed += demand[k][others[i]];
      return needed <= amount;
    });
  }

  take(job: JobIndex): void {
    this.#holders.push(job);
  }

  give(job: JobIndex): void {
    this.#holders.splice(this.#holders.indexOf(job), 1);
  }
}

/** Memory in use on each processor. */
export class MemoryBook {
  readonly #rule: MemoryRule | undefined;
  readonly #instance: Instance;
  readonly #usedKB: Float64Array;

  constructor(instance: Instance, rule: MemoryRule | undefined) {
    this.#instance = instance;
    this.#rule = rule;
    this.#usedKB = new Float64Array(rule === undefined ? 0 : instance.processors);
  }

  /** The largest amount in use on one processor. */
  get maxKB(): number {
    return this.#usedKB.reduce((max, usedKB) => Math.max(max, usedKB), 0);
  }

  /** Whether the job has room next to this much memory in use. */
  hasRoom(job: JobIndex, usedKB: number): boolean {
    return usedKB + this.#of(job) <= this.#limitKB;
  }

  /**
   * Adds or subtracts the memory of a job on its processors; describes the first processor that then has too
   * little.
   */
  count(job: JobIndex, stretches: readonly number[] | undefined, sign: number): string | undefined {
    if (this.#rule === undefined || stretches === undefined) return undefined;
    for (let i = 0; i < stretches.length; i += 2) {
      for (let processor = stretches[i]; processor < stretches[i + 1]; processor++) {
        this.#usedKB[processor] += sign * this.#of(job);
        if (sign < 0 || this.#usedKB[processor] <= this.#limitKB) continue;
        return `on processor ${processor}, whose jobs then need ${this.#usedKB[processor]} KB of its ${this.#limitKB} KB`;
      }
    }
    return undefined;
  }

  get #limitKB(): number {
    return this.#rule?.limitKB ?? Number.POSITIVE_INFINITY;
  }

  /**
   * The memory that counts for a job: its own value, or else that of the rule; whole KB, at most the limit.
   */
  #of(job: JobIndex): number {
    const statedKB = this.#instance.memoryKB?.[job] ?? -1;
    return Math.min(Math.ceil(statedKB > 0 ? statedKB : (this.#rule?.unknownKB ?? 0)), this.#limitKB);
  }
}

/** Whether two lists of stretches have a processor in common. */
export function overlap(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < a.length; i += 2) {
    for (let j = 0; j < b.length; j += 2) if (a[i] < b[j + 1] && b[j] < a[i + 1]) return true;
  }
  return false;
}

function knownEndS({ announcedS, untilS }: Outage): number {
  return announcedS === undefined ? Number.POSITIVE_INFINITY : untilS;
}

function sumOf(outages: readonly Outage[]): number {
  return outages.reduce((sum, { processors }) => sum + processors, 0);
}
