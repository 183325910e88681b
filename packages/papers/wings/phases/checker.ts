/**
 * Follows a run of phases with books of its own, and throws at the first step that breaks a rule of the
 * machine (simulate.ts) or a promise of the policy (PhasesClaims).
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import {
  type Gang,
  NOBODY,
  type PhasesClaims,
  type PhasesInstance,
  type PhasesObserver,
  type Turn,
  type Unit,
} from "./contract.ts";

export class PhasesChecker implements PhasesObserver {
  /** Turns that were followed to their end. */
  ended = 0;
  readonly #instance: PhasesInstance;
  readonly #claims: PhasesClaims;
  readonly #gangOf: number[] = [];
  /** By unit: its pool, its node (numbered through all pools), and its group of the policy. */
  readonly #poolOf: number[] = [];
  readonly #nodeOf: number[] = [];
  readonly #groupOf: number[] = [];
  /** By unit: the turn that has it until it has been saved, and the gang that had it last. */
  readonly #turnOn: Turn[];
  readonly #latest: Gang[];
  readonly #homes = new Map<Gang, ReadonlyMap<number, number>>();
  readonly #residentOn: number[] = [];
  readonly #mostOn: number[] = [];
  readonly #wantedMs = new Map<Turn, number>();
  readonly #passedBy = new Map<Turn, number>();
  readonly #unitsOf = new Map<Turn, readonly Unit[]>();
  /** When the next step of a turn is due, by step. */
  readonly #due = {
    began: new Map<Turn, number>(),
    yielded: new Map<Turn, number>(),
    freed: new Map<Turn, number>(),
  };
  /** When a gang wants its next turn or leaves, by the turn before that. */
  readonly #goesOnMs = new Map<Turn, number>();
  /** By gang and pool: the units of its first turn there. */
  readonly #first = new Map<string, readonly Unit[]>();

  constructor(instance: PhasesInstance, claims: PhasesClaims) {
    this.#instance = instance;
    this.#claims = claims;
    for (let gang = 0; gang < instance.gangs.length; gang++)
      for (let turn = instance.firstTurn[gang]; turn < instance.firstTurn[gang + 1]; turn++)
        this.#gangOf.push(gang);
    for (const [pool, { units, unitsPerNode }] of instance.pools.entries()) {
      const nodes = this.#mostOn.length;
      for (let unit = 0; unit < units; unit++) {
        this.#poolOf.push(pool);
        this.#nodeOf.push(nodes + Math.floor(unit / unitsPerNode));
      }
      for (let node = 0; node < units / unitsPerNode; node++) {
        this.#mostOn.push(Math.floor(instance.resident * unitsPerNode));
        this.#residentOn.push(0);
      }
      this.#cut(pool, units);
    }
    this.#turnOn = this.#poolOf.map(() => NOBODY);
    this.#latest = this.#poolOf.map(() => NOBODY);
  }

  #cut(pool: number, units: number): void {
    const { turns } = this.#instance;
    const sizes = this.#claims.groups ?? [units];
    const largest = turns.units.reduce(
      (most, one, turn) => Math.max(most, turns.pool[turn] === pool ? one : 0),
      1,
    );
    for (let first = 0, group = 0; first < units; group++) {
      const wanted = sizes.length === 1 ? Math.max(sizes[0], largest) : sizes[group];
      const size = Math.min(wanted, units - first);
      const number = (this.#groupOf.at(-1) ?? -1) + 1;
      for (let i = 0; i < size; i++) this.#groupOf.push(number);
      first += size;
    }
  }

  admitted(timeMs: number, gang: Gang, home: readonly number[]): void {
    const { submitMs, gangs, firstTurn, turns } = this.#instance;
    this.#require(
      gang in gangs && submitMs[gang] <= timeMs,
      "start-before-arrival",
      gang,
      timeMs,
      "has not arrived",
    );
    this.#require(!this.#homes.has(gang), "admitted-twice", gang, timeMs, "is resident already");
    const shares = new Map<number, number>();
    for (let i = 0; i < home.length; i += 2) {
      shares.set(home[i], home[i + 1]);
      this.#residentOn[home[i]] += home[i + 1];
      const fits = this.#residentOn[home[i]] <= this.#mostOn[home[i]];
      this.#require(fits, "not-resident", gang, timeMs, `has no room on node ${home[i]}`);
    }
    this.#homes.set(gang, shares);
    for (let turn = firstTurn[gang]; turn < firstTurn[gang + 1]; turn++) {
      const units = this.#sharesIn(gang, turns.pool[turn]).reduce((sum, [, share]) => sum + share, 0);
      this.#require(
        units === turns.units[turn],
        "wrong-size",
        gang,
        timeMs,
        `is resident with ${units} units`,
      );
    }
  }

  #sharesIn(gang: Gang, pool: number): [node: number, units: number][] {
    const nodes = new Set(this.#nodeOf.filter((_, unit) => this.#poolOf[unit] === pool));
    return [...(this.#homes.get(gang) ?? [])].filter(([node]) => nodes.has(node));
  }

  wanted(timeMs: number, turn: Turn): void {
    const gang = this.#gangOf[turn];
    const isFirst = turn === this.#instance.firstTurn[gang];
    const expectedMs = isFirst ? timeMs : this.#goesOnMs.get(turn - 1);
    this.#require(
      expectedMs === timeMs && !this.#wantedMs.has(turn),
      "wanted",
      gang,
      timeMs,
      `wants turn ${turn}`,
    );
    this.#wantedMs.set(turn, timeMs);
  }

  got(timeMs: number, turn: Turn, units: readonly Unit[]): void {
    const gang = this.#gangOf[turn];
    const { turns } = this.#instance;
    this.#require(this.#wantedMs.has(turn), "turn-not-wanted", gang, timeMs, `does not want turn ${turn}`);
    const right = units.length === turns.units[turn] && new Set(units).size === units.length;
    this.#require(right, "wrong-size", gang, timeMs, `gets ${units.length} units`);
    for (const unit of units) this.#checkUnit(timeMs, turn, unit);
    for (const [node, share] of this.#sharesIn(gang, turns.pool[turn])) {
      const count = units.filter((unit) => this.#nodeOf[unit] === node).length;
      this.#require(count === share, "not-at-home", gang, timeMs, `gets ${count} units of node ${node}`);
    }
    this.#checkClaims(timeMs, turn, units);
    const key = `${gang} ${turns.pool[turn]}`;
    const isSwitch = units.some((unit) => this.#latest[unit] !== gang);
    const restoreMs = isSwitch && this.#first.has(key) ? turns.restoreMs[turn] : 0;
    if (!this.#first.has(key)) this.#first.set(key, units);
    for (const unit of units) {
      this.#turnOn[unit] = turn;
      this.#latest[unit] = gang;
    }
    this.#wantedMs.delete(turn);
    this.#unitsOf.set(turn, units);
    this.#due.began.set(turn, timeMs + restoreMs);
  }

  #checkUnit(timeMs: number, turn: Turn, unit: Unit): void {
    const gang = this.#gangOf[turn];
    const before = this.#turnOn[unit];
    const isOwn = before !== NOBODY && this.#gangOf[before] === gang && this.#due.freed.has(before);
    const isFree = before === NOBODY || isOwn;
    this.#require(isFree, "unit-twice", gang, timeMs, `gets unit ${unit}, which turn ${before} has`);
    const { pool } = this.#instance.turns;
    this.#require(this.#poolOf[unit] === pool[turn], "wrong-pool", gang, timeMs, `gets unit ${unit}`);
  }

  #checkClaims(timeMs: number, turn: Turn, units: readonly Unit[]): void {
    const gang = this.#gangOf[turn];
    const { fixedUnits, groups, mostPassed } = this.#claims;
    const first = this.#first.get(`${gang} ${this.#instance.turns.pool[turn]}`);
    const stays = !fixedUnits || first === undefined || first.join() === units.join();
    this.#require(stays, "other-units", gang, timeMs, `had units ${first} and gets ${units}`);
    if (groups !== undefined) {
      const own = new Set(units.map((unit) => this.#groupOf[unit]));
      this.#require(own.size === 1, "group-torn", gang, timeMs, "gets units of several groups");
      const others = this.#turnOn.filter(
        (other, unit) => own.has(this.#groupOf[unit]) && other !== NOBODY && this.#gangOf[other] !== gang,
      );
      this.#require(
        others.length === 0,
        "lock-twice",
        gang,
        timeMs,
        `shares its group with turn ${others[0]}`,
      );
    }
    if (mostPassed === undefined) return;
    for (const [other, sinceMs] of this.#wantedMs) {
      const isEarlier =
        sinceMs < this.#wantedMs.get(turn)! || (sinceMs === this.#wantedMs.get(turn) && other < turn);
      if (!isEarlier || !this.#shareScope(turn, other, units)) continue;
      const passedBy = (this.#passedBy.get(other) ?? 0) + 1;
      this.#passedBy.set(other, passedBy);
      this.#require(
        passedBy <= mostPassed,
        "passed-too-often",
        gang,
        timeMs,
        `is number ${passedBy} to pass turn ${other}`,
      );
    }
  }

  /** Whether the two would share a group, as far as it is known, or a node. */
  #shareScope(turn: Turn, other: Turn, units: readonly Unit[]): boolean {
    const { pool } = this.#instance.turns;
    if (pool[turn] !== pool[other]) return false;
    const gang = this.#gangOf[other];
    if (this.#claims.groups !== undefined) {
      const first = this.#first.get(`${gang} ${pool[other]}`);
      return first !== undefined && this.#groupOf[first[0]] === this.#groupOf[units[0]];
    }
    const nodes = new Set(this.#sharesIn(this.#gangOf[turn], pool[turn]).map(([node]) => node));
    return this.#sharesIn(gang, pool[other]).some(([node]) => nodes.has(node));
  }

  began(timeMs: number, turn: Turn): void {
    this.#requireDue("began", timeMs, turn);
    const { turns, firstTurn } = this.#instance;
    const workedMs = timeMs + turns.holdMs[turn];
    if (turns.keepMs[turn] < 0) this.#due.yielded.set(turn, workedMs);
    this.#goesOnMs.set(turn, workedMs + turns.waitMs[turn]);
    const isKept = turn > firstTurn[this.#gangOf[turn]] && turns.keepMs[turn - 1] >= 0;
    if (isKept) this.#due.yielded.set(turn - 1, timeMs + turns.keepMs[turn - 1]);
  }

  yielded(timeMs: number, turn: Turn): void {
    this.#requireDue("yielded", timeMs, turn);
    this.#due.freed.set(turn, timeMs + (this.#claims.neverSaves ? 0 : this.#instance.turns.saveMs[turn]));
    this.ended++;
  }

  freed(timeMs: number, turn: Turn): void {
    this.#requireDue("freed", timeMs, turn);
    for (const unit of this.#unitsOf.get(turn)!) if (this.#turnOn[unit] === turn) this.#turnOn[unit] = NOBODY;
    this.#unitsOf.delete(turn);
  }

  left(timeMs: number, gang: Gang): void {
    const last = this.#instance.firstTurn[gang + 1] - 1;
    this.#require(this.#goesOnMs.get(last) === timeMs, "left", gang, timeMs, "leaves");
    for (const [node, units] of this.#homes.get(gang)!) this.#residentOn[node] -= units;
  }

  decided(timeMs: number): void {
    for (const { due, step } of Object.entries(this.#due).map(([step, due]) => ({ step, due })))
      for (const [turn, dueMs] of due)
        this.#require(
          dueMs >= timeMs,
          step,
          this.#gangOf[turn],
          timeMs,
          `should have ${step} at ${dueMs} ms`,
        );
    if (!this.#claims.workConserving) return;
    for (const turn of this.#wantedMs.keys()) {
      const gang = this.#gangOf[turn];
      const fits = this.#sharesIn(gang, this.#instance.turns.pool[turn]).every(([node, share]) => {
        const free = this.#turnOn.filter((other, unit) => this.#nodeOf[unit] === node && other === NOBODY);
        return free.length >= share;
      });
      this.#require(!fits, "idle", gang, timeMs, `waits for turn ${turn}, although its units are free`);
    }
  }

  #requireDue(step: "began" | "yielded" | "freed", timeMs: number, turn: Turn): void {
    const dueMs = this.#due[step].get(turn);
    this.#require(dueMs === timeMs, step, this.#gangOf[turn], timeMs, `has ${step}, expected at ${dueMs} ms`);
    this.#due[step].delete(turn);
  }

  #require(holds: boolean, rule: string, gang: Gang, timeMs: number, words: string): void {
    if (holds) return;
    const text = `Broken rule "${rule}" at ${timeMs} ms: gang ${this.#instance.gangs[gang] ?? gang} ${words}`;
    throw new RuleViolation(rule, gang, timeMs / 1000, text);
  }
}
