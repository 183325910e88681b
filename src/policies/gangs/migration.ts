/**
 * Re-packing with migration at a cost: when exchanges between rows cannot empty a row any more, gangs on full processors (those
 * without an idle slot) are moved to other ones, if that saves a row and pays.
 *
 *   AA..      ..AA      CCAA     processors 0 and 1 are full: exchanges cannot save a row;
 *   CC..   →  CC..   →           A moves, then they can
 *
 * Who moves: from the left, on each processor that is full, the gang that reaches furthest over the full ones, to the window that
 * an arrival would be given in a matrix with one row less. So the full processors are covered by the fewest gangs, as long as each of
 * these finds a window.
 *
 * Does it pay? Nobody knows how long a gang still runs. Processes were found to need, in the median, as much again as they have had (Harchol-Balter and
 * Downey, ACM TOCS 15(3), 1997, who derive from it which processes should migrate); that is all that is assumed here. Without migration
 * the row goes when on every full processor a gang has ended: after T seconds of service. Until then every round is one slot
 * shorter with the row gone, and the machine has, per slot, W ÷ (R − 1) processors at work (W slots of a round taken, R rows). So
 * T × W ÷ (R − 1) processor-seconds are won; cost × processors of the moved gangs are lost.
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
  /** The policy writes here how many idle slots each processor has; kept up to date while the plan is made. */
  readonly idle: Int32Array;
  readonly #jobs: JobsView;
  readonly #inBlocks: boolean;
  readonly #costS: number;
  /** Slots that a gang must have had before it is moved, by job. */
  readonly #movableAt = new JobNumbers(1);
  /** Behind the last full processor. */
  #fullEnd = 0;
  /** Processors side by side that have two idle slots each: the most there are. */
  #widest = 0;

  /** @param inBlocks windows are buddy blocks: aligned, and all of the block's processors count */
  constructor(machine: GangMachine, jobs: JobsView, inBlocks: boolean, costS: number) {
    this.machine = machine;
    this.#jobs = jobs;
    this.#inBlocks = inBlocks;
    this.#costS = costS;
    this.idle = new Int32Array(machine.processors);
  }

  /** Plans the moves after which every processor has an idle slot, from `idle`. No moves: there are none, or they do not pay. */
  plan(): void {
    this.jobs.length = 0;
    this.firsts.length = 0;
    const { idle } = this;
    this.#fullEnd = 1 + idle.lastIndexOf(0);
    this.#findWidest();
    // A gang that leaves a full processor needs another one with two idle slots: one that it takes and one that the row takes.
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

  /** Processor-seconds that are won by a row less, until it would go by itself. */
  #gainOfARow(): number {
    const { rowCount, slotS } = this.machine;
    let taken = rowCount * this.idle.length;
    for (let at = 0; at < this.idle.length; at++) taken -= this.idle[at];
    return (this.#restSlots() * slotS * taken) / (rowCount - 1);
  }

  /** Slots until on every full processor a gang has ended, if each needs as many as it has had. */
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

  /** Adds a move of a gang that stands on a full processor to the plan; −1 when none of them can be moved. */
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

  /** The furthest reach over full processors first, then the smallest, then the one submitted first. */
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

  /** It is moved again when it has had a slot, and all slots that the move has cost. */
  #noteMove(job: JobIndex): void {
    const costSlots = Math.max(1, this.#costS / this.machine.slotS);
    this.#movableAt.set(job, this.machine.servedSlots(job) + costSlots);
  }

  /** The least loaded window of the gang's size that has room beside a deleted row; −1 when there is none. */
  #windowFor(run: RunId): number {
    const size = this.machine.runSize(run);
    const own = this.machine.runFirst(run);
    this.#add(own, size, 1);
    // Without a wide enough stretch elsewhere the window needs some of the gang's own processors.
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
    let mostIdle = 0;
    // Idle slots of the window that ends with `at`, and how many processors up to `at` have two each.
    let sum = 0;
    let free = 0;
    for (let at = from; at < end; at++) {
      sum += idle[at] - (at >= from + size ? idle[at - size] : 0);
      free = idle[at] > 1 ? free + 1 : 0;
      if (free < size || sum <= mostIdle) continue;
      best = at - size + 1;
      mostIdle = sum;
    }
    return best;
  }

  #leastLoadedBlock(size: number): number {
    const { idle } = this;
    const width = 1 << blockLevel(size);
    let best = NONE;
    let mostIdle = 0;
    for (let first = 0; first + size <= idle.length; first += width) {
      const end = Math.min(first + width, idle.length);
      // In a matrix with one row less.
      let sum = 0;
      let at = first;
      for (; at < end && idle[at] > 1; at++) sum += idle[at] - 1;
      if (at < end || sum <= mostIdle) continue;
      best = first;
      mostIdle = sum;
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
  "service that a gang loses when it moves to other processors to save a row, in simulations only; none: gangs keep their processors",
);

/** Sentences that hold with `migrate`. */
export const MIGRATION_RULES = when(
  (parameters) => migrationCostS(parameters) !== undefined,
  [
    "migrate=S: after the arrivals of an instant, when exchanges can save no more rows, gangs move to other processors as long as that saves a row and pays",
    "migrate=S: each gang that moves needs S more seconds of service",
    "migrate=S: a live scheduler never moves gangs",
    "migrate: the policy goes through the processors without an idle slot from left to right; from each it moves the gang that reaches furthest over such processors (ties: the smallest, then submitted first)",
    "migrate: a gang moves to the place that an arrival would get in a matrix with one row fewer",
    "migrate: either every processor gets an idle slot in this way, or no gang moves",
    "migrate: a gang may move if it has one slot per round, has had a slot and, after an earlier move, has had as much service as that move cost",
    "migrate: moving pays if S × (processors of the moved gangs) ≤ T × W ÷ (R − 1), where R is the number of rows and W the number of slots taken in a round",
    "migrate: T is the service until a gang has ended on every processor without an idle slot, if each gang needs as much again as it has had (Harchol-Balter and Downey 1997)",
  ],
);

/** Seconds that a migration costs; undefined when gangs keep their processors. */
export function migrationCostS(parameters: ParameterValues): number | undefined {
  return setNumber(parameters.migrate);
}

export function withMigration(guarantees: Guarantees, parameters: ParameterValues): Guarantees {
  const migrationS = migrationCostS(parameters);
  return migrationS === undefined ? guarantees : { ...guarantees, migrationS };
}

/**
 * What plans migrations; undefined when gangs keep their processors.
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
      `Cannot run a gang policy with "migrate=${costS}" here: this machine cannot move gangs, expected a simulation of rows of the matrix; leave migrate out`,
    );
  }
  return new Migration(machine, jobs, inBlocks, costS);
}

/** Why rows and memory cannot be limited where gangs migrate. */
export function migrates({ migrate }: ParameterValues): readonly [string, string] | undefined {
  if (setNumber(migrate) === undefined) return undefined;
  return [`migrate=${migrate}`, "reservations are forecast for gangs that keep their processors"];
}
