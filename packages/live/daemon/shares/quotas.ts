/**
 * Enforces quotas of CPU time: no job of a user or a group starts while what was used counts as much as the
 * quota, or more. Usage decays as for fair share, so after some time jobs may start again. Running jobs go
 * on.
 */

import type { Clock } from "@tutti/host/clock.ts";
import { timeToUsage } from "@tutti/kernel/core/fair-share.ts";
import type { JobBook } from "../book/job-book.ts";
import { HOUR_MS, type JobLimit } from "../book/job-limits.ts";
import { type Config, sharesOf } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";

/** What counts the usage. */
interface Account {
  /** Counts all usage up to now. */
  update(): void;
  /** Users with usage at the last update. */
  users(): Iterable<Owner>;
  /** What counted at the last update. */
  usedCpuMs(user: string): number;
}

type Owner = Pick<JobRecord, "uid" | "user">;

interface QuotaParts {
  readonly clock: Clock;
  readonly config: Pick<Config, "shares">;
}

/** CPUs that running jobs of a quota use now: at least and at most. */
interface Rate {
  least: number;
  most: number;
  /** Whether usage may decay more slowly than the formula says. */
  isRough: boolean;
}

/** Pause before a rough instant is computed again, so that coming nearer to it takes few cycles. */
const ROUGH_MS = 1000;

export class Quotas {
  readonly #account: Account;
  readonly #book: JobBook;
  readonly #clock: Clock;
  readonly #halfLifeS: number;
  #reached: ReadonlySet<JobLimit> = new Set();

  constructor(account: Account, book: JobBook, { clock, config }: QuotaParts) {
    this.#account = account;
    this.#book = book;
    this.#clock = clock;
    this.#halfLifeS = sharesOf(config).halfLifeS;
  }

  /** Lets jobs start or not, by what counts now. Called in every cycle, before decisions. */
  settle(scheduler: Scheduler): void {
    if (!this.#book.limits.hasQuotas) return;
    const before = this.#reached;
    this.#reached = new Set([...this.#used()].filter(isReached).map(([limit]) => limit));
    this.#book.limits.close(this.#reached);
    if ([...this.#reached].every((limit) => before.has(limit))) return;
    const { limits } = this.#book;
    for (const record of this.#book.all()) {
      if (record.state !== "queued" || !limits.isThrough(record) || this.reachedBy(record).length === 0)
        continue;
      scheduler.withdrawn(record, "waits for a quota of CPU time");
    }
  }

  /** Unix time at which the next quota with waiting jobs is reached or has room again; may be too early. */
  nextDueMs({ sharing }: Pick<Scheduler, "sharing">): number {
    if (!this.#book.limits.hasQuotas) return Number.POSITIVE_INFINITY;
    const rates = new Map<JobLimit, Rate>();
    for (const record of this.#book.withProcess()) {
      const isPaused = record.state === "paused";
      const cpus = isPaused ? 0 : cpusIn(record.nodes);
      for (const limit of this.#book.limits.quotasOf(record)) {
        const rate = rates.get(limit) ?? { least: 0, most: 0, isRough: false };
        rates.set(limit, rate);
        rate.most += cpus;
        // Under time sharing, gangs run only in their slots.
        if (sharing === "space") rate.least += cpus;
        else rate.isRough = true;
        if (isPaused) rate.isRough = true;
      }
    }
    let dueMs = Number.POSITIVE_INFINITY;
    for (const [limit, usedMs] of this.#used()) {
      if (this.#book.limits.waitingOf(limit) === 0) continue;
      const { least, most, isRough } = rates.get(limit) ?? { least: 0, most: 0, isRough: false };
      const cpus = this.#reached.has(limit) ? least : most;
      const afterS = timeToUsage(usedMs / 1000, limit.maxCpuMs / 1000, cpus, this.#halfLifeS);
      const afterMs = Math.max(isRough ? ROUGH_MS : 1, Math.ceil(1000 * afterS));
      dueMs = Math.min(dueMs, this.#clock.unixMs() + afterMs);
    }
    return dueMs;
  }

  /** The quotas that keep a waiting job from its start. */
  reachedBy(record: Pick<JobRecord, "job">): readonly JobLimit[] {
    return this.#book.limits.ofJob(record).filter((limit) => this.#reached.has(limit));
  }

  /** A quota that was reached, as of now. */
  explain(limit: JobLimit) {
    const usedCpuMs = this.#used().get(limit) ?? 0;
    const againS = timeToUsage(usedCpuMs / 1000, limit.maxCpuMs / 1000, 0, this.#halfLifeS);
    return {
      ...quotaOf(limit, usedCpuMs),
      halfLifeMs: 1000 * this.#halfLifeS,
      againAtMs: this.#clock.unixMs() + (Number.isFinite(againS) ? Math.ceil(1000 * againS) : 0),
    };
  }

  /** The quotas of all users and groups who have used some, or of one user. */
  list(user?: string) {
    return [...this.#used()]
      .filter(([{ of, name }]) => user === undefined || (of === "user" && name === user))
      .map(([limit, usedCpuMs]) => quotaOf(limit, usedCpuMs));
  }

  /** What counts now of each quota of users with usage. */
  #used(): ReadonlyMap<JobLimit, number> {
    this.#account.update();
    const used = new Map<JobLimit, number>();
    for (const owner of this.#account.users()) {
      const usedMs = this.#account.usedCpuMs(owner.user);
      for (const limit of this.#book.limits.quotasOf(owner)) used.set(limit, (used.get(limit) ?? 0) + usedMs);
    }
    return used;
  }
}

function isReached([{ maxCpuMs }, usedMs]: readonly [JobLimit, number]): boolean {
  return usedMs >= maxCpuMs;
}

function quotaOf({ of, name, maxCpuMs }: JobLimit, usedCpuMs: number) {
  return { of: of as "user" | "group", name, cpuHours: maxCpuMs / HOUR_MS, usedCpuMs };
}

/** CPUs of a job with a process. */
export function cpusIn(nodes: JobRecord["nodes"]): number {
  return nodes.reduce((sum, { cpus }) => sum + cpus.length, 0);
}
