/** Gives each gang its units from its admission until it leaves: what turns are compared with. */
import { choice } from "@tutti/kernel/core/parameters.ts";
import { when } from "@tutti/kernel/core/policy.ts";
import {
  type Gang,
  NOBODY,
  type PhasesGangsView,
  type PhasesMachine,
  type PhasesPolicyDefinition,
  type Turn,
  type Unit,
} from "../contract.ts";
import { AdmittingPolicy } from "./admission.ts";

class Exclusive extends AdmittingPolicy {
  readonly #passes: boolean;
  /** By unit: the gang whose unit it is, or NOBODY. */
  readonly #owner: Int32Array;
  /** By node: units without an owner. */
  readonly #idleOn: number[] = [];
  readonly #owned: (readonly Unit[])[] = [];
  readonly #wanted: Turn[] = [];

  constructor(machine: PhasesMachine, gangs: PhasesGangsView, passes: boolean) {
    super(machine, gangs);
    this.#passes = passes;
    if (passes) this.queueCount = Number.POSITIVE_INFINITY;
    this.#owner = new Int32Array(machine.holder.length).fill(NOBODY);
    for (const unit of this.#owner.keys()) {
      const node = machine.nodeOf(unit);
      this.#idleOn[node] = (this.#idleOn[node] ?? 0) + 1;
    }
  }

  protected override queuesOf(gang: Gang): readonly number[] {
    return this.#passes ? [gang] : super.queuesOf(gang);
  }

  protected homeFor(gang: Gang): readonly number[] | undefined {
    const home = this.machine.room(gang, (node) => this.#idleOn[node]);
    if (home === undefined) return undefined;
    const units: Unit[] = [];
    const left = new Map<number, number>();
    for (let i = 0; i < home.length; i += 2) left.set(home[i], home[i + 1]);
    for (const [unit, owner] of this.#owner.entries()) {
      const node = this.machine.nodeOf(unit);
      const missing = left.get(node) ?? 0;
      if (owner !== NOBODY || missing === 0) continue;
      left.set(node, missing - 1);
      this.#owner[unit] = gang;
      this.#idleOn[node]--;
      units.push(unit);
    }
    this.#owned[gang] = units;
    return home;
  }

  override left(gang: Gang): void {
    for (const unit of this.#owned[gang]) {
      this.#owner[unit] = NOBODY;
      this.#idleOn[this.machine.nodeOf(unit)]++;
    }
    super.left(gang);
  }

  wanted(turn: Turn): void {
    this.#wanted.push(turn);
  }

  decide(): void {
    const { firstUnit } = this.machine;
    for (const turn of this.#wanted.splice(0)) {
      const pool = this.gangs.poolOf[turn];
      const isInPool = (unit: Unit) => unit >= firstUnit[pool] && unit < firstUnit[pool + 1];
      this.machine.begin(turn, this.#owned[this.gangs.gangOf[turn]].filter(isInPool));
    }
  }
}

export const exclusive: PhasesPolicyDefinition = {
  name: "phases-exclusive",
  title: "Exclusive units",
  summary: "A gang has its units for itself until it leaves, also while it does not need them.",
  rules: [
    "a gang is admitted when as many units have no owner as it needs; they are its own until it leaves, and each of its turns begins when it is wanted; nothing is saved or restored",
    ...when(({ queue }) => queue === "fcfs", ["gangs are admitted in the order in which they came"]),
    ...when(
      ({ queue }) => queue === "first-fit",
      ["queue=first-fit: a gang that finds its units is admitted past others that do not"],
    ),
  ],
  source: "folklore: what batch systems do with GPUs",
  parameters: [choice("queue", ["fcfs", "first-fit"], "whether gangs are admitted past one that waits")],
  guarantees: () => ({ workConserving: false, fixedUnits: true, neverSaves: true }),
  make: (machine, gangs, { queue }) => new Exclusive(machine, gangs, queue === "first-fit"),
};
