/**
 * Keeps outages and stops (core/interruptions.ts) in order of time, so that a clock can apply them to its
 * machine and its policy.
 */
import type { Interruptions, KnownOutage, Outage, Stop } from "../core/interruptions.ts";
import type { JobIndex } from "../core/jobs.ts";
import type { Policy } from "../core/policy.ts";
import type { Pause } from "../core/schedule.ts";
import { type TimedEvent, TimedEvents } from "./timed-events.ts";

/** How a machine reacts to them. */
export interface Interruptible {
  /** Policies may know of the outage from now on. */
  announce(outage: Outage): void;
  /** The outage begins. Returns the jobs that were stopped because of it. */
  lose(outage: Outage): readonly JobIndex[];
  /** The outage ends. */
  regain(outage: Outage): void;
  /** Stops a running job. Returns false if it does not run. */
  suspend(job: JobIndex): boolean;
  /** A job that was stopped waits again. */
  resume(job: JobIndex): void;
}

/** The events of one instant: 0 announcements, 1 what comes back, 2 what goes away. */
export class InterruptionQueue extends TimedEvents<Interruptible> {
  constructor({ outages = [], stops = [] }: Partial<Interruptions> = {}) {
    const events: TimedEvent<Interruptible>[] = [];
    for (const outage of outages) {
      const { announcedS, fromS, untilS } = outage;
      if (announcedS !== undefined) {
        events.push({ timeS: announcedS, rank: 0, happen: (machine) => machine.announce(outage) });
      }
      events.push({ timeS: fromS, rank: 2, happen: (machine, policy) => goAway(machine, policy, outage) });
      events.push({ timeS: untilS, rank: 1, happen: (machine) => machine.regain(outage) });
    }
    for (const { job, fromS, untilS } of stops) {
      let isStopped = false;
      const stop = (machine: Interruptible, policy: Policy): void => {
        isStopped = machine.suspend(job);
        if (isStopped) policy.depart(job);
      };
      events.push({ timeS: fromS, rank: 2, happen: stop });
      events.push({ timeS: untilS, rank: 1, happen: (machine) => isStopped && machine.resume(job) });
    }
    super(events);
  }
}

/** How a machine freezes jobs. */
interface Freezing {
  /** The job stands still. Returns false if it does not run. */
  freeze(job: JobIndex, policy: Policy): boolean;
  thaw(job: JobIndex): void;
}

export class FreezeQueue extends TimedEvents<Freezing> {
  constructor(freezes: readonly Stop[] = []) {
    super(
      freezes.flatMap(({ job, fromS, untilS }) => {
        let isFrozen = false;
        const freeze = (machine: Freezing, policy: Policy) => {
          isFrozen = machine.freeze(job, policy);
        };
        const thaw = (machine: Freezing) => {
          if (isFrozen) machine.thaw(job);
        };
        return [
          { timeS: untilS, rank: 0, happen: thaw },
          { timeS: fromS, rank: 1, happen: freeze },
        ];
      }),
    );
  }
}

function goAway(machine: Interruptible, policy: Policy, outage: Outage): void {
  const stopped = [...machine.lose(outage)].sort((a, b) => a - b);
  for (const job of stopped) policy.depart(job);
  for (const job of stopped) machine.resume(job);
}

/** What policies know about outages that are not over. Each change makes a new list. */
export class KnownOutages {
  readonly #known = new Map<Outage, KnownOutage>();

  add(outage: Outage, untilS: number): readonly KnownOutage[] {
    const { processors, fromS } = outage;
    this.#known.set(outage, { processors, fromS, untilS });
    return [...this.#known.values()];
  }

  remove(outage: Outage): readonly KnownOutage[] {
    this.#known.delete(outage);
    return [...this.#known.values()];
  }
}

/** The times during which started jobs were stopped. */
export class Pauses {
  readonly #list: Pause[] = [];
  readonly #open = new Map<JobIndex, Pause>();

  /** In order of their beginning; undefined if there are none. */
  get list(): readonly Pause[] | undefined {
    return this.#list.length > 0 ? this.#list : undefined;
  }

  begin(job: JobIndex, nowS: number): void {
    const pause = { job, fromS: nowS, untilS: Number.NaN };
    this.#list.push(pause);
    this.#open.set(job, pause);
  }

  /** Whether any job is stopped, or waits to continue. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The job continues. Returns false if it was not stopped. */
  end(job: JobIndex, nowS: number): boolean {
    const pause = this.#open.get(job);
    if (pause === undefined) return false;
    pause.untilS = nowS;
    return this.#open.delete(job);
  }
}
