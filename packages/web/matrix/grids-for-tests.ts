/** Matrices for tests: written as text, and generated. */
import fc from "fast-check";
import type { Grid, Stretches } from "./grid.ts";
import { gridOfSnapshot } from "./grid.ts";

/** A line per row, a job or `.` per processor, separated by spaces; pieces of one job that touch are one. */
export function gridOf(...lines: readonly string[]): Grid {
  const rows = lines.map((line) => line.split(" ").map((cell) => (cell === "." ? undefined : Number(cell))));
  return gridOfSnapshot(stretchesOf(rows), rows[0]?.length ?? 0);
}

type CellJobs = readonly (readonly (number | undefined)[])[];

export function stretchesOf(rows: CellJobs): Stretches {
  const row: number[] = [];
  const first: number[] = [];
  const end: number[] = [];
  const job: number[] = [];
  for (const [r, cells] of rows.entries())
    for (const [p, number] of cells.entries()) {
      if (number === undefined) continue;
      if (p > 0 && cells[p - 1] === number) end[end.length - 1]++;
      else {
        row.push(r);
        first.push(p);
        end.push(p + 1);
        job.push(number);
      }
    }
  return { rows: rows.length, row, first, end, job };
}

/** Any matrix: jobs may have several slots and several stretches. */
export const anyCells = (mostRows: number, mostProcessors: number, jobs = 6): fc.Arbitrary<CellJobs> =>
  fc.integer({ min: 1, max: mostProcessors }).chain((processors) =>
    fc.array(
      fc.array(fc.option(fc.integer({ min: 1, max: jobs }), { nil: undefined }), {
        minLength: processors,
        maxLength: processors,
      }),
      { maxLength: mostRows },
    ),
  );

/**
 * Two matrices: either any two, or one and what became of it: a few cells differ, or parts of two rows are
 * exchanged, and perhaps a row has vanished.
 */
export const anyChange = (mostRows: number, mostProcessors: number): fc.Arbitrary<[CellJobs, CellJobs]> =>
  fc.oneof(
    fc.tuple(anyCells(mostRows, mostProcessors), anyCells(mostRows, mostProcessors)),
    fc
      .tuple(
        anyCells(mostRows, mostProcessors),
        fc.array(
          fc.record({ row: fc.nat(), cell: fc.nat(), job: fc.option(fc.integer({ min: 1, max: 6 })) }),
          {
            maxLength: 3,
          },
        ),
        fc.option(fc.record({ a: fc.nat(), b: fc.nat(), from: fc.nat(), to: fc.nat() })),
        fc.option(fc.nat(), { freq: 2 }),
      )
      .map(([early, cells, exchange, vanished]): [CellJobs, CellJobs] => {
        const late = early.map((row) => [...row]);
        const rowAt = (row: number) => late[row % late.length];
        if (late.length > 0) {
          for (const { row, cell, job } of cells) rowAt(row)[cell % rowAt(row).length] = job ?? undefined;
          if (exchange !== null) {
            const [a, b] = [rowAt(exchange.a), rowAt(exchange.b)];
            for (let at = exchange.from % a.length; at <= exchange.to % a.length; at++)
              [a[at], b[at]] = [b[at], a[at]];
          }
          if (vanished !== null) late.splice(vanished % late.length, 1);
        }
        return [early, late];
      }),
  );
