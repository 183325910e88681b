/** Explains when a gang got its turns, and who kept it waiting. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { formatNumber, plural } from "@tutti/kernel/core/format.ts";
import {
  type Gang,
  NOBODY,
  type PhasesInstance,
  type PhasesObserver,
  type PhasesSchedule,
  type Turn,
  type Unit,
} from "./contract.ts";

interface TurnFacts {
  readonly number: number;
  readonly pool: string;
  /** Free units of its nodes when it was wanted and the decisions of that instant were made. */
  freeThen: number;
  /** Who had units of its nodes then, and until when; in the order of the units. */
  holders: { readonly gang: string; readonly units: number; untilS: number | null }[];
  /** The free ones of all units. */
  isFreeThen: readonly boolean[];
  /** Turns that got units of its nodes after it was wanted, and before it did. */
  passedBy: number;
  /** Who gave back units of its nodes last before it got its own, and when. */
  freedLast: { readonly gang: Gang; readonly atMs: number } | undefined;
  units: readonly Unit[];
}

/** Follows one gang. */
export class PhasesExplainer implements PhasesObserver {
  readonly #instance: PhasesInstance;
  readonly #gang: Gang;
  readonly #gangOf: number[] = [];
  readonly #nodeOf: number[] = [];
  readonly #holder: Turn[] = [];
  #nodes: ReadonlySet<number> = new Set();
  readonly #turns: TurnFacts[] = [];
  /** Who was admitted between its submission and its admission, and who left last before that. */
  #admittedBefore = 0;
  #leftLast: Gang | undefined;
  #isResident = false;
  /** The last turn that gave back units of its nodes. */
  #freedLast: { readonly gang: Gang; readonly atMs: number } | undefined;
  /** The turn that is wanted now, if any. */
  #waiting: TurnFacts | undefined;
  #isNew = false;

