/**
 * Counts what users have used of their shares: the CPUs of a job, for as long as it runs. Under time
 * sharing, a gang runs only in its own slots. Usage of ended attempts is on disk, in the same transaction
 * as their ends; that of running ones follows from their running times. So a front end that was killed
 * loses nothing.
 */

import type { Clock } from "@tutti/host/clock.ts";
import { FairShare, type RunningUsage, type WorkloadShares } from "@tutti/kernel/core/fair-share.ts";
import type { AttemptEnd, JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobBook } from "../book/job-book.ts";
import { type Config, sharesOf } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { OwnersShares } from "../scheduling/live-driver.ts";
import type { Store } from "../store/store.ts";
import { cpusIn, Quotas } from "./quotas.ts";

interface LiveSharesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Pick<Config, "shares">;
}

export class LiveShares implements OwnersShares {
  readonly #parts: LiveSharesParts;
  readonly #book: JobBook;
  readonly #ranMs: (job: JobNumber) => number;
  /** Users with usage, by name. */
  readonly #uids = new Map<string, number>();
  readonly quotas: Quotas;
  /** undefined: to be read again. */
  #shares: FairShare | undefined;

  /** @param ranMs running time so far of a job with a process */
  constructor(parts: LiveSharesParts, book: JobBook, ranMs: (job: JobNumber) => number) {
    this.#parts = parts;
    this.#book = book;
    this.#ranMs = ranMs;
    this.#shares = this.#stored();
    this.quotas = new Quotas(this, book, parts);
  }

  /** As of the last update. */
  get counted(): FairShare {
    this.#shares ??= this.#stored();
    return this.#shares;
  }

  #stored(): FairShare {
    const { store, config } = this.#parts;
    const shares = new FairShare(sharesOf(config));
    for (const { uid, user, cpuMs, atMs } of store.shareUsages()) {
      this.#uids.set(user, uid);
      shares.add(shares.userOf(user), cpuMs / 1000, atMs / 1000);
    }
    return shares;
  }

  /** An attempt has ended. Must be called inside a cycle. */
  charge({ uid, user, nodes, startedAtMs }: JobRecord, { ranMs, endedAtMs }: AttemptEnd): void {
    if (ranMs === 0) return;
    const shares = this.counted;
    const index = shares.userOf(user);
    this.#uids.set(user, uid);
    const tookMs = Math.max(ranMs, endedAtMs - (startedAtMs ?? endedAtMs));
    shares.charge(index, (cpusIn(nodes) * ranMs) / 1000, tookMs / 1000, endedAtMs / 1000);
    const { cpuS, atS } = shares.endedOf(index);
    this.#parts.store.setShareUsage({ uid, user, cpuMs: cpuS * 1000, atMs: atS * 1000 });
  }

  /** What was charged since the cycle began is not on disk. The disk may not be readable now. */
  rollback(): void {
    this.#shares = undefined;
  }

  /** Counts all usage up to now. */
  update(): void {
    const nowMs = this.#parts.clock.unixMs();
    const shares = this.counted;
    const running: RunningUsage[] = [];
    for (const { job, uid, user, nodes, startedAtMs = nowMs } of this.#book.withProcess()) {
      this.#uids.set(user, uid);
      const soFarMs = this.#ranMs(job);
      const cpuS = (cpusIn(nodes) * soFarMs) / 1000;
      running.push({
        user: shares.userOf(user),
        cpuS,
        ageS: Math.max(soFarMs, nowMs - startedAtMs) / 1000,
      });
    }
    shares.compute(nowMs / 1000, running);
  }

  /** Shares and usage as of now, for a simulation that begins now. */
  now(): WorkloadShares {
    this.update();
    const { nodes } = this.counted;
    const usedCpuS = Object.fromEntries(
      [...this.counted.users()].map(([user, index]) => [user, nodes[index].usageCpuS]),
    );
    return { ...sharesOf(this.#parts.config), usedCpuS };
  }

  /** Users with usage. */
  *users(): Generator<{ readonly uid: number; readonly user: string }> {
    for (const [user, uid] of this.#uids) yield { uid, user };
  }

  /** CPU time that a user has used, as it counted at the last update. */
  usedCpuMs(user: string): number {
    return 1000 * this.counted.nodes[this.counted.userOf(user)].usageCpuS;
  }

  /** Level of a user at the last update. */
  levelOf(user: string): number {
    return this.counted.levelOf(this.counted.userOf(user));
  }
}
