/**
 * Implements the machine of contract.ts: who holds which unit, who is resident where, and what it costs when
 * a unit gets another gang. It refuses wrong decisions. The event loop is in simulate.ts.
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";
import {
  type Gang,
  NOBODY,
  type PhasesGangsView,
  type PhasesInstance,
  type PhasesMachine,
  type PhasesObserver,
  type PhasesPool,
  type PhasesSchedule,
  type Turn,
  type Unit,
} from "./contract.ts";

/** What comes next for a turn. */
const Next = { begins: 0, hasWorked: 1, yields: 2, isFree: 3, goesOn: 4 } as const;
type Next = (typeof Next)[keyof typeof Next];
const KINDS = 5;

export class SimulatedPhases implements PhasesMachine {
  nowMs = 0;
  readonly pools: readonly PhasesPool[];
  readonly resident: number;
  readonly firstUnit: Int32Array;
  readonly holder: Int32Array;
  readonly latest: Int32Array;
  readonly isSaving: Uint8Array;
  readonly wantedMs: Float64Array;
  readonly residentOn: Int32Array;
  readonly gangs: PhasesGangsView;
  readonly events = new EventHeap();
  /** Turns that are wanted since the last decision, and gangs that have left. */
  readonly wanted: Turn[] = [];
  readonly left: Gang[] = [];
  readonly yielded: Turn[] = [];
  readonly freed: Turn[] = [];
  readonly schedule: PhasesSchedule & { stopMs: number };
  readonly #instance: PhasesInstance;
  readonly #neverSaves: boolean;
  readonly #observer: PhasesObserver | undefined;
  /** Of the first node of each pool, and one more: the number of all nodes. */
  readonly #firstNode: readonly number[];
  readonly #nodeOf: Int32Array;
  readonly #poolOfNode: Int32Array;
  readonly #homes: (readonly number[] | undefined)[] = [];
  readonly #hasArrived: Uint8Array;
  readonly #unitsOf = new Map<Turn, readonly Unit[]>();
  /** By unit: the turn that has had it last. */
  readonly #turnOn: Int32Array;
  /** By node. */
  readonly #freeOn: Int32Array;
  /** By gang: units that are being saved. */
  readonly #savingOf: Int32Array;
  /** By pool and gang: whether the gang has had a turn there. */
  readonly #isLoaded: readonly Uint8Array[];

  constructor(instance: PhasesInstance, neverSaves: boolean, observer: PhasesObserver | undefined) {
    const { pools, gangs, turns } = instance;
    this.#instance = instance;
    this.#neverSaves = neverSaves;
    this.#observer = observer;
    this.pools = pools;
    this.resident = instance.resident;
    this.firstUnit = sumsOf(pools.map(({ units }) => units));
    const units = this.firstUnit[pools.length];
    this.holder = new Int32Array(units).fill(NOBODY);
    this.latest = new Int32Array(units).fill(NOBODY);
    this.isSaving = new Uint8Array(units);
    const nodes = pools.map((pool) => pool.units / pool.unitsPerNode);
    this.#firstNode = [...sumsOf(nodes)];
    this.residentOn = new Int32Array(this.#firstNode[pools.length]);
    this.#poolOfNode = Int32Array.from(nodes.flatMap((count, pool) => Array<number>(count).fill(pool)));
    this.#nodeOf = Int32Array.from({ length: units }, (_, unit) => {
      const pool = this.firstUnit.findLastIndex((first, p) => p < pools.length && first <= unit);
      return this.#firstNode[pool] + Math.floor((unit - this.firstUnit[pool]) / pools[pool].unitsPerNode);
    });
    this.gangs = viewOf(instance);
    this.#turnOn = new Int32Array(units).fill(NOBODY);
    this.#freeOn = new Int32Array(this.residentOn.length);
    for (const node of this.#nodeOf) this.#freeOn[node]++;
    this.#savingOf = new Int32Array(gangs.length);
    this.#isLoaded = pools.map(() => new Uint8Array(gangs.length));
    this.#hasArrived = new Uint8Array(gangs.length);
    const columnOf = (length: number) => new Float64Array(length).fill(Number.NaN);
    const count = turns.units.length;
    this.wantedMs = columnOf(count);
    this.schedule = {
      ...{ wantedMs: columnOf(count), gotMs: columnOf(count), beganMs: columnOf(count) },
      ...{ yieldedMs: columnOf(count), freedMs: columnOf(count), isSwitch: new Uint8Array(count) },
      ...{ admittedMs: columnOf(gangs.length), leftMs: columnOf(gangs.length), stopMs: 0 },
    };
  }

