/**
 * Keeps pilots and jobs of a simulation, and says when something happens next. Pilots go back by the rules of
 * the live scheduler (slurm/need.ts):
 *
 *   no job runs on it, and none that waits      after `idleS`
 *   could start there
 *   the same, but jobs wait for others          at once, so that others can follow
 *   no job runs on it, it drains, and another   at once
 *   pilot runs that does not drain
 *   its stop has come                           at once
 *   it does not run yet, and nothing waits or   after `idleS`
 *   runs anywhere
 */
import { assert } from "@tutti/kernel/core/errors.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import { type HeldNodes, lackOf, type NodeRequest, nextRequest } from "@tutti/kernel/core/node-plan.ts";
import { JobTable } from "@tutti/kernel/machines/job-table.ts";
import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";
import {
  NO_PILOT,
  type PilotAsks,
  type PilotRecord,
  type PilotSettings,
  type PilotSite,
  type PilotsInstance,
  type PilotsSchedule,
} from "./contract.ts";
import { PilotPool } from "./pilot-pool.ts";

/** The first ones decide. The live scheduler takes all, by their shape. */
const MOST_WISHES = 200;
/** As the live scheduler: a job begins this much later than its pilot runs, at most. */
export const BEGIN_S = 60;

interface Pilot {
  readonly record: PilotRecord;
  readonly index: number;
  /** Undefined until it serves. */
  pool: PilotPool | undefined;
  /** Since when nothing runs there and nothing that waits could; Infinity: something does. */
  idleSinceS: number;
}

/** Jobs that wait, as far as they count, and for each the pilots on which it may start. */
interface Demand {
  readonly jobs: readonly JobIndex[];
  readonly takers: readonly ReadonlySet<Pilot>[];
}

export class SimulatedPilots {
  nowS = Number.NEGATIVE_INFINITY;
  readonly #instance: PilotsInstance;
  readonly #settings: PilotSettings;
  readonly #site: PilotSite;
  readonly #shown = new JobTable({ shape: false, memory: false, origin: false }, () => {});
  readonly #records: PilotRecord[] = [];
  /** Those that are not gone, in the order in which they were asked for. */
  #present: Pilot[] = [];
  readonly #runningOn = new Map<JobIndex, Pilot>();
  /** In the order of arrival. */
  readonly #waiting = new Set<JobIndex>();
  readonly #ends = new EventHeap();
  #arrived = 0;
  #freeNodes: number;
  /** What pilots that are gone have used. */
  #goneNodeS = 0;
  /** Since when nothing waits or runs; Infinity: something does. */
  #quietSinceS = Number.POSITIVE_INFINITY;
  #stopS = Number.NaN;
  readonly #refused: JobIndex[] = [];
  readonly #pilotOf: Int32Array;
  readonly #startS: Float64Array;
  readonly #endS: Float64Array;
  readonly #processorsOf: (readonly number[])[] = [];

  constructor(instance: PilotsInstance, settings: PilotSettings) {
    const { count, submitS } = instance.jobs;
    this.#instance = instance;
    this.#settings = settings;
    this.#site = instance.site;
    this.#freeNodes = instance.site.nodes;
    this.#pilotOf = new Int32Array(count).fill(NO_PILOT);
    this.#startS = new Float64Array(count).fill(Number.NaN);
    this.#endS = new Float64Array(count).fill(Number.NaN);
    if (settings.asks === undefined && count > 0) this.#holdAll(submitS[0]);
  }

  schedule(): PilotsSchedule {
    return {
      pilots: this.#records,
      pilotOf: this.#pilotOf,
      startS: this.#startS,
      endS: this.#endS,
      processorsOf: this.#processorsOf,
      refused: this.#refused,
      stopS: this.#stopS,
    };
  }

