/**
 * Concurrent Gang's priorities (Silva and Scherson 1999, section 2.2) for turns by consent: what a gang did
 * lately says how long it will hold units, so that short holders can fill what others leave.
 */
import { integer, number } from "@tutti/kernel/core/parameters.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";
import { Grades } from "@tutti/kernel/structures/grades.ts";
import type { PhasesGangsView, PhasesMachine, PhasesPolicyDefinition, Turn } from "../contract.ts";
import { MOST, MOST_RULES, mostOf, POOL_RULES, PoolPolicy, SPLIT } from "./pool.ts";

class ByGrade extends PoolPolicy {
  readonly #grades: Grades;
  readonly #alpha: number;
  readonly #priority: Float64Array;
  /** By gang: when it got its latest units, and when it yielded them. */
  readonly #gotMs: Float64Array;
  readonly #yieldedMs: Float64Array;

  constructor(machine: PhasesMachine, gangs: PhasesGangsView, parameters: ParameterValues) {
    super(machine, gangs, parameters);
    this.#alpha = Number(parameters.alpha);
    this.#grades = new Grades(gangs.count, Number(parameters.turns));
    this.#priority = new Float64Array(gangs.count);
    this.#gotMs = new Float64Array(gangs.count);
    this.#yieldedMs = new Float64Array(gangs.count);
  }

  protected override began(turn: Turn): void {
    this.#gotMs[this.gangs.gangOf[turn]] = this.machine.nowMs;
  }

  yielded(turn: Turn): void {
    this.#yieldedMs[this.gangs.gangOf[turn]] = this.machine.nowMs;
  }

  override wanted(turn: Turn): void {
    super.wanted(turn);
    const gang = this.gangs.gangOf[turn];
    const heldMs = this.#yieldedMs[gang] - this.#gotMs[gang];
    const waitedMs = this.machine.nowMs - this.#yieldedMs[gang];
    if (!(heldMs + waitedMs > 0) || this.lastOf(gang) === Number.NEGATIVE_INFINITY) return;
    const held = heldMs / (heldMs + waitedMs);
    this.#grades.record(gang, held, 1 - held, 0, 0);
    this.#priority[gang] = Math.max(this.#alpha * this.#grades.grade(gang, 1), this.#grades.grade(gang, 0));
  }

  protected override inOrder(wanted: readonly Turn[]): readonly Turn[] {
    const { gangOf } = this.gangs;
    return wanted.toSorted((a, b) => this.#priority[gangOf[b]] - this.#priority[gangOf[a]]);
  }
}

export const grades: PhasesPolicyDefinition = {
  name: "phases-grades",
  title: "Concurrent Gang's grades",
  summary: "One pool of units, and turns come by the priorities of Concurrent Gang.",
  rules: [
    ...POOL_RULES,
    "turns come by the priority of their gangs, max(alpha × grade in waiting, grade in holding), the largest first; among equals, in the order in which they were wanted",
    "a grade is the share of the time from getting its units to wanting them again that a gang waited or held them, averaged over its last turns; before its second turn both are 0",
    ...MOST_RULES,
  ],
  source: "Silva and Scherson 1999, section 2.2, with turns instead of slots",
  parameters: [
    number("alpha", { min: 0, max: 1000, default: 2 }, "weight of the grade in waiting"),
    integer(
      "turns",
      { min: 1, max: 1000, default: 5 },
      "number of a gang's last turns over which its grades are averaged",
    ),
    MOST,
    SPLIT,
  ],
  guarantees: (parameters) => ({
    workConserving: mostOf(parameters) === Number.POSITIVE_INFINITY,

    fixedUnits: false,
  }),
  make: (machine, gangs, parameters) => new ByGrade(machine, gangs, parameters),
};
