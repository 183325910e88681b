/**
 * The matrix as one number per cell, from which the picture, its labels and its table are made. A gang's own
 * row is the first one of the round that holds it; every other row of a multi-slot job is an extra slot.
 */
import type { Stretches } from "./grid.ts";

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
  const jobs = [...new Set(job)].sort((a, b) => a - b);
  const gangs = new Map(jobs.map((number, gang) => [number, gang]));
  const ownRow = new Map<number, number>();
  for (const [i, number] of job.entries()) ownRow.set(number, Math.min(row[i], ownRow.get(number) ?? row[i]));
  const values = new Uint32Array(rows * processors);
  for (const [i, number] of job.entries()) {
    const value = cellValue(gangs.get(number) ?? 0, ownRow.get(number) !== row[i]);
    values.fill(value, row[i] * processors + first[i], row[i] * processors + end[i]);
  }
  return { rows, processors, jobs, values };
}

/** All runs of cells, idle ones too, in the order of rows and processors: what the picture shows. */
export function runsOf({ rows, processors, values }: Cells): CellRun[] {
  const runs: CellRun[] = [];
  for (let row = 0; row < rows; row++) {
    const start = row * processors;
    for (let first = 0; first < processors; ) {
      const value = values[start + first];
      let end = first + 1;
      while (end < processors && values[start + end] === value) end++;
      runs.push({ row, first, end, value });
      first = end;
    }
  }
  return runs;
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
