/**
 * Ways to find room in the rows of a matrix that are filled separately: first and best fit by gaps or by
 * capacity, buddy blocks, random.
 */
import type { GangMachine, RowId } from "../../core/policy.ts";
import type { Random } from "../../core/random.ts";
import { BuddyRows, blockLevel } from "../../structures/matrix/buddy.ts";
import { firstRowWithRoom, type RowFit, type RowLayout } from "./row-by-row.ts";

const NONE = -1;

/**
 * First fit: the leftmost wide enough gap of the first row that has one. Best fit: the narrowest wide enough
 * gap of all rows.
 */
export class GapFit implements RowFit {
  readonly blocks = "side by side";
  readonly stretches = new Int32Array(2);
  readonly stretchCount = 1;
  readonly #layout: RowLayout;
  readonly #machine: GangMachine;
  readonly #best: boolean;
  /**
   * Width of the widest gap of each row, so that rows without room are skipped without a search; −1: not
   * measured yet.
   */
  readonly #widest: number[] = [];
  // The gap that the last search of a row found.
  #gapFirst = NONE;
  #gapSize = 0;

  constructor(layout: RowLayout, best: boolean) {
    this.#layout = layout;
    this.#machine = layout.machine;
    this.#best = best;
  }

  rowAdded(row: RowId): void {
    this.#widest[row] = this.#machine.processors;
  }

  take(size: number): RowId {
    const row = this.#best ? this.#bestRow(size) : this.#firstRow(size);
    if (row === NONE) return NONE;
    this.stretches[0] = this.#gapFirst;
    this.stretches[1] = this.#gapFirst + size;
    this.#widest[row] = NONE;
    return row;
  }

  takeAlso(row: RowId): void {
    this.#widest[row] = NONE;
  }

  give(row: RowId): void {
    this.#widest[row] = NONE;
  }

