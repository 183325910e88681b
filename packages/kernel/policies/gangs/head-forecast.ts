/**
 * Forecasts when the head of an admission queue will have room in a matrix of at most m rows. The admission
 * queue reserves that time for the head, as EASY does in space sharing.
 *
 * The rule is pessimistic: a job in the matrix is assumed to get one slot in every m from now on, until it
 * has had all slots of its estimate. That is its expected end, and it then leaves the matrix. So every
 * processor (of every row, if nothing is re-packed) becomes free for the head at some time. A block is free
 * once its last processor is free. The head starts in the block that is free first (ties: the leftmost):
 *
 *   processor              0 1 2 3 4 5 6 7
 *   free from (s)          0 0 7 7 3 3 3 9
 *   block of 3 free from   7 7 7 7 3 9          a head of size 3 gets processors 4, 5, 6 at 3 s
 *
 * Another job may pass the head if its own expected end is by that time, or if each of its processors in the
 * reserved block will then have a slot (and memory) to spare.
 *
 * A policy that takes any processors of a row needs no block: a row has room for a head of size n at the n-th
 * smallest of its times.
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { GangMachine, RowId, RunId } from "../../core/policy.ts";
import { JobIntegers, JobNumbers } from "../../structures/job-column.ts";
import { blockLevel } from "../../structures/matrix/buddy.ts";
import type { MatrixMemory } from "./matrix-memory.ts";
import type { QueryableGangs } from "./queryable-gangs.ts";

const NONE = -1;

export class HeadForecast {
  /** The time at which the head will have room, by the rule. */
  shadowS = 0;
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #gangs: QueryableGangs;
  readonly #maxRows: number;
  readonly #memory: MatrixMemory | undefined;
  readonly #switchS: number;
  /** Expected end of each job in the matrix, as of the last `reserve`. */
  readonly #endS = new JobNumbers();
  /** Jobs of the matrix by expected end, as of the last `reserve`. */
  readonly #byEnd: JobIndex[] = [];
  /** Slots per round that each of them keeps until it ends. */
  readonly #slots = new JobIntegers();

  // By processor, in the row (or, with re-packing, the matrix) of the head's block: when the head may have
  // the processor, and what is then left besides the head.
  readonly #freeS: Float64Array;
  readonly #memoryFreeS: Float64Array;
  readonly #spareSlots: Float64Array;
  readonly #spareKB: Float64Array;
  readonly #windowS: Float64Array;
  readonly #window: Int32Array;
  #head: JobIndex = NONE;
  #first = 0;

  /** @param maxRows Infinity for no limit */
  constructor(
    machine: GangMachine,
    jobs: JobsView,
    gangs: QueryableGangs,
    maxRows: number,
    memory: MatrixMemory | undefined,
  ) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.#gangs = gangs;
    this.#maxRows = maxRows;
    this.#memory = memory;
    this.#switchS = maxRows > 1 ? machine.switchS : 0;
    const { processors } = machine;
    this.#freeS = new Float64Array(processors);
    this.#memoryFreeS = new Float64Array(processors);
    this.#spareSlots = new Float64Array(processors);
    this.#spareKB = new Float64Array(processors);
    this.#windowS = new Float64Array(processors);
    this.#window = new Int32Array(processors);
  }

  /**
   * The expected end of a job: it gets one slot in every m from now on, until it has had all slots of its
   * estimate. Without a row limit, m is the present number of rows plus one.
   */
  expectedEndS(job: JobIndex, isPlaced: boolean): number {
    const served = isPlaced ? this.#machine.servedSlots(job) : 0;
    const slots = Math.max(1, slotsOfEstimate(this.#jobs.estimateS[job], this.#machine.slotS) - served);
    const rows = this.#maxRows === Number.POSITIVE_INFINITY ? this.#machine.rowCount + 1 : this.#maxRows;
    return this.#machine.nowS + slots * rows * (this.#machine.slotS + this.#switchS);
  }

  /** Makes the reservation of the head, which has no room now. */
  reserve(head: JobIndex): void {
    this.#head = head;
    this.#order();
    this.#findMemoryFree(head);
    this.shadowS = Number.POSITIVE_INFINITY;
    if (this.#gangs.use.lines === "columns") {
      this.#findColumnsFree();
      this.#findBlock();
    } else {
      const machine = this.#machine;
      for (let position = 0; position < machine.rowCount; position++) {
        this.#findRowFree(machine.rowAt(position));
        this.#findBlock();
      }
    }
    this.#findSpare();
  }

  /** Whether a job that ends at `endS` may be placed from `first` on without delaying the reservation. */
  allows(job: JobIndex, endS: number, first: number): boolean {
    if (endS <= this.shadowS) return true;
    const memoryKB = this.#memoryOf(job);
    const end = first + this.#jobs.size[job];
    for (let processor = first; processor < end; processor++)
      if (this.#spareSlots[processor] < 1 || this.#spareKB[processor] < memoryKB) return false;
    return true;
  }

  /** A job that ends at `endS` has been placed past the head. */
  passed(job: JobIndex, endS: number): void {
    if (endS <= this.shadowS) return;
    const first = this.#firstOf(job);
    const memoryKB = this.#memoryOf(job);
    for (let processor = first; processor < first + this.#jobs.size[job]; processor++) {
      this.#spareSlots[processor]--;
      this.#spareKB[processor] -= memoryKB;
    }
  }

  /** Jobs of the matrix by expected end; ties: submitted first. */
  #order(): void {
    const ends = this.#endS;
    for (const job of this.#byEnd) this.#slots.set(job, 0);
    this.#byEnd.length = 0;
    for (let position = 0; position < this.#machine.rowCount; position++)
      this.#collect(this.#machine.rowAt(position));
    for (const job of this.#byEnd) ends.set(job, this.expectedEndS(job, true));
    this.#byEnd.sort((a, b) => ends.get(a) - ends.get(b) || a - b);
  }

  /** Collects the jobs of a row, and counts the slots that they keep. */
  #collect(row: RowId): void {
    const machine = this.#machine;
    for (let run = machine.firstRun(row); run !== NONE; run = machine.nextRun(run)) {
      if (!this.#gangs.isTaken(run)) continue;
      const job = machine.runJob(run);
      const slots = this.#slots.get(job);
      if (slots === 0) this.#byEnd.push(job);
      this.#slots.set(job, slots + 1);
    }
  }

  /** Computes when each processor will have memory for the head. */
  #findMemoryFree(head: JobIndex): void {
    this.#memoryFreeS.fill(this.#machine.nowS);
    if (this.#memory === undefined) return;
    const limit = this.#memory.limitKB - this.#memoryOf(head);
    this.#findFree(this.#memoryFreeS, this.#spareKB, limit, (job) => this.#memoryOf(job));
  }

  /** Computes when fewer than m slots of each processor will be taken. */
  #findColumnsFree(): void {
    this.#freeS.fill(this.#machine.nowS);
    this.#findFree(this.#freeS, this.#spareSlots, this.#maxRows - 1, (job) => this.#slots.get(job));
  }

  /**
   * Computes when at most `limit` will be in use on each processor. If more is in use now, that is at the end
   * of the last job that keeps the use above `limit`.
   */
  #findFree(
    freeS: Float64Array,
    inUse: Float64Array,
    limit: number,
    amountOf: (job: JobIndex) => number,
  ): void {
    inUse.fill(0);
    for (const job of this.#byEnd) this.#addTo(inUse, job, amountOf(job));
    for (const job of this.#byEnd) {
      const first = this.#firstOf(job);
      const end = first + this.#jobs.size[job];
      const amount = amountOf(job);
      const endS = this.#endS.get(job);
      for (let processor = first; processor < end; processor++) {
        if (inUse[processor] > limit) freeS[processor] = endS;
        inUse[processor] -= amount;
      }
    }
  }

  /** Computes when each processor of the row will be idle. */
  #findRowFree(row: RowId): void {
    const machine = this.#machine;
    const freeS = this.#freeS.fill(machine.nowS);
    for (let run = machine.firstRun(row); run !== NONE; run = machine.nextRun(run)) {
      if (!this.#gangs.isTaken(run)) continue;
      freeS.fill(this.#endS.get(machine.runJob(run)), machine.runFirst(run), this.#takenEnd(run));
    }
  }

  /** Finds the block that is free first, and takes it if it is earlier than the best one so far. */
  #findBlock(): void {
    const size = this.#jobs.size[this.#head];
    if (this.#gangs.use.blocks === "any") {
      const sorted = this.#windowS;
      sorted.set(this.#freeS);
      sorted.sort();
      this.shadowS = Math.min(this.shadowS, sorted[size - 1]);
      return;
    }
    const step = this.#stepOf(size);
    const freeS = this.#freeS;
    const memoryFreeS = this.#memoryFreeS;
    if (step === 1) {
      for (let at = 0; at < freeS.length; at++) freeS[at] = Math.max(freeS[at], memoryFreeS[at]);
      this.#slideWindow(size);
    }
    for (let first = 0; first + size <= freeS.length; first += step) {
      let blockS = step === 1 ? this.#windowS[first] : 0;
      if (step > 1) {
        for (let at = first; at < this.#endOf(size, first); at++) blockS = Math.max(blockS, freeS[at]);
        for (let at = first; at < first + size; at++) blockS = Math.max(blockS, memoryFreeS[at]);
      }
      if (blockS >= this.shadowS) continue;
      this.shadowS = blockS;
      this.#first = first;
    }
  }

  /** The latest time within each window of `size` processors, by the window's first processor. */
  #slideWindow(size: number): void {
    const freeS = this.#freeS;
    const window = this.#window;
    let from = 0;
    let to = 0;
    for (let processor = 0; processor < freeS.length; processor++) {
      while (to > from && freeS[window[to - 1]] <= freeS[processor]) to--;
      window[to++] = processor;
      if (window[from] <= processor - size) from++;
      if (processor >= size - 1) this.#windowS[processor - size + 1] = freeS[window[from]];
    }
  }

  /**
   * Computes what is left in the head's block at the shadow time besides the head and the jobs still expected
   * there. A policy that does not ask has no use for it.
   */
  #findSpare(): void {
    if (!this.#gangs.use.asks) return;
    const size = this.#jobs.size[this.#head];
    const slots = this.#spareSlots.fill(Number.POSITIVE_INFINITY);
    const memory = this.#spareKB.fill(Number.POSITIVE_INFINITY);
    slots.fill(this.#maxRows - 1, this.#first, this.#endOf(size, this.#first));
    if (this.#memory !== undefined)
      memory.fill(this.#memory.limitKB - this.#memoryOf(this.#head), this.#first, this.#first + size);
    for (const job of this.#byEnd) {
      if (this.#endS.get(job) <= this.shadowS) continue;
      this.#addTo(slots, job, -this.#slots.get(job));
      this.#addTo(memory, job, -this.#memoryOf(job));
    }
  }

  #firstOf(job: JobIndex): number {
    return this.#machine.runFirst(this.#machine.firstRunOfJob(job));
  }

  #memoryOf(job: JobIndex): number {
    return this.#memory?.of(job) ?? 0;
  }

  /** Distance between two processors at which a job of the size may begin. */
  #stepOf(size: number): number {
    return this.#gangs.use.blocks === "side by side" ? 1 : 1 << blockLevel(size);
  }

  /** End of the processors that must be idle for a job that begins at `first`. */
  #endOf(size: number, first: number): number {
    if (this.#gangs.use.blocks === "side by side") return first + size;
    return Math.min(first + (1 << blockLevel(size)), this.#machine.processors);
  }

  /** End of the processors that no other job can use in the row while the run is there. */
  #takenEnd(run: RunId): number {
    const size = this.#machine.runSize(run);
    const first = this.#machine.runFirst(run);
    return this.#gangs.use.blocks === "whole buddy" ? this.#endOf(size, first) : first + size;
  }

  #addTo(column: Float64Array, job: JobIndex, amount: number): void {
    const first = this.#firstOf(job);
    const end = first + this.#jobs.size[job];
    for (let processor = first; processor < end; processor++) column[processor] += amount;
  }
}

/** The smallest whole number of slots, at least one, that covers the estimate. */
function slotsOfEstimate(estimateS: number, slotS: number): number {
  const slots = Math.ceil(estimateS / slotS);
  return slots > 1 && (slots - 1) * slotS >= estimateS ? slots - 1 : Math.max(1, slots);
}
