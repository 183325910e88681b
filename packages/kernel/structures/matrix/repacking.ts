/**
 * Re-packs jobs: exchanges between legal cuts gather the idle fragments of several rows in one row (Zhou,
 * Brent, Johnson and Walsh 1999, properties 1 and 2; Zhou, Walsh and Brent 2000, section 2). Whole jobs
 * change rows, and no job moves to other processors.
 *
 *   row s  ....AAAABBBB        row s  ........BBBB
 *   row j  CCCC....BB..   →    row j  CCCCAAAABB..
 *              x   c                      x   c
 *
 * Row s is idle up to x = 4, and row j is idle from x up to 8. The exchange covers the processors from x to
 * c, the next cut at or after 8 that is legal in both rows. The paper's proof shifts everything after the
 * cut. The exchange up to the next common cut gives the same fragment and leaves the rest of both rows alone.
 *
 * The cut at x is legal: row s is idle before x, and row j is idle after it. A later common cut always
 * exists, at the latest the machine's end. If jobs are in buddy blocks (at the left end, `size` processors)
 * and first … end is within a block, the cut is never after the block's end: a job that spans that end begins
 * at or before the block, so it covers x.
 */
import { assert } from "../../core/errors.ts";
import type { GangMachine, MatrixView, RowId } from "../../core/policy.ts";
import { commonCutFrom, idleEnd } from "./legal-cuts.ts";

/**
 * The first row of the round that is idle from `processor` to `end`. If there is none, the row whose idle
 * processors reach furthest (ties: the first); −1 if no row is idle at `processor`.
 */
export function longestIdle(matrix: MatrixView, processor: number, end: number): RowId {
  return reachingFurthest(matrix, processor, end, idleEnd, matrix.firstIdle(processor));
}

/**
 * Like `longestIdle`.
 * @param endOf end of the row's idle processors that can be used; `processor` itself if none can
 * @param from no row before this position can be used
 */
export function reachingFurthest(
  matrix: MatrixView,
  processor: number,
  end: number,
  endOf: (matrix: MatrixView, row: RowId, processor: number) => number,
  from = 0,
): RowId {
  let best = -1;
  let bestEnd = processor;
  const rows = matrix.rowCount;
  for (let position = from; position < rows && bestEnd < end; position++) {
    const row = matrix.rowAt(position);
    const rowEnd = endOf(matrix, row, processor);
    if (rowEnd <= bestEnd) continue;
    best = row;
    bestEnd = rowEnd;
  }
  return best;
}

/** Makes a processor idle in some row if it is busy in all rows. */
export interface SlotReclaimer {
  reclaim(processor: number): void;
}

/**
 * Makes processors first … end − 1 idle in one row and returns that row. Makes at most one exchange per idle
 * fragment.
 *
 * @param reclaimer makes room on a processor that is busy in all rows; without it, each must be idle in some
 *   row
 */
export function gather(machine: GangMachine, first: number, end: number, reclaimer?: SlotReclaimer): RowId {
  const target = idleAt(machine, first, end, reclaimer);
  for (let at = idleEnd(machine, target, first); at < end; at = idleEnd(machine, target, at)) {
    const source = idleAt(machine, at, end, reclaimer);
    // The reclaimer may have made room in the target itself; then there is nothing to exchange.
    if (source === target) continue;
    const wanted = idleEnd(machine, source, at);
    machine.exchange(
      target,
      source,
      at,
      commonCutFrom(machine, target, source, Math.min(wanted, end), machine.processors),
    );
  }
  return target;
}

function idleAt(
  machine: GangMachine,
  processor: number,
  end: number,
  reclaimer: SlotReclaimer | undefined,
): RowId {
  let row = longestIdle(machine, processor, end);
  if (row === -1 && reclaimer !== undefined) {
    reclaimer.reclaim(processor);
    row = longestIdle(machine, processor, end);
  }
  assert(row !== -1, `processor ${processor} has an idle slot`);
  return row;
}
