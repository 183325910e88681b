/**
 * Measures how much each gang uses its processors in its own slots, and computes its weight in the slots of
 * other gangs (Silva and Scherson 1999, section 2.3: Pr(T) = max(α·λ_IO, λ_COMP), grades averaged over five
 * slots, α = 2).
 *
 * One number is measured per slot: the gang's CPU time divided by the time of its processors, which is its
 * share of computing. The gang was blocked for the rest of the time. That counts as I/O, because waiting for
 * a message looks the same from outside.
 */

import type { GangGroups } from "@tutti/host/cgroups.ts";
import { Grades } from "@tutti/kernel/structures/grades.ts";
import { Background, type BackgroundMeans, backgroundMeans } from "./background.ts";
import type { Freezer } from "./freezers/freezer.ts";
import { cpuMsOf } from "./usage.ts";

const SLOTS_AVERAGED = 5;
const ALPHA = 2;
/** Weight of a gang in its own slot: the maximum that the kernel allows. */
const MAX_WEIGHT = { shares: 262_144, weight: 10_000 };
/**
 * Weight of a gang with priority 1 in the slots of other gangs. It is below 1 % of the maximum, which has
 * almost the effect of an idle class.
 */
const PER_PRIORITY = 10;

/** How a gang can run at lower priority than another, if at all. */
export type ConcurrentMeans = "cpu-group" | BackgroundMeans | "none";

export function concurrentMeans(groups: GangGroups): ConcurrentMeans {
  return groups.of("cpu") !== undefined ? "cpu-group" : (backgroundMeans() ?? "none");
}

interface Gang {
  readonly grades: Grades;
  /** CPU time when its last slot ended, as long as it stands still; NaN: unknown. */
  cpuMsAtStart: number;
  share: number;
  background: boolean;
}

export class GangShares {
  readonly #groups: GangGroups;
  readonly #gangs = new Map<string, Gang>();
  readonly #freezer: Freezer;
  #means: ConcurrentMeans | undefined;
  #background: Background | undefined;

  constructor(groups: GangGroups, freezer: Freezer) {
    this.#groups = groups;
    this.#freezer = freezer;
  }

  /** Whether one gang can run at lower priority than another here. The first call may take half a second. */
  get canWeigh(): boolean {
    this.#means ??= concurrentMeans(this.#groups);
    if (this.#means === "idle-class" || this.#means === "autogroup") {
      this.#background ??= new Background(this.#means, (gang) => this.#freezer.pids(gang));
    }
    return this.#means !== "none";
  }

  slotBegins(gang: string): void {
    const entry = this.#of(gang);
    if (Number.isNaN(entry.cpuMsAtStart)) entry.cpuMsAtStart = this.#cpuMsOf(gang);
  }

  /** @param ranMs time for which the gang had the slot */
  slotEnds(gang: string, ranMs: number, cpus: number): void {
    const entry = this.#of(gang);
    const cpuMs = this.#cpuMsOf(gang);
    const used = cpuMs - entry.cpuMsAtStart;
    entry.cpuMsAtStart = cpuMs;
    // A few ms say nothing, because the kernel counts in ticks.
    if (Number.isNaN(used) || ranMs < 5 || cpus === 0) return;
    entry.share = Math.min(1, Math.max(0, used / (ranMs * cpus)));
    entry.grades.record(0, entry.share, 1 - entry.share, 0, 0);
  }

  /** Share of its processors that the gang used in its last slot, and its grade of computing. */
  usage(gang: string): { readonly share: number; readonly gradeCompute: number } {
    const { share, grades } = this.#of(gang);
    return { share, gradeCompute: grades.grade(0, 0) };
  }

  /**
   * Gives the gang full priority, or low priority if it is in the background. If there are weights, the
   * gang's grades decide how low.
   * @returns false if it could not be put in the background
   */
  weigh(gang: string, background: boolean): boolean {
    const entry = this.#of(gang);
    if (!background && !entry.background) return true;
    // In the background it uses CPU time outside of its slots.
    entry.cpuMsAtStart = Number.NaN;
    if (this.#background !== undefined) {
      const were = this.#background.put(gang, background);
      // New processes that were missed are seen the next time.
      entry.background = background || were !== true;
      return were !== undefined;
    }
    entry.background = background;
    const priority = Math.max(ALPHA * entry.grades.grade(0, 1), entry.grades.grade(0, 0));
    const behind = Math.max(2, Math.round(PER_PRIORITY * priority));
    if (this.#groups.of("cpu")?.version === 1) {
      this.#groups.write("cpu", gang, "cpu.shares", String(background ? behind : MAX_WEIGHT.shares));
    } else this.#groups.write("cpu", gang, "cpu.weight", String(background ? behind : MAX_WEIGHT.weight));
    return true;
  }

  /**
   * Another process has changed the weights, so the next weight is written even if it is the same as before.
   */
  forgetWeights(): void {
    for (const gang of this.#gangs.values()) {
      gang.background = true;
      gang.cpuMsAtStart = Number.NaN;
    }
  }

  forget(gang: string): void {
    this.#gangs.delete(gang);
  }

  #cpuMsOf(gang: string): number {
    return cpuMsOf(this.#groups, gang) ?? Number.NaN;
  }

  #of(gang: string): Gang {
    let entry = this.#gangs.get(gang);
    if (entry === undefined) {
      entry = {
        grades: new Grades(1, SLOTS_AVERAGED),
        cpuMsAtStart: Number.NaN,
        share: 0,
        // This ensures that the first weight is written.
        background: true,
      };
      this.#gangs.set(gang, entry);
    }
    return entry;
  }
}
