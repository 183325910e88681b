/**
 * Plans migrations: moves gangs to other processors, at a cost, if that saves a row of the matrix. A
 * processor without an idle slot is full. As long as there is a full processor, exchanges between rows cannot
 * empty a row. Then gangs on full processors move to other processors, if that saves a row and the gain
 * covers the cost.
 *
 *   AA..      ..AA      CCAA
 *   CC..   →  CC..   →
 *
 * Here, processors 0 and 1 are full, so exchanges cannot save a row. After A has moved, they can.
 *
 * Which gangs move? The plan scans the processors from left to right. On each processor that is still full
 * when the scan reaches it, it picks the gang that reaches furthest to the right, not counting processors
 * after the last full one. That gang moves to the window that an arrival would get in a matrix with one row
 * fewer. Thus the fewest possible gangs move, provided that each of them finds a window.
 *
 * Does it pay? It is not known how long a gang will still run. The only assumption is that it needs as much
 * service again as it has had. That is the median for processes (Harchol-Balter and Downey, ACM TOCS 15(3),
 * 1997), from which its authors derive which processes should migrate. Without migration, the row can be
 * deleted once a gang has ended on every full processor, after T seconds of service. Until then, migration
 * makes every round one slot shorter. Let W be the number of slots taken in a round, and R the number of
 * rows. Then W ÷ (R − 1) processors work in each slot. So migration gains T × W ÷ (R − 1) processor-seconds.
 * It loses the cost of a move × the processors of the moved gangs.
 */

import { InputError } from "../../core/errors.ts";
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import { number } from "../../core/parameters.ts";
import {
  type GangMachine,
  type Guarantees,
  NONE as NOT_SET,
  type ParameterValues,
  type RunId,
  setNumber,
  when,
} from "../../core/policy.ts";
import { JobNumbers } from "../../structures/job-column.ts";
import { blockLevel } from "../../structures/matrix/buddy.ts";

const NONE = -1;

export class Migration {
  readonly machine: GangMachine;
  /** The moves of the plan, in order. */
  readonly jobs: JobIndex[] = [];
  readonly firsts: number[] = [];
  /**
   * Number of idle slots of each processor. The policy fills it in; `plan` keeps it up to date while it
   * plans.
   */
  readonly idle: Int32Array;
  readonly #jobs: JobsView;
  readonly #inBlocks: boolean;
  readonly #costS: number;
  /** Slots that a gang must have had before it is moved, by job. */
  readonly #movableAt = new JobNumbers(1);
  /** One past the last full processor. */
  #fullEnd = 0;
  /** Length of the longest run of processors with at least two idle slots each. */
  #widest = 0;

  /** @param inBlocks windows are buddy blocks: aligned, and all of the block's processors count */
  constructor(machine: GangMachine, jobs: JobsView, inBlocks: boolean, costS: number) {
    this.machine = machine;
    this.#jobs = jobs;
    this.#inBlocks = inBlocks;
    this.#costS = costS;
    this.idle = new Int32Array(machine.processors);
  }

