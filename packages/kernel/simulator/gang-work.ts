/**
 * Computes how much service each gang needs, in whole slots: its run time plus the cost of its migrations.
 * Costs are summed in seconds before they are rounded, so two migrations of half a slot cost one slot.
 */
import { RuleViolation } from "../core/errors.ts";
import type { Instance, JobIndex } from "../core/jobs.ts";

/** Slots of work of a job: the smallest integer w ≥ 1 with w × slotS ≥ runS. */
export function slotsOfWork(runS: number, slotS: number): number {
  const slots = Math.ceil(runS / slotS);
  // Because of rounding, a quotient that should be an integer may be slightly larger.
  return slots > 1 && (slots - 1) * slotS >= runS ? slots - 1 : Math.max(1, slots);
}

export class GangWork {
  migrations = 0;
  /** Seconds of service that all migrations have cost. */
  lostS = 0;
  readonly #instance: Instance;
  readonly #slotS: number;
  readonly #migrationS: () => number | undefined;
  /** Seconds that a gang has lost; gangs that have never moved are not here. */
  readonly #lostS = new Map<JobIndex, number>();

  /**
   * @param migrationS the policy's declaration, read when a gang moves; undefined: gangs keep their
   *   processors
   */
  constructor(instance: Instance, slotS: number, migrationS: () => number | undefined) {
    this.#instance = instance;
    this.#slotS = slotS;
    this.#migrationS = migrationS;
  }

  /** Slots that the job needs in total. */
  slotsOf(job: JobIndex): number {
    const runS = this.#instance.runS[job];
    const lostS = this.lostS === 0 ? 0 : (this.#lostS.get(job) ?? 0);
    return slotsOfWork(lostS === 0 ? runS : runS + lostS, this.#slotS);
  }

  /** Seconds of service that a migration costs. Throws RuleViolation if the policy declares no migrations. */
  migrationCostS(job: JobIndex, nowS: number): number {
    const costS = this.#migrationS();
    if (costS !== undefined && costS >= 0) return costS;
    throw new RuleViolation(
      "migrated",
      job,
      nowS,
      `Cannot move job ${this.#instance.id[job] ?? job} to other processors: the policy's guarantees declare no migrationS, expected 0 or more seconds`,
    );
  }

  /** Counts a migration. Returns the number of additional slots that the job needs. */
  addMigration(job: JobIndex, costS: number): number {
    const before = this.slotsOf(job);
    this.migrations++;
    this.lostS += costS;
    this.#lostS.set(job, (this.#lostS.get(job) ?? 0) + costS);
    return this.slotsOf(job) - before;
  }
}
