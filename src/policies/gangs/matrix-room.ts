/**
 * Whether a matrix of at most m rows has room for one more job: the books of an admission queue, kept beside the gang policy that
 * places the jobs. How that policy uses its rows is declared:
 *
 *   lines    rows      a job needs idle processors within one row; nothing moves
 *            columns   idle slots of different rows are gathered (re-packing): a processor has room while fewer than m of its slots are
 *                      taken, whichever rows they are in
 *   blocks   side by side, or buddy blocks (aligned; `whole`: nobody else uses what a job leaves of its block)
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { GangMachine, MemoryRule, RowId } from "../../core/policy.ts";
import { blockLevel } from "../../structures/matrix/buddy.ts";
import { RangeMax } from "../../structures/range-max.ts";

/** How a gang policy uses the matrix. */
export interface MatrixUse {
  readonly lines: "rows" | "columns";
  readonly blocks: "side by side" | "buddy" | "whole buddy";
  /** Whether extra slots stay taken until their job ends; else they count for nothing. */
  readonly keepsExtraSlots: boolean;
  /** Whether the policy asks `mayHold` before it places a job; without it memory cannot be limited. */
  readonly asks: boolean;
}

const NONE = -1;

/** Whether the job may be placed from a processor on, for reasons beside idle slots. */
type MayHold = (job: JobIndex, first: number) => boolean;

export class MatrixRoom {
  readonly maxRows: number;
  readonly use: MatrixUse;
  readonly memory: MemoryRule | undefined;
  /** Slots taken on each processor. */
  readonly taken: RangeMax;
  /** Memory in use on each processor, in KB. */
  readonly memoryInUse: RangeMax;
  /** Jobs in the matrix, in no particular order. */
  readonly placed: JobIndex[] = [];
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #first: Int32Array;
  readonly #slots: Int32Array;
  readonly #placeInList: Int32Array;

  /** @param maxRows Infinity for no limit */
  constructor(
    machine: GangMachine,
    jobs: JobsView,
    use: MatrixUse,
    maxRows: number,
    memory: MemoryRule | undefined,
  ) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.use = use;
    this.maxRows = maxRows;
    this.memory = memory;
    this.taken = new RangeMax(machine.processors);
    this.memoryInUse = new RangeMax(machine.processors);
    this.#first = new Int32Array(jobs.count);
    this.#slots = new Int32Array(jobs.count);
    this.#placeInList = new Int32Array(jobs.count);
  }

  firstOf(job: JobIndex): number {
    return this.#first[job];
  }

  /** Slots of a round that the job holds for good. */
  slotsOf(job: JobIndex): number {
    return this.#slots[job];
  }

  /** Memory that the job counts as on each of its processors, in KB. */
  memoryOf(job: JobIndex): number {
    return this.memory === undefined ? 0 : countedMemory(this.memory, this.#jobs.memoryKB?.[job]);
  }

  hasMemory(job: JobIndex, first: number): boolean {
    if (this.memory === undefined) return true;
    const most = this.memory.limitKB - this.memoryOf(job);
    return this.memoryInUse.max(first, first + this.#jobs.size[job]) <= most;
  }

  /** Processors between two places at which a job of the size may begin. */
  stepOf(size: number): number {
    return this.use.blocks === "side by side" ? 1 : 1 << blockLevel(size);
  }

  /** Processors that have to be idle for a job that begins at `first`. */
  endOf(size: number, first: number): number {
    if (this.use.blocks === "side by side") return first + size;
    return Math.min(first + (1 << blockLevel(size)), this.#machine.processors);
  }

  /** Processors that nobody else can use in the row while the job is there. */
  takenEnd(job: JobIndex): number {
    const size = this.#jobs.size[job];
    const first = this.#first[job];
    return this.use.blocks === "whole buddy" ? this.endOf(size, first) : first + size;
  }

  /** The policy has placed the job. */
  add(job: JobIndex): void {
    const first = this.#machine.runFirst(this.#machine.firstRunOfJob(job));
    this.#first[job] = first;
    this.#slots[job] = 1;
    this.#placeInList[job] = this.placed.length;
    this.placed.push(job);
    this.#count(job, 1, this.memoryOf(job));
  }

  /** The job has ended. */
  remove(job: JobIndex): void {
    this.#count(job, -this.#slots[job], -this.memoryOf(job));
    const last = this.placed.pop() as JobIndex;
    if (last === job) return;
    this.placed[this.#placeInList[job]] = last;
    this.#placeInList[last] = this.#placeInList[job];
  }

  /** Notes extra slots that the policy has given for good. To be called after each of its decisions. */
  noteExtraSlots(): void {
    if (!this.use.keepsExtraSlots) return;
    for (let i = 0; i < this.placed.length; i++) {
      const job = this.placed[i];
      const more = this.#machine.slotsOf(job) - this.#slots[job];
      if (more === 0) continue;
      this.#slots[job] += more;
      this.#count(job, more, 0);
    }
  }

  /** Whether the policy can place the job now, where `mayHold` allows it, without a row too many. */
  hasRoom(job: JobIndex, mayHold: MayHold): boolean {
    const size = this.#jobs.size[job];
    if (this.use.lines === "columns") return this.#hasColumns(job, size, mayHold);
    if (this.#machine.rowCount < this.maxRows) return true;
    for (let position = 0; position < this.#machine.rowCount; position++)
      if (this.#rowHasRoom(this.#machine.rowAt(position), size)) return true;
    return false;
  }

  #hasColumns(job: JobIndex, size: number, mayHold: MayHold): boolean {
    const step = this.stepOf(size);
    const last = this.#machine.processors - size;
    for (let first = 0; first <= last; ) {
      const full = this.taken.lastAbove(first, this.endOf(size, first), this.maxRows - 1);
      if (full < 0 && mayHold(job, first)) return true;
      first = full < 0 ? first + step : Math.ceil((full + 1) / step) * step;
    }
    return false;
  }

  #rowHasRoom(row: RowId, size: number): boolean {
    const machine = this.#machine;
    const step = this.stepOf(size);
    let first = 0;
    for (let run = machine.firstRun(row); ; run = machine.nextRun(run)) {
      if (first + size > machine.processors) return false;
      const gapEnd = run === NONE ? machine.processors : machine.runFirst(run);
      if (this.endOf(size, first) <= gapEnd) return true;
      if (run === NONE) return false;
      first = Math.max(first, Math.ceil(this.takenEnd(machine.runJob(run)) / step) * step);
    }
  }

  #count(job: JobIndex, slots: number, memoryKB: number): void {
    const first = this.#first[job];
    const end = first + this.#jobs.size[job];
    this.taken.add(first, end, slots);
    if (memoryKB !== 0) this.memoryInUse.add(first, end, memoryKB);
  }
}

/** What a job counts as under a rule: whole KB, never more than the limit. */
export function countedMemory(rule: MemoryRule, toldKB: number | undefined): number {
  const known = toldKB !== undefined && toldKB > 0 ? toldKB : rule.unknownKB;
  return Math.min(Math.ceil(known), rule.limitKB);
}