  /**
   * Plans moves after which every processor has an idle slot, starting from `idle`. The plan is empty if
   * there are no such moves, or if they do not pay.
   */
  plan(): void {
    this.jobs.length = 0;
    this.firsts.length = 0;
    const { idle } = this;
    this.#fullEnd = 1 + idle.lastIndexOf(0);
    this.#findWidest();
    // A gang that leaves a full processor needs one with two idle slots: one for the gang, and one for the
    // row to delete.
    if (this.#widest === 0) return;
    const gain = this.#gainOfARow();
    let processors = 0;
    for (let at = 0; at < this.#fullEnd; at++) {
      if (idle[at] > 0) continue;
      const job = this.#moveAway(at);
      if (job !== NONE) processors += this.#jobs.size[job];
      if (job !== NONE && processors * this.#costS <= gain) continue;
      this.jobs.length = 0;
      return;
    }
    for (const job of this.jobs) this.#noteMove(job);
  }

  /** Processor-seconds gained by deleting a row now, until it could be deleted without migration. */
  #gainOfARow(): number {
    const { rowCount, slotS } = this.machine;
    let taken = rowCount * this.idle.length;
    for (let at = 0; at < this.idle.length; at++) taken -= this.idle[at];
    return (this.#restSlots() * slotS * taken) / (rowCount - 1);
  }

  /** Slots until a gang has ended on every full processor, if each gang needs as many more as it has had. */
  #restSlots(): number {
    const machine = this.machine;
    let rest = 0;
    for (let at = 0; at < this.#fullEnd; ) {
      if (this.idle[at] > 0) {
        at++;
        continue;
      }
      let least = Number.POSITIVE_INFINITY;
      let end = this.#fullEnd;
      for (let position = 0; position < machine.rowCount; position++) {
        const run = this.#runAt(position, at);
        least = Math.min(least, machine.servedSlots(machine.runJob(run)));
        end = Math.min(end, machine.runFirst(run) + machine.runSize(run));
      }
      rest = Math.max(rest, least);
      at = end;
    }
    return rest;
  }

  /** Adds a move of a gang on the given full processor to the plan; returns −1 if no gang there can move. */
  #moveAway(processor: number): JobIndex {
    const machine = this.machine;
    let best: RunId = NONE;
    let bestFirst = NONE;
    for (let position = 0; position < machine.rowCount; position++) {
      const run = this.#runAt(position, processor);
      if (best !== NONE && !this.#comesBefore(run, best)) continue;
      if (!this.#isMovable(machine.runJob(run))) continue;
      const first = this.#windowFor(run);
      if (first === NONE) continue;
      best = run;
      bestFirst = first;
    }
    if (best === NONE) return NONE;
    const job = machine.runJob(best);
    this.#add(machine.runFirst(best), this.#jobs.size[job], 1);
    this.#add(bestFirst, this.#jobs.size[job], -1);
    this.#findWidest();
    this.jobs.push(job);
    this.firsts.push(bestFirst);
    return job;
  }

  /**
   * Prefers the gang that reaches furthest to the right, up to the last full processor; then the smallest,
   * then the one submitted first.
   */
  #comesBefore(a: RunId, b: RunId): boolean {
    const machine = this.machine;
    const reachA = Math.min(machine.runFirst(a) + machine.runSize(a), this.#fullEnd);
    const reachB = Math.min(machine.runFirst(b) + machine.runSize(b), this.#fullEnd);
    if (reachA !== reachB) return reachA > reachB;
    const smaller = machine.runSize(b) - machine.runSize(a);
    return smaller === 0 ? machine.runJob(a) < machine.runJob(b) : smaller > 0;
  }

  #isMovable(job: JobIndex): boolean {
    return this.machine.slotsOf(job) === 1 && this.machine.servedSlots(job) >= this.#movableAt.get(job);
  }

  /** The gang may move again when it has had all slots that this move costs, and at least one. */
  #noteMove(job: JobIndex): void {
    const costSlots = Math.max(1, this.#costS / this.machine.slotS);
    this.#movableAt.set(job, this.machine.servedSlots(job) + costSlots);
  }

  /**
   * The least loaded window of the gang's size that has room even after a row is deleted; −1 if there is
   * none.
   */
  #windowFor(run: RunId): number {
    const size = this.machine.runSize(run);
    const own = this.machine.runFirst(run);
    this.#add(own, size, 1);
    // If no stretch elsewhere is wide enough, the window must include some of the gang's own processors.
    const from = size <= this.#widest ? 0 : Math.max(0, own - size);
    const end = size <= this.#widest ? this.idle.length : Math.min(own + 2 * size, this.idle.length);
    const first = this.#inBlocks ? this.#leastLoadedBlock(size) : this.#leastLoadedWindow(size, from, end);
    this.#add(own, size, -1);
    return first;
  }

  #findWidest(): void {
    let free = 0;
    this.#widest = 0;
    for (let at = 0; at < this.idle.length; at++) {
      free = this.idle[at] > 1 ? free + 1 : 0;
      if (free > this.#widest) this.#widest = free;
    }
  }

  /** Within from … end − 1. */
  #leastLoadedWindow(size: number, from: number, end: number): number {
    const { idle } = this;
    let best = NONE;
    let maxIdle = 0;
    // Idle slots of the window that ends with `at`, and the number of consecutive processors up to `at` that
    // have two each.
    let sum = 0;
    let free = 0;
    for (let at = from; at < end; at++) {
      sum += idle[at] - (at >= from + size ? idle[at - size] : 0);
      free = idle[at] > 1 ? free + 1 : 0;
      if (free < size || sum <= maxIdle) continue;
      best = at - size + 1;
      maxIdle = sum;
    }
    return best;
  }