  hasRoom(row: RowId, size: number): boolean {
    if (this.#widest[row] === NONE) this.#widest[row] = this.#measure(row);
    return this.#widest[row] >= size;
  }

  #firstRow(size: number): RowId {
    const row = firstRowWithRoom(this.#machine, this, size);
    if (row !== NONE) this.#search(row, size);
    return row;
  }

  /** Row with the narrowest gap of at least the size (ties: the first row, then the leftmost gap). */
  #bestRow(size: number): RowId {
    const machine = this.#machine;
    let best = NONE;
    let bestFirst = NONE;
    let bestSize = machine.processors + 1;
    for (let position = 0; position < machine.rowCount && bestSize > size; position++) {
      const row = machine.rowAt(position);
      if (!this.hasRoom(row, size)) continue;
      this.#search(row, size);
      if (this.#gapSize >= bestSize) continue;
      best = row;
      bestFirst = this.#gapFirst;
      bestSize = this.#gapSize;
    }
    this.#gapFirst = bestFirst;
    return best;
  }

  /** Finds a gap of at least the size: the leftmost under first fit, the narrowest under best fit. */
  #search(row: RowId, size: number): void {
    const machine = this.#machine;
    this.#gapFirst = NONE;
    this.#gapSize = machine.processors + 1;
    let end = 0;
    for (let run = machine.firstRun(row); ; run = machine.nextRun(run)) {
      if (run !== NONE && !this.#layout.isTaken(run)) continue;
      const first = run === NONE ? machine.processors : machine.runFirst(run);
      const gap = first - end;
      if (gap >= size && gap < this.#gapSize) {
        this.#gapFirst = end;
        this.#gapSize = gap;
        if (!this.#best) return;
      }
      if (run === NONE) return;
      end = first + machine.runSize(run);
    }
  }

  #measure(row: RowId): number {
    const machine = this.#machine;
    let widest = 0;
    let end = 0;
    for (let run = machine.firstRun(row); run !== NONE; run = machine.nextRun(run)) {
      if (!this.#layout.isTaken(run)) continue;
      const first = machine.runFirst(run);
      if (first - end > widest) widest = first - end;
      end = first + machine.runSize(run);
    }
    return Math.max(widest, machine.processors - end);
  }
}

/**
 * Buddy blocks: the leftmost free block of the first row that has one. A block is free if all its processors
 * are idle; the job takes its own processors, or the whole block.
 */
export class BuddyFit implements RowFit {
  readonly blocks: "buddy" | "whole buddy";
  readonly stretches = new Int32Array(2);
  readonly stretchCount = 1;
  readonly #machine: GangMachine;
  readonly #blocks: BuddyRows;

  constructor({ machine }: RowLayout, wholeBlocks: boolean) {
    this.blocks = wholeBlocks ? "whole buddy" : "buddy";
    this.#machine = machine;
    this.#blocks = new BuddyRows(machine.processors, wholeBlocks);
  }

  rowAdded(row: RowId): void {
    this.#blocks.clear(row);
  }

  take(size: number): RowId {
    const row = firstRowWithRoom(this.#machine, this, size);
    if (row === NONE) return NONE;
    this.stretches[0] = this.#blocks.take(row, size);
    this.stretches[1] = this.stretches[0] + size;
    return row;
  }

  hasRoom(row: RowId, size: number): boolean {
    return this.#blocks.widest(row) >= size;
  }

  takeAlso(row: RowId, first: number, size: number): void {
    this.#blocks.takeAt(row, first, size);
  }

  give(row: RowId, first: number, size: number): void {
    this.#blocks.give(row, first, size);
  }

  /** If jobs take whole blocks, the whole block must be idle, and free in the allocator. */
  admits(row: RowId, first: number, size: number): boolean {
    if (this.blocks === "buddy") return true;
    if (!this.#blocks.isFree(row, first, size)) return false;
    const end = Math.min(first + (1 << blockLevel(size)), this.#machine.processors);
    return this.#machine.isIdle(row, first, end);
  }
}

/**
 * Any idle processors of a row that has enough of them. The idle processors of a row are its capacity. First
 * fit: the first row of sufficient capacity. Best fit: the row of the smallest sufficient capacity (Silva and
 * Scherson 1999, section 2.3).
 */
export class CapacityFit implements RowFit {
  readonly blocks = "any";
  readonly stretches: Int32Array;
  stretchCount = 0;
  readonly #layout: RowLayout;
  readonly #machine: GangMachine;
  readonly #best: boolean;
  readonly #random: Random | undefined;
  readonly #processors: Int32Array;
  readonly #idle: number[] = [];

  /** @param random draws the processors; default: those with the lowest numbers are taken */
  constructor(layout: RowLayout, best: boolean, random?: Random) {
    this.#layout = layout;
    this.#machine = layout.machine;
    this.#best = best;
    this.#random = random;
    this.#processors = new Int32Array(layout.machine.processors);
    this.stretches = new Int32Array(layout.machine.processors + 1);
  }

  rowAdded(row: RowId): void {
    this.#idle[row] = this.#machine.processors;
  }

  take(size: number): RowId {
    const row = this.choose(size, () => true);
    if (row !== NONE) this.takeIn(row, size);
    return row;
  }

  takeIn(row: RowId, size: number): void {
    const count = this.#listIdle(row);
    if (this.#random !== undefined) this.#draw(this.#random, count, size);
    this.#writeStretches(size);
    this.#idle[row] -= size;
  }

  hasRoom(row: RowId, size: number): boolean {
    return this.#idle[row] >= size;
  }

  takeAlso(row: RowId, _first: number, size: number): void {
    this.#idle[row] -= size;
  }

  give(row: RowId, _first: number, size: number): void {
    this.#idle[row] += size;
  }

  /** First row of sufficient capacity, or that of the smallest one (ties: the first); −1 if there is none. */
  choose(size: number, admits: (row: RowId) => boolean): RowId {
    const machine = this.#machine;
    let best = NONE;
    for (let position = 0; position < machine.rowCount; position++) {
      const row = machine.rowAt(position);
      if (!this.hasRoom(row, size) || !admits(row)) continue;
      if (!this.#best) return row;
      if (best === NONE || this.#idle[row] < this.#idle[best]) best = row;
    }
    return best;
  }

  /** Lists the processors of the row that are not taken, ascending; returns their number. */
  #listIdle(row: RowId): number {
    const machine = this.#machine;
    const idle = this.#processors;
    let count = 0;
    let at = 0;
    for (let run = machine.firstRun(row); ; run = machine.nextRun(run)) {
      if (run !== NONE && !this.#layout.isTaken(run)) continue;
      const first = run === NONE ? machine.processors : machine.runFirst(run);
      while (at < first) idle[count++] = at++;
      if (run === NONE) return count;
      at = first + machine.runSize(run);
    }
  }

  /** Puts `size` of the `count` listed processors in front, drawn without replacement, ascending. */
  #draw(random: Random, count: number, size: number): void {
    const listed = this.#processors;
    for (let i = 0; i < size; i++) {
      const other = i + random.below(count - i);
      const processor = listed[other];
      listed[other] = listed[i];
      listed[i] = processor;
    }
    listed.subarray(0, size).sort();
  }

  /** Writes the first `size` listed processors as stretches. */
  #writeStretches(size: number): void {
    const listed = this.#processors;
    const stretches = this.stretches;
    let ends = 0;
    for (let i = 0; i < size; i++) {
      if (i > 0 && listed[i] === listed[i - 1] + 1) stretches[ends - 1]++;
      else {
        stretches[ends++] = listed[i];
        stretches[ends++] = listed[i] + 1;
      }
    }
    this.stretchCount = ends / 2;
  }
}
