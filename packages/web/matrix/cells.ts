/**
 * The matrix as one number per cell, from which the picture, its labels and its table are made. A gang's own
 * row is the first one of the round that holds it; every other row of a multi-slot job is an extra slot.
 */
import type { Grid, Stretches } from "./grid.ts";

/** The cell's processor is idle in the slot of the row. */
export const IDLE = 0;

export interface Cells {
  readonly rows: number;
  readonly processors: number;
  /** Jobs in the matrix, ascending. */
  readonly jobs: readonly number[];
  /** Row by row: IDLE, or the value of a gang; see `gangOf` and `isExtra`. */
  readonly values: Uint32Array;
}

/** Neighboring cells with the same value: first … end − 1 of a row. */
interface CellRun {
  readonly row: number;
  readonly first: number;
  readonly end: number;
  readonly value: number;
}

/** Value of a cell: position of its job in `jobs`, and whether the slot is an extra one. */
function cellValue(gang: number, extra: boolean): number {
  return 1 + 2 * gang + (extra ? 1 : 0);
}

/** Position of the job in `jobs`; −1 if the cell is idle. */
export function gangOf(value: number): number {
  return value === IDLE ? -1 : (value - 1) >> 1;
}

export function isExtra(value: number): boolean {
  return value !== IDLE && value % 2 === 0;
}

export function cellsOf({ rows, row, first, end, job }: Stretches, processors: number): Cells {
  // Numbers in a typed array are sorted without calling back.
  const sorted = new Float64Array(job).sort();
  const jobs: number[] = [];
  const gangs = new Map<number, number>();
  for (const number of sorted)
    if (number !== jobs.at(-1)) {
      gangs.set(number, jobs.length);
      jobs.push(number);
    }
  // Stretches are in the order of rows, so the first one of a gang is in its own row.
  const ownRow = new Int32Array(jobs.length).fill(-1);
  const values = new Uint32Array(rows * processors);
  for (let i = 0; i < job.length; i++) {
    const gang = gangs.get(job[i])!;
    if (ownRow[gang] < 0) ownRow[gang] = row[i];
    const value = cellValue(gang, ownRow[gang] !== row[i]);
    const start = row[i] * processors;
    for (let at = start + first[i]; at < start + end[i]; at++) values[at] = value;
  }
  return { rows, processors, jobs, values };
}

/** All runs of cells, idle ones too, in the order of rows and processors: what the picture shows. */
export function runsOf(cells: Cells): CellRun[] {
  return Array.from({ length: cells.rows }, (_, row) => runsOfRow(cells, row)).flat();
}

export function runsOfRow({ processors, values }: Cells, row: number): CellRun[] {
  const runs: CellRun[] = [];
  const start = row * processors;
  for (let first = 0; first < processors; ) {
    const value = values[start + first];
    let end = first + 1;
    while (end < processors && values[start + end] === value) end++;
    runs.push({ row, first, end, value });
    first = end;
  }
  return runs;
}

/** Processors first … end − 1. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

/** A part of the matrix, by row. */
export type Spans = ReadonlyMap<number, Span>;

/** Extends the part by processors of a row, and by what is between. */
export function addSpan(spans: Map<number, Span>, row: number, { first, end }: Span): void {
  const own = spans.get(row);
  spans.set(
    row,
    own === undefined ? { first, end } : { first: Math.min(own.first, first), end: Math.max(own.end, end) },
  );
}

interface Shown {
  readonly grid: Pick<Grid, keyof Stretches | "names">;
  readonly cells: Cells;
}

/**
 * Where the later matrix does not look like the earlier one, of the same processors: other jobs, other names,
 * or an own slot instead of an extra one. Idle processors next to a change belong to it.
 */
export function changedSpans(before: Shown, after: Shown): Spans {
  const spans = new Map<number, Span>();
  const [a, b] = [before.grid, after.grid];
  const { processors } = after.cells;
  let [i, j] = [0, 0];
  for (let row = 0; row < b.rows; row++) {
    const [fromI, fromJ] = [i, j];
    while (a.row[i] === row) i++;
    while (b.row[j] === row) j++;
    const fewer = Math.min(i - fromI, j - fromJ);
    let same = 0;
    while (same < fewer && isSameStretch(before, fromI + same, after, fromJ + same)) same++;
    if (same === i - fromI && same === j - fromJ && row < a.rows) continue;
    let sameAtEnd = 0;
    while (same + sameAtEnd < fewer && isSameStretch(before, i - 1 - sameAtEnd, after, j - 1 - sameAtEnd))
      sameAtEnd++;
    const first = row < a.rows && same > 0 ? b.end[fromJ + same - 1] : 0;
    const end = row < a.rows && sameAtEnd > 0 ? b.first[j - sameAtEnd] : processors;
    spans.set(row, { first, end });
  }
  return spans;
}

/** Whether two stretches, by their indices, look the same. */
function isSameStretch(before: Shown, i: number, after: Shown, j: number): boolean {
  const [a, b] = [before.grid, after.grid];
  const job = b.job[j];
  return (
    a.job[i] === job &&
    a.first[i] === b.first[j] &&
    a.end[i] === b.end[j] &&
    a.names.get(job) === b.names.get(job) &&
    isExtra(before.cells.values[a.row[i] * before.cells.processors + a.first[i]]) ===
      isExtra(after.cells.values[b.row[j] * after.cells.processors + b.first[j]])
  );
}

/** Number of rows in which each gang has a slot, in the order of `jobs`. */
export function slotsOf(cells: Cells): number[] {
  const slots = cells.jobs.map(() => 0);
  const seenIn = cells.jobs.map(() => -1);
  for (const { row, value } of runsOf(cells)) {
    const gang = gangOf(value);
    if (gang < 0 || seenIn[gang] === row) continue;
    seenIn[gang] = row;
    slots[gang]++;
  }
  return slots;
}