  // ── When ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Goes to the next instant; false if there is none, or if all jobs have ended. */
  advance(): boolean {
    if (this.#hasEnded) {
      this.#stopS = Math.max(this.nowS, 0);
      for (const pilot of [...this.#present]) this.#goBack(pilot);
      return false;
    }
    const nextS = this.#nextS();
    if (nextS === Number.POSITIVE_INFINITY) {
      // Jobs wait for pilots for which the node-hours do not suffice.
      this.#stopS = this.nowS;
      return false;
    }
    this.nowS = nextS;
    for (const { pool } of this.#present) if (pool !== undefined) pool.nowS = nextS;
    return true;
  }

  get #hasEnded(): boolean {
    const isNoneLeft = this.#arrived === this.#instance.jobs.count;
    return isNoneLeft && this.#waiting.size === 0 && this.#runningOn.size === 0;
  }

  #nextS(): number {
    const { count, submitS } = this.#instance.jobs;
    const { nowS } = this;
    const arrivalS = this.#arrived < count ? submitS[this.#arrived] : Number.POSITIVE_INFINITY;
    let nextS = Math.min(this.#ends.nextTime(), arrivalS, this.#nextRunS());
    const later = (dateS: number) => {
      if (dateS > nowS && dateS < nextS) nextS = dateS;
    };
    let areAwaited = false;
    for (const { record, pool, idleSinceS } of this.#present) {
      if (pool === undefined) {
        areAwaited ||= Number.isNaN(record.runsS);
        later(record.servesS);
        continue;
      }
      nextS = Math.min(nextS, pool.wakeS, pool.lateS());
      later(record.drainS);
      later(record.stopS);
      later(idleSinceS + this.#idleS);
    }
    if (areAwaited) later(this.#quietSinceS + this.#idleS);
    return nextS;
  }

  /** When the pilot that was asked for first of those that do not run can run. */
  #nextRunS(): number {
    const first = this.#present.find(({ record }) => Number.isNaN(record.runsS));
    if (first === undefined || first.record.nodes > this.#freeNodes) return Number.POSITIVE_INFINITY;
    return Math.max(this.nowS, first.record.askedS + this.#site.waitS);
  }

  get #idleS(): number {
    return this.#settings.asks?.idleS ?? Number.POSITIVE_INFINITY;
  }

  // ── What happens at an instant ──────────────────────────────────────────────────────────────────────────

  endJobs(): void {
    while (this.#ends.nextTime() === this.nowS) {
      const job = this.#ends.pop();
      this.#endS[job] = this.nowS;
      this.#runningOn.get(job)!.pool!.depart(job);
      this.#runningOn.delete(job);
    }
  }

  /** Pilots run, and jobs can have the nodes of others. */
  begin(): void {
    while (this.#nextRunS() <= this.nowS)
      this.#run(this.#present.find(({ record }) => Number.isNaN(record.runsS))!);
    for (const pilot of this.#present)
      if (pilot.pool === undefined && pilot.record.servesS <= this.nowS) this.#serve(pilot);
  }

  #run({ record }: Pilot): void {
    const endS = this.nowS + record.timeS;
    record.runsS = this.nowS;
    record.servesS = this.nowS + this.#site.startS;
    record.drainS = endS - this.#site.drainS;
    record.stopS = endS - this.#site.stopBeforeS;
    this.#freeNodes -= record.nodes;
  }

  #serve(pilot: Pilot): void {
    const pool = new PilotPool({
      processors: pilot.record.nodes * this.#site.cpusPerNode,
      stopS: pilot.record.stopS,
      queue: this.#settings.queue,
      jobs: this.#instance.jobs,
      shown: this.#shown,
      onStart: (job, processors) => this.#started(job, pilot, processors),
    });
    pool.nowS = this.nowS;
    pilot.pool = pool;
    for (const job of this.#waiting) if (pool.takes(job, this.nowS)) pool.offer(job);
  }

  arrive(): void {
    const { count, submitS } = this.#instance.jobs;
    for (; this.#arrived < count && submitS[this.#arrived] === this.nowS; this.#arrived++) {
      const job = this.#arrived;
      if (this.#isRefused(job)) {
        this.#refused.push(job);
        continue;
      }
      this.#show(job);
      this.#waiting.add(job);
      for (const { pool } of this.#present) if (pool?.takes(job, this.nowS)) pool.offer(job);
    }
  }

  #show(job: JobIndex): void {
    const { size, submitS, estimateS } = this.#instance.jobs;
    this.#shown.reserve(job);
    this.#shown.size[job] = size[job];
    this.#shown.submitS[job] = submitS[job];
    this.#shown.estimateS[job] = estimateS[job];
  }

  /** Whether no pilot could hold it, even if nothing else were there. */
  #isRefused(job: JobIndex): boolean {
    const { asks } = this.#settings;
    if (asks === undefined) return false;
    const [wish, bounds] = [this.#wish(job, false), this.#boundsOf(asks)];
    return asks.kinds.every((kind) => lackOf(kind, wish, bounds) !== undefined);
  }

  withdrawLate(): void {
    for (const { pool } of this.#present) pool?.withdrawLate(this.nowS);
  }

  /** In order. A pilot that has decided may lose a waiting job to a later one: then it decides again. */
  decide(): void {
    for (;;) {
      let hasDecided = false;
      for (const { pool } of this.#present) hasDecided = pool?.decide(this.nowS) || hasDecided;
      if (!hasDecided) return;
    }
  }

  #started(job: JobIndex, pilot: Pilot, processors: readonly number[]): void {
    this.#waiting.delete(job);
    for (const { pool } of this.#present) if (pool !== pilot.pool) pool?.withdraw(job);
    this.#runningOn.set(job, pilot);
    this.#pilotOf[job] = pilot.index;
    this.#startS[job] = this.nowS;
    this.#processorsOf[job] = processors;
    this.#ends.push(this.nowS + this.#instance.jobs.runS[job], job);
  }

  // ── Which pilots there are ──────────────────────────────────────────────────────────────────────────────

  /** Pilots go back, and others are asked for. */
  plan(): void {
    const { asks } = this.#settings;
    if (asks === undefined || this.#hasEnded) return;
    for (;;) {
      const demand = this.#demand();
      this.#note(demand);
      const leaving = this.#present.filter((pilot) => this.#isLeaving(pilot, demand));
      for (const pilot of leaving) this.#goBack(pilot);
      if (leaving.length > 0) continue;
      const request = this.#request(asks, demand);
      if (request === undefined || request === "exhausted") return;
      this.#ask(request);
    }
  }

  #demand(): Demand {
    const jobs: JobIndex[] = [];
    for (const job of this.#waiting) if (jobs.push(job) >= MOST_WISHES) break;
    const takers = jobs.map(
      (job) => new Set(this.#present.filter(({ pool }) => pool?.takes(job, this.nowS))),
    );
    return { jobs, takers };
  }

  /** Notes what is idle from now on. */
  #note({ jobs, takers }: Demand): void {
    for (const pilot of this.#present) {
      const isUsed =
        pilot.pool === undefined || pilot.pool.running > 0 || takers.some((set) => set.has(pilot));
      pilot.idleSinceS = isUsed ? Number.POSITIVE_INFINITY : Math.min(pilot.idleSinceS, this.nowS);
    }
    const isQuiet = jobs.length === 0 && this.#runningOn.size === 0;
    this.#quietSinceS = isQuiet ? Math.min(this.#quietSinceS, this.nowS) : Number.POSITIVE_INFINITY;
  }

  #isLeaving(pilot: Pilot, { takers }: Demand): boolean {
    const { record, pool, idleSinceS } = pilot;
    if (pool === undefined) return Number.isNaN(record.runsS) && this.nowS >= this.#quietSinceS + this.#idleS;
    if (pool.running > 0) return false;
    const isOfNoUse = takers.some((set) => set.size === 0) && !takers.some((set) => set.has(pilot));
    return this.nowS >= idleSinceS + this.#idleS || isOfNoUse || this.#isAtEnd(pilot);
  }

  #isAtEnd(pilot: Pilot): boolean {
    if (this.nowS < pilot.record.drainS) return false;
    const hasSuccessor = this.#present.some(
      (other) => other !== pilot && other.record.runsS <= this.nowS && this.nowS < other.record.drainS,
    );
    return hasSuccessor || this.nowS >= pilot.record.stopS;
  }

  #request(asks: PilotAsks, { jobs, takers }: Demand): NodeRequest | "exhausted" | undefined {
    return nextRequest(
      jobs.map((job, i) => this.#wish(job, takers[i].size > 0)),
      asks.kinds,
      this.#present.map((pilot) => this.#held(pilot)),
      this.#boundsOf(asks),
    );
  }

  #boundsOf({ maxNodes, maxNodeS, idleS }: PilotAsks) {
    const askedNodeS = this.#present.reduce((sum, { record }) => sum + record.nodes * record.timeS, 0);
    return {
      maxNodes,
      leftNodeS: maxNodeS - this.#goneNodeS - askedNodeS,
      stopBeforeS: this.#site.stopBeforeS,
      beginS: BEGIN_S,
      wantsAny: idleS === Number.POSITIVE_INFINITY,
    };
  }

  #wish(job: JobIndex, isTaken: boolean) {
    const { size, estimateS } = this.#instance.jobs;
    return { tasks: size[job], limitS: estimateS[job], isTaken };
  }

  #held({ record, pool }: Pilot): HeldNodes {
    const { nodes, kind, timeS } = record;
    if (pool === undefined) return { nodes, isEnding: false, awaited: { kind, timeS } };
    return { nodes, isEnding: this.nowS >= record.drainS };
  }

  #ask({ kind, nodes, timeS }: NodeRequest): void {
    this.#add({ kind: kind.name, nodes, timeS });
  }

  /** One pilot of all nodes, which never ends. */
  #holdAll(fromS: number): void {
    this.nowS = fromS;
    const pilot = this.#add({ kind: "all", nodes: this.#site.nodes, timeS: Number.POSITIVE_INFINITY });
    this.#run(pilot);
    pilot.record.servesS = fromS;
    this.#serve(pilot);
    this.nowS = Number.NEGATIVE_INFINITY;
  }

  #add(asked: Pick<PilotRecord, "kind" | "nodes" | "timeS">): Pilot {
    const never = { runsS: Number.NaN, servesS: Number.NaN, drainS: Number.NaN, stopS: Number.NaN };
    const record = { ...asked, askedS: this.nowS, ...never, goneS: Number.NaN };
    const index = this.#records.push(record) - 1;
    const pilot = { record, index, pool: undefined, idleSinceS: Number.POSITIVE_INFINITY };
    this.#present.push(pilot);
    return pilot;
  }

  #goBack(pilot: Pilot): void {
    const { record, pool } = pilot;
    assert((pool?.running ?? 0) === 0, `pilot ${pilot.index} goes back while jobs run on it`);
    record.goneS = this.nowS;
    this.#present = this.#present.filter((other) => other !== pilot);
    if (Number.isNaN(record.runsS)) return;
    this.#freeNodes += record.nodes;
    this.#goneNodeS += record.nodes * (this.nowS - record.runsS);
  }
}
