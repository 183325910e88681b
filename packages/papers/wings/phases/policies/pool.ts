/**
 * One pool of units for all resident gangs: a turn may have any units of the gang's nodes. With
 * order=wanted and most=0, this is a FIFO lock on parts of a pool.
 */
import { choice, integer } from "@tutti/kernel/core/parameters.ts";
import { NONE, type ParameterValues, type Rule, setNumber, when } from "@tutti/kernel/core/policy.ts";
import type {
  Gang,
  PhasesGangsView,
  PhasesMachine,
  PhasesPolicyDefinition,
  Turn,
  Unit,
} from "../contract.ts";
import { AdmittingPolicy } from "./admission.ts";

export class PoolPolicy extends AdmittingPolicy {
  readonly #isSplit: boolean;
  readonly #most: number;
  /** Wanted turns, in the order in which they were wanted. */
  readonly #wanted: Turn[] = [];
  /** By turn: how many were wanted later and have passed it. */
  readonly #passedBy: Int32Array;
  readonly #lastOf: Float64Array;

  constructor(machine: PhasesMachine, gangs: PhasesGangsView, parameters: ParameterValues) {
    super(machine, gangs);
    this.#most = mostOf(parameters);
    this.#isSplit = parameters.split === "yes";
    this.#passedBy = new Int32Array(gangs.gangOf.length);
    this.#lastOf = new Float64Array(gangs.count).fill(Number.NEGATIVE_INFINITY);
  }

  protected homeFor(gang: Gang): readonly number[] | undefined {
    const home = this.machine.room(gang);
    return this.#isSplit || home === undefined || this.#isCompact(gang, home) ? home : undefined;
  }

  /** Whether the home has as few nodes as the gang can do with. */
  #isCompact(gang: Gang, home: readonly number[]): boolean {
    const { pools } = this.machine;
    const nodes = pools.map(({ unitsPerNode }, pool) =>
      Math.ceil(this.gangs.unitsIn[pool][gang] / unitsPerNode),
    );
    return home.length / 2 === nodes.reduce((sum, count) => sum + count, 0);
  }

  wanted(turn: Turn): void {
    this.#wanted.push(turn);
  }

  /** When the gang last got units; −Infinity: never. */
  protected lastOf(gang: Gang): number {
    return this.#lastOf[gang];
  }

  /** Wanted turns in the order in which they may begin. */
  protected inOrder(wanted: readonly Turn[]): readonly Turn[] {
    return wanted;
  }

  decide(): void {
    const wanted = this.#wanted;
    if (wanted.length === 0) return;
    const refused: Turn[] = [];
    const begun = new Set<Turn>();
    /** Nodes on which a turn waits that no other may pass. */
    const kept = new Set<number>();
    for (const turn of this.inOrder(wanted)) {
      const units = this.#isKept(turn, kept) ? undefined : this.machine.free(turn);
      if (units === undefined) {
        refused.push(turn);
        if (this.#passedBy[turn] >= this.#most) for (const node of this.#nodesOf(turn)) kept.add(node);
        continue;
      }
      this.#begin(turn, units);
      begun.add(turn);
      this.#notePassed(turn, refused, kept);
    }
    if (begun.size > 0) {
      let left = 0;
      for (const turn of wanted) if (!begun.has(turn)) wanted[left++] = turn;
      wanted.length = left;
    }
  }

  #begin(turn: Turn, units: readonly Unit[]): void {
    this.#lastOf[this.gangs.gangOf[turn]] = this.machine.nowMs;
    this.machine.begin(turn, units);
    this.began(turn);
  }

  protected began(_turn: Turn): void {}

  #notePassed(by: Turn, refused: readonly Turn[], kept: Set<number>): void {
    if (refused.length === 0 || this.#most === Number.POSITIVE_INFINITY) return;
    const nodes = new Set(this.#nodesOf(by));
    for (const turn of refused) {
      const own = this.#nodesOf(turn);
      if (!own.some((node) => nodes.has(node))) continue;
      if (++this.#passedBy[turn] >= this.#most) for (const node of own) kept.add(node);
    }
  }

  #isKept(turn: Turn, kept: ReadonlySet<number>): boolean {
    return kept.size > 0 && this.#nodesOf(turn).some((node) => kept.has(node));
  }

  #nodesOf(turn: Turn): number[] {
    const home = this.machine.homeOf(this.gangs.gangOf[turn]);
    const pool = this.gangs.poolOf[turn];
    const { firstUnit } = this.machine;
    const [first, last] = [firstUnit[pool], firstUnit[pool + 1] - 1].map((unit) => this.machine.nodeOf(unit));
    return home.filter((node, i) => i % 2 === 0 && node >= first && node <= last);
  }
}

/** Least recently served first; in the order wanted among those that have never been. */
class LeastRecentlyServed extends PoolPolicy {
  protected override inOrder(wanted: readonly Turn[]): readonly Turn[] {
    const { gangOf } = this.gangs;
    return wanted.toSorted((a, b) => this.lastOf(gangOf[a]) - this.lastOf(gangOf[b]) || 0);
  }
}

export const MOST = integer(
  "most",
  { min: 0, max: 1_000_000, default: NONE, noneFrom: 0 },
  "how many turns may begin before one that comes before them and does not fit; 0: none may, as in a queue",
);

export const SPLIT = choice(
  "split",
  ["no", "yes"],
  "whether a gang may become resident on more nodes than it could do with, if it need not wait then",
);

export function mostOf({ most }: ParameterValues): number {
  return setNumber(most) ?? Number.POSITIVE_INFINITY;
}

export const MOST_RULES = [
  ...when(
    ({ most }) => most === NONE,
    ["a turn whose units are not free does not hold back the others: each that fits begins"],
  ),
  ...when(
    ({ most }) => most !== NONE,
    [
      "most: a turn whose units are not free lets this many others, which come after it in that order and share a node with it, begin before it; then it holds back all that share a node with it",
    ],
  ),
];

/** What policies on a pool have in common. */
export const POOL_RULES: readonly (Rule | string)[] = [
  "gangs are admitted in the order in which they came, as soon as the hosts have memory",
  ...when(({ split }) => split === "no", ["a gang waits for room on as few nodes as its units need"]),
  "a turn takes, on each node of its gang, free units that the gang has had last, then those with the lowest numbers",
];

export const pool: PhasesPolicyDefinition = {
  name: "phases-pool",
  title: "One pool of units",
  summary: "Turns begin as soon as there are units for them, on any units of the gang's nodes.",
  rules: [
    ...POOL_RULES,
    ...when(({ order }) => order === "wanted", ["turns come in the order in which they were wanted"]),
    ...when(
      ({ order }) => order === "served",
      [
        "order=served: turns of the gang that got units longest ago come first, before them those of gangs that never have; among equals, in the order in which they were wanted",
      ],
    ),
    ...MOST_RULES,
  ],
  source: "folklore; order=served: open-rl, pull request 143",
  parameters: [choice("order", ["wanted", "served"], "in which order turns come"), MOST, SPLIT],
  guarantees: (parameters) => ({
    workConserving: mostOf(parameters) === Number.POSITIVE_INFINITY,
    mostPassed: parameters.order === "wanted" ? mostOf(parameters) : undefined,
    fixedUnits: false,
  }),
  make: (machine, gangs, parameters) => {
    const Kind = parameters.order === "served" ? LeastRecentlyServed : PoolPolicy;
    return new Kind(machine, gangs, parameters);
  },
};
