/**
 * Cuts (Zhou, Brent, Johnson and Walsh 1999, section 3), on a linear array and on a ring.
 *
 * A cut is a boundary between two processors; cut x lies before processor x. It is legal in a row when no job stands on both
 * sides of it. What two rows hold between two cuts that are legal in both may be exchanged: every job there is there as a whole.
 *
 * On a ring, processor x and processor x − processors are the same, and a job may stand around the machine's end: it then has two
 * stretches in its row. Cut 0 is the cut at the machine's end. On a linear array nobody stands around the end, so cut 0 is
 * always legal: every function here works for both, and an array is a ring that is open at 0.
 */
import type { MatrixView, RowId } from "../../core/policy.ts";

/** How far the row's job around the machine's end reaches into the machine's front; 0 when there is none. */
export function aroundEnd(matrix: MatrixView, row: RowId): number {
  const run = matrix.firstRun(row);
  const isAround = run !== -1 && matrix.runFirst(run) === 0 && matrix.nextStretch(run) !== -1;
  return isAround ? matrix.runSize(run) : 0;
}

/**
 * The first legal cut of the row at or behind a cut: the cut itself, or the end of the job that stands on both sides.
 * @param cut 0 or more; beyond the machine's end it goes on at the front, and so does the result
 */
export function legalCutFrom(matrix: MatrixView, row: RowId, cut: number): number {
  const { processors } = matrix;
  const at = cut % processors;
  if (at === 0) return cut + aroundEnd(matrix, row);
  const run = matrix.runBefore(row, at - 1);
  if (run === -1) return cut;
  const end = matrix.runFirst(run) + matrix.runSize(run);
  if (end <= at) return cut;
  return cut - at + end + (end === processors ? aroundEnd(matrix, row) : 0);
}

/** The first cut at or behind `cut` that is legal in both rows; −1 when it would be behind `last`. */
export function commonCutFrom(matrix: MatrixView, a: RowId, b: RowId, cut: number, last: number): number {
  let common = cut;
  while (common <= last) {
    const inBoth = legalCutFrom(matrix, b, legalCutFrom(matrix, a, common));
    if (inBoth === common) return common;
    common = inBoth;
  }
  return -1;
}

/** The first cut of 0 … processors − 1 that is legal in every row, where a ring can be opened; −1 when there is none. */
export function firstCut(matrix: MatrixView): number {
  const rows = matrix.rowCount;
  let cut = 0;
  for (let legalIn = 0, position = 0; legalIn < rows; position = (position + 1) % rows) {
    const next = legalCutFrom(matrix, matrix.rowAt(position), cut);
    if (next >= matrix.processors) return -1;
    legalIn = next === cut ? legalIn + 1 : 1;
    cut = next;
  }
  return cut;
}

/** End of the idle processors of the row that begin at `processor`: `processor` itself when it is busy. */
export function idleEnd(matrix: MatrixView, row: RowId, processor: number): number {
  const run = matrix.runBefore(row, processor);
  if (run !== -1 && matrix.runFirst(run) + matrix.runSize(run) > processor) return processor;
  const next = run === -1 ? matrix.firstRun(row) : matrix.nextRun(run);
  return next === -1 ? matrix.processors : matrix.runFirst(next);
}

/** End of the idle processors of the row from `processor` on, going on at the front; at most once around. */
export function idleEndOnRing(matrix: MatrixView, row: RowId, processor: number): number {
  const { processors } = matrix;
  const at = processor % processors;
  const end = idleEnd(matrix, row, at);
  const around = end === processors && at < processors ? idleEnd(matrix, row, 0) : 0;
  return Math.min(processor - at + end + around, processor + processors);
}
