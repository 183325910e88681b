/**
 * A lock for each fixed group of units, as in llm-d's rl-time-slicing (waiting_job_queue.go): a gang belongs
 * to one group, and one gang at a time has units of the group, however few it needs.
 */
import { ModelError } from "@tutti/kernel/core/errors.ts";
import { choice, list, numbersIn } from "@tutti/kernel/core/parameters.ts";
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

interface Group {
  readonly pool: number;
  readonly first: Unit;
  readonly units: number;
  residents: number;
  readonly wanted: Turn[];
}

class Lock extends AdmittingPolicy {
  /** By gang: the classes of groups in whose queues it is. */
  readonly #queues: readonly (readonly number[])[];
  readonly #groups: readonly Group[];
  readonly #isLeastRecentlyServed: boolean;
  /** By pool and gang: when it last got a lock there; −Infinity: never. */
  readonly #lastOf: readonly Float64Array[];
  /** By gang: its group in each pool that it uses. */
  readonly #groupsOf: ReadonlyMap<number, Group>[] = [];

  constructor(
    machine: PhasesMachine,
    gangs: PhasesGangsView,
    options: {
      readonly groups: readonly number[];
      readonly isLeastRecentlyServed: boolean;
    },
  ) {
    super(machine, gangs);
    this.#isLeastRecentlyServed = options.isLeastRecentlyServed;
    this.#lastOf = machine.pools.map(() => new Float64Array(gangs.count).fill(Number.NEGATIVE_INFINITY));
    this.#groups = machine.pools.flatMap(({ units }, pool) => {
      let first = machine.firstUnit[pool];
      const largest = largestIn(gangs, pool);
      return groupsOf(units, options.groups, largest).map((size) => {
        first += size;
        return { pool, first: first - size, units: size, residents: 0, wanted: [] };
      });
    });
    const firstOf = (gang: Gang) =>
      gangs.unitsIn.flatMap(({ [gang]: units }, pool) =>
        units === 0 ? [] : this.#classFor(pool, units)[0].first,
      );
    this.#queues = Array.from({ length: gangs.count }, (_, gang) => firstOf(gang));
    this.queueCount = new Set(this.#queues.flat()).size;
  }

  protected override queuesOf(gang: Gang): readonly number[] {
    return this.#queues[gang];
  }

  /** The home in the gang's groups, which it joins; undefined if one of them is full. */
  protected homeFor(gang: Gang): readonly number[] | undefined {
    const groups = new Map<number, Group>();
    for (const [pool, { [gang]: units }] of this.gangs.unitsIn.entries()) {
      if (units === 0) continue;
      const group = this.#groupFor(pool, units);
      if (group === undefined) return undefined;
      groups.set(pool, group);
    }
    const all = [...groups.values()];
    const home = this.machine.room(gang, (node) =>
      Math.max(...all.map((group) => this.#unitsOn(group, node).length)),
    );
    if (home === undefined) return undefined;
    this.#groupsOf[gang] = groups;
    for (const group of all) group.residents += this.gangs.unitsIn[group.pool][gang];
    return home;
  }

  /** One of the groups of the gang's class that has room for it. */
  #groupFor(pool: number, units: number): Group | undefined {
    const room = ({ residents, units: all }: Group) => residents + units <= this.machine.resident * all;
    const fitting = this.#classFor(pool, units).filter(room);
    const [best] = fitting.sort((a, b) => a.residents - b.residents || a.first - b.first);
    return best;
  }

  /** The smallest groups that are large enough. */
  #classFor(pool: number, units: number): readonly Group[] {
    const large = this.#groups.filter((one) => one.pool === pool && one.units >= units);
    const least = Math.min(...large.map((one) => one.units));
    return large.filter((one) => one.units === least);
  }

  #unitsOn({ first, units }: Group, node: number): Unit[] {
    const all = Array.from({ length: units }, (_, i) => first + i);
    return all.filter((unit) => this.machine.nodeOf(unit) === node);
  }

  /** On each of the gang's nodes, the first ones of the group. */
  #unitsIn(group: Group, gang: Gang): Unit[] {
    const home = this.machine.homeOf(gang);
    const units: Unit[] = [];
    for (let i = 0; i < home.length; i += 2)
      units.push(...this.#unitsOn(group, home[i]).slice(0, home[i + 1]));
    return units;
  }

  override left(gang: Gang): void {
    for (const [pool, group] of this.#groupsOf[gang]) group.residents -= this.gangs.unitsIn[pool][gang];
    super.left(gang);
  }

  wanted(turn: Turn): void {
    const { gangOf, poolOf } = this.gangs;
    this.#groupsOf[gangOf[turn]].get(poolOf[turn])!.wanted.push(turn);
  }

  decide(): void {
    for (const group of this.#groups) {
      if (group.wanted.length === 0) continue;
      const { gangOf } = this.gangs;
      const at = this.#isLeastRecentlyServed ? this.#leastServed(group) : 0;
      const turn = group.wanted[at];
      if (!this.#isFree(group, gangOf[turn])) continue;
      group.wanted.splice(at, 1);
      this.#lastOf[group.pool][gangOf[turn]] = this.machine.nowMs;
      this.machine.begin(turn, this.#unitsIn(group, gangOf[turn]));
    }
  }

  #leastServed({ pool, wanted }: Group): number {
    const { gangOf } = this.gangs;
    const lastOf = (turn: Turn) => this.#lastOf[pool][gangOf[turn]];
    let best = 0;
    for (const [i, turn] of wanted.entries()) if (lastOf(turn) < lastOf(wanted[best])) best = i;
    return best;
  }

  /** Whether no other gang has the lock, which lasts until its units have been saved. */
  #isFree({ first, units }: Group, gang: Gang): boolean {
    const { holder, isSaving } = this.machine;
    for (let unit = first; unit < first + units; unit++)
      if (holder[unit] !== NOBODY && !(holder[unit] === gang && isSaving[unit] === 1)) return false;
    return true;
  }
}