  #leastLoadedBlock(size: number): number {
    const { idle } = this;
    const width = 1 << blockLevel(size);
    let best = NONE;
    let maxIdle = 0;
    for (let first = 0; first + size <= idle.length; first += width) {
      const end = Math.min(first + width, idle.length);
      // As in a matrix with one row fewer.
      let sum = 0;
      let at = first;
      for (; at < end && idle[at] > 1; at++) sum += idle[at] - 1;
      if (at < end || sum <= maxIdle) continue;
      best = first;
      maxIdle = sum;
    }
    return best;
  }

  #runAt(position: number, processor: number): RunId {
    return this.machine.runBefore(this.machine.rowAt(position), processor);
  }

  #add(first: number, size: number, slots: number): void {
    for (let at = first; at < first + size; at++) this.idle[at] += slots;
  }
}

export const MIGRATE = number(
  "migrate",
  { min: 0, max: 1e15, default: NOT_SET, noneFrom: -1, unit: "s" },
  "service that a gang loses when it moves to other processors to save a row (in simulations only); none: gangs keep their processors",
);

/** Rules that hold with `migrate`. */
export const MIGRATION_RULES = when(
  (parameters) => migrationCostS(parameters) !== undefined,
  [
    "migrate=S: after the arrivals of an instant, when exchanges cannot empty another row, gangs move to other processors as long as that saves a row and the move pays",
    "migrate=S: each gang that moves needs S more seconds of service",
    "migrate=S: a live scheduler never moves gangs",
    "migrate: from left to right, one gang moves from each processor without an idle slot: the one that reaches furthest to the right, not counting processors after the last one without an idle slot (ties: the smallest, then submitted first)",
    "migrate: a gang moves to the place that an arrival would get in a matrix with one row fewer",
    "migrate: either every processor gets an idle slot in this way, or no gang moves",
    "migrate: a gang may move if it has one slot per round and has had a slot; before it moves again, it must have had as much service as the move cost",
    "migrate: moving pays if S × (processors of the moved gangs) ≤ T × W ÷ (R − 1), where R is the number of rows and W the number of slots taken in a round",
    "migrate: T is the service until a gang has ended on every processor without an idle slot, if each gang needs as much service again as it has had (Harchol-Balter and Downey 1997)",
  ],
).map((rule) => ({ ...rule, isInherited: true }));

/** Seconds that a migration costs; undefined if gangs keep their processors. */
export function migrationCostS(parameters: ParameterValues): number | undefined {
  return setNumber(parameters.migrate);
}

export function withMigration(guarantees: Guarantees, parameters: ParameterValues): Guarantees {
  const migrationS = migrationCostS(parameters);
  return migrationS === undefined ? guarantees : { ...guarantees, migrationS };
}

/**
 * The planner of migrations; undefined if gangs keep their processors.
 * @throws InputError on a machine that does not move gangs
 */
export function migrationOf(
  machine: GangMachine,
  jobs: JobsView,
  inBlocks: boolean,
  parameters: ParameterValues,
): Migration | undefined {
  const costS = migrationCostS(parameters);
  if (costS === undefined) return undefined;
  if (!machine.movesGangs) {
    throw new InputError(
      `Cannot run a gang policy with "migrate=${costS}" here: this machine cannot move gangs, expected a simulation of the matrix; leave migrate out`,
    );
  }
  return new Migration(machine, jobs, inBlocks, costS);
}

/**
 * The setting with which rows and memory cannot be limited, and the reason; undefined if gangs do not
 * migrate.
 */
export function migrates({ migrate }: ParameterValues): readonly [string, string] | undefined {
  if (setNumber(migrate) === undefined) return undefined;
  return [`migrate=${migrate}`, "reservations are forecast for gangs that keep their processors"];
}
