/** The checker's own view of what there is: what is away, from the outages of the instance, and who has which resources. */
import type { Interruptions, Outage } from "../../core/interruptions.ts";
import type { Instance, JobIndex } from "../../core/jobs.ts";

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

  /** Processors that will be away at an instant by what is known now; a loss whose end nobody knows lasts. */
  expectedAwayAt(timeS: number, nowS: number): number {
    return sumOf(this.#known(nowS).filter((one) => one.fromS <= timeS && timeS < knownEndS(one)));
  }

  /** When known outages begin that lie ahead and before a time. */
  beginnings(nowS: number, untilS: number): number[] {
    const ahead = this.#known(nowS).filter(({ fromS }) => fromS > nowS && fromS < untilS);
    return ahead.map(({ fromS }) => fromS);
  }

  /** Whether capacity has become otherwise than was known when this was asked last. */
  hasChanged(nowS: number): boolean {
    const sinceS = this.#learntAtS;
    this.#learntAtS = nowS;
    const isNew = (timeS: number) => timeS > sinceS && timeS <= nowS;
    return this.#outages.some(({ announcedS, fromS, untilS }) =>
      announcedS === undefined ? isNew(fromS) || isNew(untilS) : isNew(announcedS),
    );
  }

  /** Whether the job is to be stopped, or to go on, at an instant. */
  isStopped(job: JobIndex, timeS: number): boolean {
    return this.#interruptions.stops.some((stop) => stop.job === job && stop.fromS === timeS);
  }
  isResumed(job: JobIndex, timeS: number): boolean {
    return this.#interruptions.stops.some((stop) => stop.job === job && stop.untilS === timeS);
  }

  #known(nowS: number): readonly Outage[] {
    return this.#outages.filter((one) => (one.announcedS ?? one.fromS) <= nowS && one.untilS > nowS);
  }
}

/** Who holds which resources. */
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

  /** Whether they are while the last `count` of other jobs hold theirs. */
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

function knownEndS({ announcedS, untilS }: Outage): number {
  return announcedS === undefined ? Number.POSITIVE_INFINITY : untilS;
}

function sumOf(outages: readonly Outage[]): number {
  return outages.reduce((sum, { processors }) => sum + processors, 0);
}
