/**
 * Job re-packing: idle fragments of several rows are gathered in one row by exchanges between legal cuts (Zhou, Brent,
 * Johnson and Walsh 1999, properties 1 and 2; Zhou, Walsh and Brent 2000, section 2). No job moves to other
 * processors; jobs only change rows, and whole.
 *
 *   row s  ....AAAABBBB        row s  ........BBBB       s is idle up to x = 4 and j from x up to 8:
 *   row j  CCCC....BB..   →    row j  CCCCAAAABB..       exchange both rows from x to the next cut at or
 *              x   c                      x   c          behind 8 that is legal in both
 *
 * The paper's proof shifts everything behind the cut. The exchange up to the next common cut gives the same fragment
 * and leaves the rest of both rows alone.
 *
 * The cut at x is legal: row s is idle before x and row j behind it. A common cut behind it exists, the machine's end if
 * no other. When jobs stand in buddy blocks (at the left end, `size` processors) and first … end lies in a block, the
 * cut is never behind the block's end: a job that reaches over that end begins at or before the block, so it covers x.
 */
import { assert } from "../../core/errors.ts";
import type { GangMachine, MatrixView, RowId } from "../../core/policy.ts";
import { commonCutFrom, idleEnd } from "./legal-cuts.ts";

/**
 * The first row in order of the round that is idle from `processor` up to `end`; without one the row whose idle processors
 * reach furthest (ties: the first); −1 when no row is idle at `processor`.
 */
export function longestIdle(matrix: MatrixView, processor: number, end: number): RowId {
  return reachingFurthest(matrix, processor, end, idleEnd);
}

/** As `longestIdle`. @param endOf how far the row's idle processors are of use; `processor` itself when none is */
export function reachingFurthest(
  matrix: MatrixView,
  processor: number,
  end: number,
  endOf: (matrix: MatrixView, row: RowId, processor: number) => number,
): RowId {
  let best = -1;
  let bestEnd = processor;
  const rows = matrix.rowCount;
  for (let position = 0; position < rows && bestEnd < end; position++) {
    const row = matrix.rowAt(position);
    const rowEnd = endOf(matrix, row, processor);
    if (rowEnd <= bestEnd) continue;
    best = row;
    bestEnd = rowEnd;
  }
  return best;
}

/** Makes a processor idle in some row, where no row is idle at it. */
export interface SlotReclaimer {
  reclaim(processor: number): void;
}

/**
 * Makes processors first … end − 1 idle in one row and returns that row. Exchanges at most once per idle fragment.
 *
 * @param reclaimer asked for room at a processor that is busy in every row; without one each must be idle in some row
 */
export function gather(machine: GangMachine, first: number, end: number, reclaimer?: SlotReclaimer): RowId {
  const target = idleAt(machine, first, end, reclaimer);
  for (let at = idleEnd(machine, target, first); at < end; at = idleEnd(machine, target, at)) {
    const source = idleAt(machine, at, end, reclaimer);
    // Room may have been made in the target itself; then there is nothing to exchange.
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
