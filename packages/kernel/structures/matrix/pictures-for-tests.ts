/**
 * Converts between matrices and texts for tests.
 *
 *   "AAB."   one string per row of the round, one letter per processor: job 0 is A, job 26 is a, "." is idle
 */
import type { GangMachine, MatrixView, RowId } from "../../core/policy.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The matrix as strings, in order of the round. */
export function picture(matrix: MatrixView): string[] {
  const rows: string[] = [];
  for (let position = 0; position < matrix.rowCount; position++) {
    const cells = new Array<string>(matrix.processors).fill(".");
    for (let run = matrix.firstRun(matrix.rowAt(position)); run !== -1; run = matrix.nextRun(run)) {
      const first = matrix.runFirst(run);
      cells.fill(LETTERS[matrix.runJob(run) % LETTERS.length], first, first + matrix.runSize(run));
    }
    rows.push(cells.join(""));
  }
  return rows;
}

/** Sizes of the jobs in a picture, by job index; 0 for letters that do not occur. */
export function sizesIn(rows: readonly string[]): Int32Array {
  const sizes = new Int32Array(LETTERS.length);
  for (const row of rows) {
    for (const letter of new Set(row)) {
      if (letter !== ".") sizes[LETTERS.indexOf(letter)] = row.split(letter).length - 1;
    }
  }
  return sizes;
}

/**
 * Adds the rows of a picture to a matrix whose jobs have the sizes that `sizesIn` returns. Returns the rows'
 * ids.
 */
export function draw(
  matrix: MatrixView & Pick<GangMachine, "addRow" | "placeStretches">,
  rows: readonly string[],
): RowId[] {
  return rows.map((cells) => {
    const row = matrix.addRow();
    for (const letter of new Set(cells)) {
      if (letter === ".") continue;
      const stretches = [...cells.matchAll(new RegExp(`${letter}+`, "g"))].flatMap(({ index, 0: run }) => [
        index,
        index + run.length,
      ]);
      matrix.placeStretches(LETTERS.indexOf(letter), row, stretches, stretches.length / 2);
    }
    return row;
  });
}