function largestIn({ count, unitsIn }: PhasesGangsView, pool: number): number {
  let largest = 0;
  for (let gang = 0; gang < count; gang++) largest = Math.max(largest, unitsIn[pool][gang]);
  return largest;
}

/** Groups of one size until the units are used up, or these groups. */
function groupsOf(units: number, sizes: readonly number[], largest: number): readonly number[] {
  if (sizes.length > 1) {
    const sum = sizes.reduce((total, size) => total + size, 0);
    if (sum !== units)
      throw new ModelError(
        `Cannot cut ${units} units into groups=${sizes.join(",")}: expected a sum of ${units}, not ${sum}`,
      );
    if (Math.max(...sizes) < largest)
      throw new ModelError(
        `Cannot use phases-lock:groups=${sizes.join(",")} for a gang of ${largest}: expected a group as large as the largest gang`,
      );
    return sizes;
  }
  const size = Math.max(sizes[0], largest);
  return Array.from({ length: Math.ceil(units / size) }, (_, i) => Math.min(size, units - i * size));
}

export const lock: PhasesPolicyDefinition = {
  name: "phases-lock",
  title: "A lock for each group",
  summary: "Units are cut into fixed groups, and one gang at a time has units of a group.",
  rules: [
    "the units of each pool are cut into groups; a gang belongs to one group of each pool that it uses from its admission until it leaves",
    "a gang may belong to the smallest groups that have as many units as it needs; a group has room for resident gangs of `resident` times its units",
    "gangs that may belong to the same groups are admitted in the order in which they came, to the group that has room with the fewest units of resident gangs, then to the first",
    "a gang has the lock of its group from getting its units, on each of its nodes the first ones of the group, until they have been saved",
    ...when(({ order }) => order === "wanted", ["a lock goes to the turn that was wanted first"]),
    ...when(
      ({ order }) => order === "served",
      [
        "order=served: a lock goes to the gang that got it longest ago, before that to gangs that never have; among equals, to the turn that was wanted first",
      ],
    ),
  ],
  source: "llm-d, rl-time-slicing (2026), waiting_job_queue.go; order=served: open-rl, pull request 143",
  parameters: [
    list(
      "groups",
      "integer",
      { min: 1, max: 65_536, default: "8" },
      "sizes of the groups of each pool; one number: groups of that size or of that of the largest gang, if it is larger, the last one with what is left",
    ),
    choice("order", ["wanted", "served"], "which gang gets a free lock"),
  ],
  guarantees: ({ groups, order }) => ({
    workConserving: false,
    mostPassed: order === "wanted" ? 0 : undefined,
    groups: numbersIn(groups),
    fixedUnits: true,
  }),
  make: (machine, gangs, { groups, order }) =>
    new Lock(machine, gangs, {
      groups: numbersIn(groups),
      isLeastRecentlyServed: order === "served",
    }),
};
