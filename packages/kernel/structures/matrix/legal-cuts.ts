/**
 * Finds legal cuts (Zhou, Brent, Johnson and Walsh 1999, section 3), on a linear array and on a ring.
 *
 * A cut is a boundary between two processors; cut x is before processor x. A cut is legal in a row if no job
 * spans it. Between two cuts that are legal in both rows, the contents of the rows may be exchanged, because
 * no job is torn.
 *
 * On a ring, processor x and processor x − processors are the same. A job may wrap around the machine's end;
 * it then has two stretches in its row. Cut 0 is the cut at the machine's end. On a linear array no job wraps
 * around, so cut 0 is always legal. Every function here works for both: an array is a ring that is open at 0.
 */
import type { MatrixView, RowId } from "../../core/policy.ts";

/**
 * End of the first stretch of the row's job that wraps around the machine's end; 0 if there is no such job.
 */
export function aroundEnd(matrix: MatrixView, row: RowId): number {
  const run = matrix.firstRun(row);
  const isAround = run !== -1 && matrix.runFirst(run) === 0 && matrix.nextStretch(run) !== -1;
  return isAround ? matrix.runSize(run) : 0;
}

/**
 * The first legal cut of the row at or after a cut: the cut itself, or the end of the job that spans it.
 * @param cut 0 or more; numbers continue beyond the machine's end, where cut x means cut x − processors, also
 *   in the result
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

/** The first cut at or after `cut` that is legal in both rows; −1 if it would be after `last`. */
export function commonCutFrom(matrix: MatrixView, a: RowId, b: RowId, cut: number, last: number): number {
  let common = cut;
  while (common <= last) {
    const inBoth = legalCutFrom(matrix, b, legalCutFrom(matrix, a, common));
    if (inBoth === common) return common;
    common = inBoth;
  }
  return -1;
}

/**
 * The first cut of 0 … processors − 1 that is legal in every row, so that a ring can be opened there; −1 if
 * there is no such cut.
 */
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

/** End of the idle processors of the row that begin at `processor`; `processor` itself if it is busy. */
export function idleEnd(matrix: MatrixView, row: RowId, processor: number): number {
  const run = matrix.runBefore(row, processor);
  if (run !== -1 && matrix.runFirst(run) + matrix.runSize(run) > processor) return processor;
  const next = run === -1 ? matrix.firstRun(row) : matrix.nextRun(run);
  return next === -1 ? matrix.processors : matrix.runFirst(next);
}

/** End of the idle processors of the row from `processor` on, wrapping around at most once. */
export function idleEndOnRing(matrix: MatrixView, row: RowId, processor: number): number {
  const { processors } = matrix;
  const at = processor % processors;
  const end = idleEnd(matrix, row, at);
  const around = end === processors && at < processors ? idleEnd(matrix, row, 0) : 0;
  return Math.min(processor - at + end + around, processor + processors);
}