  constructor(instance: PhasesInstance, gang: Gang) {
    this.#instance = instance;
    this.#gang = gang;
    for (let one = 0; one < instance.gangs.length; one++)
      for (let turn = instance.firstTurn[one]; turn < instance.firstTurn[one + 1]; turn++)
        this.#gangOf.push(one);
    for (const { units, unitsPerNode } of instance.pools) {
      const first = (this.#nodeOf.at(-1) ?? -1) + 1;
      for (let unit = 0; unit < units; unit++) this.#nodeOf.push(first + Math.floor(unit / unitsPerNode));
    }
    this.#holder = this.#nodeOf.map(() => NOBODY);
  }

  admitted(timeMs: number, gang: Gang, home: readonly number[]): void {
    if (gang === this.#gang) {
      this.#nodes = new Set(home.filter((_, i) => i % 2 === 0));
      this.#isResident = true;
    } else if (!this.#isResident && timeMs >= this.#instance.submitMs[this.#gang]) this.#admittedBefore++;
  }

  left(_timeMs: number, gang: Gang): void {
    if (!this.#isResident) this.#leftLast = gang;
  }

  wanted(_timeMs: number, turn: Turn): void {
    if (this.#gangOf[turn] !== this.#gang) return;
    const { pools, turns, firstTurn } = this.#instance;
    this.#waiting = {
      ...{
        number: turn - firstTurn[this.#gang] + 1,
        pool: pools[turns.pool[turn]].name,
      },
      ...{ freeThen: 0, holders: [], isFreeThen: [], passedBy: 0, freedLast: undefined, units: [] },
    };
    this.#isNew = true;
    this.#turns.push(this.#waiting);
  }

  got(_timeMs: number, turn: Turn, units: readonly Unit[]): void {
    if (this.#gangOf[turn] === this.#gang) {
      this.#waiting!.units = units;
      this.#waiting!.freedLast = this.#freedLast;
      this.#waiting = undefined;
    } else if (this.#waiting !== undefined && !this.#isNew && units.some((unit) => this.#isNear(unit)))
      this.#waiting.passedBy++;
    for (const unit of units) this.#holder[unit] = turn;
  }

  freed(timeMs: number, turn: Turn): void {
    const gang = this.#gangOf[turn];
    for (const [unit, holder] of this.#holder.entries()) {
      if (holder !== turn) continue;
      this.#holder[unit] = NOBODY;
      if (this.#isNear(unit)) this.#freedLast = { gang, atMs: timeMs };
    }
    const name = this.#instance.gangs[gang];
    const held = this.#waiting?.holders.find((one) => one.gang === name && one.untilS === null);
    if (held !== undefined) held.untilS = timeMs / 1000;
  }

  decided(): void {
    if (this.#isNew && this.#waiting !== undefined) this.#lookAround(this.#waiting);
    this.#isNew = false;
  }

  #lookAround(waiting: TurnFacts): void {
    const near = this.#holder.filter((_, unit) => this.#isNear(unit));
    waiting.isFreeThen = this.#holder.map((turn) => turn === NOBODY);
    waiting.freeThen = near.filter((turn) => turn === NOBODY).length;
    for (const turn of new Set(near)) {
      if (turn === NOBODY) continue;
      const units = near.filter((one) => one === turn).length;
      waiting.holders.push({ gang: this.#instance.gangs[this.#gangOf[turn]], units, untilS: null });
    }
  }

  /** Whether the gang is resident on its node, so that the unit could be one of its own. */
  #isNear(unit: Unit): boolean {
    return this.#nodes.has(this.#nodeOf[unit]);
  }

  lines(
    { admittedMs, leftMs, wantedMs, beganMs, gotMs, yieldedMs }: PhasesSchedule,
    policy: string,
  ): string[] {
    const { gangs, submitMs, firstTurn } = this.#instance;
    const gang = this.#gang;
    const s = (ms: number) => `${formatNumber(ms / 1000)} s`;
    const lines = [
      `gang ${gangs[gang]} under ${policy}: ${plural(firstTurn[gang + 1] - firstTurn[gang], "turn")}`,
      Number.isNaN(admittedMs[gang])
        ? `It was submitted at ${s(submitMs[gang])} and never admitted.`
        : `It was submitted at ${s(submitMs[gang])}, resident from ${s(admittedMs[gang])} on, on ${plural(this.#nodes.size, "node")} (${[...this.#nodes].join(", ")}), and ${Number.isNaN(leftMs[gang]) ? "never left" : `left at ${s(leftMs[gang])}`}.`,
    ];
    if (admittedMs[gang] > submitMs[gang])
      lines.push(
        `Before that, ${plural(this.#admittedBefore, "other gang")} became resident since it came${this.#leftLast === undefined ? "" : `, and gang ${gangs[this.#leftLast]} was the last to make room`}.`,
      );
    for (const [i, facts] of this.#turns.entries()) {
      const turn = firstTurn[gang] + i;
      const { number, pool, holders, freeThen, isFreeThen, passedBy, freedLast, units } = facts;
      const waitMs = gotMs[turn] - wantedMs[turn];
      const where = this.#instance.pools.length > 1 ? ` of ${pool}` : "";
      lines.push(
        Number.isNaN(gotMs[turn])
          ? `Turn ${number}${where} was wanted at ${s(wantedMs[turn])}, and never came.`
          : `Turn ${number}${where} was wanted at ${s(wantedMs[turn])}, got ${plural(units.length, "unit")} (${units.join(", ")}) after ${s(waitMs)}, began at ${s(beganMs[turn])} and was yielded at ${s(yieldedMs[turn])}.`,
      );
      if (!(waitMs > 0)) continue;
      const who = holders.map(
        ({ gang: name, units: count, untilS }) =>
          `gang ${name} (${count}, ${untilS === null ? "for longer" : `until ${s(untilS * 1000)}`})`,
      );
      const others = who.length === 0 ? "" : `; the others had ${who.join(", ")}`;
      const order = units.every((unit) => isFreeThen[unit])
        ? " Those that it got were free, too: the rules of the policy let others go first."
        : "";
      const last =
        freedLast === undefined || !(freedLast.atMs > wantedMs[turn])
          ? ""
          : ` The last to give back units there was gang ${gangs[freedLast.gang]}, at ${s(freedLast.atMs)}.`;
      lines.push(
        `When it was wanted, ${plural(freeThen, "unit")} of its nodes ${freeThen === 1 ? "was" : "were"} free${others}.${order} Meanwhile, ${plural(passedBy, "turn")} got units there.${last}`,
      );
    }
    return lines;
  }
}

/** @throws InputError for a gang that is not there */
export function gangNamed(instance: PhasesInstance, name: string): Gang {
  const gang = instance.gangs.indexOf(name);
  if (gang >= 0) return gang;
  throw new InputError(
    `Cannot explain gang "${name}": expected one of the ${instance.gangs.length} gangs, ${instance.gangs.slice(0, 3).join(", ")}${instance.gangs.length > 3 ? " …" : ""}`,
  );
}