  arrive(gang: Gang): void {
    this.#hasArrived[gang] = 1;
  }

  /** The next event that is due. */
  advance(): void {
    const event = this.events.pop();
    const turn = Math.floor(event / KINDS);
    const kind = (event % KINDS) as Next;
    if (kind === Next.begins) this.#begin(turn);
    else if (kind === Next.hasWorked) this.#hasWorked(turn);
    else if (kind === Next.yields) this.#yield(turn);
    else if (kind === Next.isFree) this.#free(turn);
    else this.#goOn(turn);
  }

  // What a policy reads.

  nodeOf(unit: Unit): number {
    return this.#nodeOf[unit];
  }

  homeOf(gang: Gang): readonly number[] {
    return this.#homes[gang] ?? [];
  }

  room(gang: Gang, mostOn = (node: number) => this.#roomOn(node)): readonly number[] | undefined {
    const home: number[] = [];
    for (const [pool, { unitsPerNode }] of this.pools.entries()) {
      let left = this.gangs.unitsIn[pool][gang];
      const chosen: [node: number, units: number][] = [];
      const roomOn = (node: number) => Math.min(unitsPerNode, mostOn(node), this.#roomOn(node));
      const rooms = new Map<number, number>();
      for (let node = this.#firstNode[pool]; left > 0 && node < this.#firstNode[pool + 1]; node++)
        rooms.set(node, roomOn(node));
      while (left > 0) {
        const best = this.#largest(rooms, left);
        const units = Math.min(left, rooms.get(best) ?? 0);
        if (units <= 0) return undefined;
        chosen.push([best, units]);
        rooms.delete(best);
        left -= units;
      }
      home.push(...chosen.sort(([a], [b]) => a - b).flat());
    }
    return home;
  }

  /** The node that can take most of the units, of these the one with the least resident, then the first. */
  #largest(rooms: ReadonlyMap<number, number>, units: number): number {
    let best = NOBODY;
    let most = 0;
    for (const [node, room] of rooms) {
      const part = Math.min(units, room);
      if (part < most || (part === most && best !== NOBODY && this.residentOn[node] >= this.residentOn[best]))
        continue;
      best = node;
      most = part;
    }
    return best;
  }

  #roomOn(node: number): number {
    const { unitsPerNode } = this.pools[this.#poolOfNode[node]];
    return Math.floor(this.resident * unitsPerNode) - this.residentOn[node];
  }

  free(turn: Turn): readonly Unit[] | undefined {
    const gang = this.gangs.gangOf[turn];
    const pool = this.gangs.poolOf[turn];
    const { unitsPerNode } = this.pools[pool];
    const home = this.homeOf(gang);
    const units: Unit[] = [];
    for (let i = 0; i < home.length; i += 2) {
      const node = home[i];
      if (this.#poolOfNode[node] !== pool) continue;
      const first = this.firstUnit[pool] + (node - this.#firstNode[pool]) * unitsPerNode;
      let left = home[i + 1];
      if (this.#freeOn[node] < left && this.#savingOf[gang] === 0) return undefined;
      for (const isOwn of [true, false])
        for (let unit = first; unit < first + unitsPerNode && left > 0; unit++) {
          if ((this.latest[unit] === gang) !== isOwn || !this.isFreeFor(unit, gang)) continue;
          units.push(unit);
          left--;
        }
      if (left > 0) return undefined;
    }
    return units.sort((a, b) => a - b);
  }

  /** A gang may have its units back while they are being saved. */
  isFreeFor(unit: Unit, gang: Gang): boolean {
    const holder = this.holder[unit];
    return holder === NOBODY || (holder === gang && this.isSaving[unit] === 1);
  }

  // What a policy does.

  admit(gang: Gang, home: readonly number[]): void {
    if (this.#hasArrived[gang] !== 1) this.#refuse("start-before-arrival", gang, "it has not arrived");
    if (this.#homes[gang] !== undefined) this.#refuse("admitted-twice", gang, "it was admitted before");
    const units = this.pools.map(() => 0);
    for (let i = 0; i < home.length; i += 2) {
      const [node, count] = [home[i], home[i + 1]];
      if (!(count >= 1 && count <= this.#roomOn(node)) || (i > 0 && node <= home[i - 2]))
        this.#refuse("not-resident", gang, `node ${node} has no room for ${count} more units`);
      units[this.#poolOfNode[node]] += count;
    }
    for (const [pool, count] of units.entries()) {
      const expected = this.gangs.unitsIn[pool][gang];
      if (count !== expected)
        this.#refuse("wrong-size", gang, `${count} units of pool ${pool}, expected ${expected}`);
    }
    for (let i = 0; i < home.length; i += 2) this.residentOn[home[i]] += home[i + 1];
    this.#homes[gang] = home;
    this.schedule.admittedMs[gang] = this.nowMs;
    this.#observer?.admitted?.(this.nowMs, gang, home);
    this.#want(this.#instance.firstTurn[gang]);
  }

  begin(turn: Turn, units: readonly Unit[]): void {
    const gang = this.gangs.gangOf[turn];
    if (Number.isNaN(this.wantedMs[turn]))
      this.#refuse("turn-not-wanted", gang, "it does not want this turn");
    this.#checkUnits(turn, units);
    // What it has on its units at first is work of its first turn.
    const isLoaded = this.#isLoaded[this.gangs.poolOf[turn]];
    const isSwitch = isLoaded[gang] === 1 && units.some((unit) => this.latest[unit] !== gang);
    const restoreMs = isSwitch ? this.#instance.turns.restoreMs[turn] : 0;
    isLoaded[gang] = 1;
    for (const unit of units) this.#take(unit, turn);
    this.#unitsOf.set(turn, units);
    this.wantedMs[turn] = Number.NaN;
    this.schedule.gotMs[turn] = this.nowMs;
    this.schedule.isSwitch[turn] = isSwitch ? 1 : 0;
    this.#observer?.got?.(this.nowMs, turn, units);
    if (restoreMs === 0) this.#begin(turn);
    else this.#soon(turn, Next.begins, restoreMs);
  }

  #take(unit: Unit, turn: Turn): void {
    const gang = this.gangs.gangOf[turn];
    if (this.isSaving[unit] === 1) this.#savingOf[gang]--;
    else this.#freeOn[this.#nodeOf[unit]]--;
    this.isSaving[unit] = 0;
    this.holder[unit] = gang;
    this.latest[unit] = gang;
    this.#turnOn[unit] = turn;
  }

  #checkUnits(turn: Turn, units: readonly Unit[]): void {
    const gang = this.gangs.gangOf[turn];
    const expected = this.gangs.unitsOf[turn];
    if (units.length !== expected)
      this.#refuse("wrong-size", gang, `it would get ${units.length} units, expected ${expected}`);
    const counts = new Map<number, number>();
    for (const [i, unit] of units.entries()) {
      if (!this.isFreeFor(unit, gang) || (i > 0 && unit <= units[i - 1]))
        this.#refuse("unit-twice", gang, `unit ${unit} is not free`);
      const node = this.#nodeOf[unit];
      counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    const home = this.homeOf(gang);
    const pool = this.gangs.poolOf[turn];
    for (let i = 0; i < home.length; i += 2) {
      const [node, count] = [home[i], home[i + 1]];
      if (this.#poolOfNode[node] === pool && counts.get(node) !== count)
        this.#refuse("not-at-home", gang, `it is resident with ${count} units on node ${node}`);
    }
  }

  // What happens by itself.

  #want(turn: Turn): void {
    this.wantedMs[turn] = this.nowMs;
    this.schedule.wantedMs[turn] = this.nowMs;
    this.wanted.push(turn);
    this.#observer?.wanted?.(this.nowMs, turn);
  }

  #begin(turn: Turn): void {
    const { turns, firstTurn } = this.#instance;
    this.schedule.beganMs[turn] = this.nowMs;
    this.#observer?.began?.(this.nowMs, turn);
    this.#soon(turn, Next.hasWorked, turns.holdMs[turn]);
    const before = turn - 1;
    const isKept = turn > firstTurn[this.gangs.gangOf[turn]] && turns.keepMs[before] >= 0;
    if (isKept) this.#soon(before, Next.yields, turns.keepMs[before]);
  }

  #hasWorked(turn: Turn): void {
    const { turns } = this.#instance;
    if (turns.keepMs[turn] < 0) this.#yield(turn);
    this.#soon(turn, Next.goesOn, turns.waitMs[turn]);
  }

  #yield(turn: Turn): void {
    const { turns } = this.#instance;
    this.schedule.yieldedMs[turn] = this.nowMs;
    const units = this.#unitsOf.get(turn)!;
    for (const unit of units) this.isSaving[unit] = 1;
    this.#savingOf[this.gangs.gangOf[turn]] += units.length;
    this.yielded.push(turn);
    this.#observer?.yielded?.(this.nowMs, turn);
    this.#soon(turn, Next.isFree, this.#neverSaves ? 0 : turns.saveMs[turn]);
  }

  #free(turn: Turn): void {
    for (const unit of this.#unitsOf.get(turn)!) {
      // The gang may have it back already, for its next turn.
      if (this.#turnOn[unit] !== turn) continue;
      this.holder[unit] = NOBODY;
      this.isSaving[unit] = 0;
      this.#savingOf[this.gangs.gangOf[turn]]--;
      this.#freeOn[this.#nodeOf[unit]]++;
    }
    this.#unitsOf.delete(turn);
    this.schedule.freedMs[turn] = this.nowMs;
    this.freed.push(turn);
    this.#observer?.freed?.(this.nowMs, turn);
  }

  #goOn(turn: Turn): void {
    const { firstTurn } = this.#instance;
    const gang = this.gangs.gangOf[turn];
    if (turn + 1 < firstTurn[gang + 1]) this.#want(turn + 1);
    else this.#leave(gang);
  }

  #leave(gang: Gang): void {
    const home = this.homeOf(gang);
    for (let i = 0; i < home.length; i += 2) this.residentOn[home[i]] -= home[i + 1];
    this.schedule.leftMs[gang] = this.nowMs;
    this.left.push(gang);
    this.#observer?.left?.(this.nowMs, gang);
  }

  #soon(turn: Turn, next: Next, inMs: number): void {
    this.events.push(this.nowMs + inMs, turn * KINDS + next);
  }

  #refuse(rule: string, gang: Gang, why: string): never {
    const name = this.#instance.gangs[gang] ?? gang;
    throw new RuleViolation(rule, gang, this.nowMs / 1000, `Cannot do this for gang ${name}: ${why}`);
  }
}

function sumsOf(counts: readonly number[]): Int32Array {
  const sums = new Int32Array(counts.length + 1);
  for (const [i, count] of counts.entries()) sums[i + 1] = sums[i] + count;
  return sums;
}

function viewOf({ pools, gangs, firstTurn, turns }: PhasesInstance): PhasesGangsView {
  const unitsIn = pools.map(() => new Int32Array(gangs.length));
  const gangOf = new Int32Array(turns.units.length);
  for (let gang = 0; gang < gangs.length; gang++)
    for (let turn = firstTurn[gang]; turn < firstTurn[gang + 1]; turn++) {
      gangOf[turn] = gang;
      unitsIn[turns.pool[turn]][gang] = turns.units[turn];
    }
  return { count: gangs.length, unitsIn, gangOf, poolOf: turns.pool, unitsOf: turns.units };
}
