/**
 * Gathering of idle fragments on a ring (Zhou, Brent, Johnson and Walsh 1999, section 3). Processors are counted on beyond the
 * machine's end: x and x − processors are the same one.
 *
 * A linear array has a legal cut at its end, so any two adjacent fragments can be joined. On a ring the exchange needs a second cut
 * that is legal in both rows, and there may be none: of three jobs on processors 01, 12 and 20 of three, no two can share a row,
 * though every processor is idle in one of the three rows. What is true:
 *
 *   - a row can be freed whenever every processor has an idle slot and some cut is legal in every row (open the ring there);
 *   - otherwise perhaps: to decide it is to colour a circular-arc graph, which is NP-complete (Garey, Johnson, Miller and
 *     Papadimitriou 1980). The search here joins from left to right and gives up where no exchange leads on.
 */
import type { GangMachine, MatrixView, RowId } from "../../core/policy.ts";
import { commonCutFrom, firstCut, idleEndOnRing, legalCutFrom } from "./legal-cuts.ts";
import { reachingFurthest, type SlotReclaimer } from "./repacking.ts";

/**
 * Makes `size` processors from `first` on idle in one row and returns that row; −1 when the search gives up. The exchanges made
 * until then are legal and stay. Succeeds whenever each of the processors has an idle slot and the cut at `first` + a whole round,
 * that is at `first`, is legal in every row.
 *
 * @param first 0 … processors − 1
 * @param reclaimer asked for room at a processor that is busy in every row; without one the search gives up there
 */
export function gatherOnRing(
  machine: GangMachine,
  first: number,
  size: number,
  reclaimer?: SlotReclaimer,
): RowId {
  const end = first + size;
  const last = first + machine.processors;
  let target = idleAt(machine, first, end, reclaimer);
  if (target === -1) return -1;
  for (let at = idleEndOnRing(machine, target, first); at < end; at = idleEndOnRing(machine, target, at)) {
    // Room may have been made in the target itself; then there is nothing to exchange.
    const idle = idleAt(machine, at, end, reclaimer);
    if (idle === target) continue;
    const source = idle === -1 ? -1 : findSource(machine, target, at, end, last);
    if (source === -1) return -1;
    const cut = exchangeEnd(machine, target, source, at, end, last);
    if (exchangeAround(machine, target, source, at, cut)) target = source;
  }
  return target;
}

/** Frees a row, if that can be found to be possible: opens the ring at a cut legal in all rows, else anywhere. −1 when it gives up. */
export function freeRowOnRing(machine: GangMachine, reclaimer?: SlotReclaimer): RowId {
  return gatherOnRing(machine, Math.max(0, firstCut(machine)), machine.processors, reclaimer);
}

/** The row that is idle furthest from the processor on; −1 when none is. */
function idleAt(
  machine: GangMachine,
  processor: number,
  end: number,
  reclaimer: SlotReclaimer | undefined,
): RowId {
  const row = reachingFurthest(machine, processor, end, idleEndOnRing);
  if (row !== -1 || reclaimer === undefined) return row;
  reclaimer.reclaim(processor % machine.processors);
  return reachingFurthest(machine, processor, end, idleEndOnRing);
}

/** The row that is idle from `at` on, furthest first, for which there is a second cut; −1 without one. */
function findSource(matrix: MatrixView, target: RowId, at: number, end: number, last: number): RowId {
  const hasCut = (row: RowId) => exchangeEnd(matrix, target, row, at, end, last) !== -1;
  return reachingFurthest(matrix, at, end, (_, row) => (hasCut(row) ? idleEndOnRing(matrix, row, at) : at));
}

/**
 * The second cut of the exchange that begins at `at`: behind all that the source has idle there, else the first that there is.
 * It must not lie within what is gathered already, so not behind `last`.
 */
function exchangeEnd(
  matrix: MatrixView,
  target: RowId,
  source: RowId,
  at: number,
  end: number,
  last: number,
): number {
  const wanted = Math.min(idleEndOnRing(matrix, source, at), end);
  const cut = commonCutFrom(matrix, target, source, wanted, last);
  return cut !== -1 ? cut : commonCutFrom(matrix, target, source, at + 1, last);
}

/**
 * Exchanges two rows on processors first … end − 1, which may go on at the machine's front. Where jobs stand around the machine's
 * end, the rest is exchanged instead: that is the same with the two rows' names exchanged, and the result is true.
 */
function exchangeAround(machine: GangMachine, a: RowId, b: RowId, first: number, end: number): boolean {
  const { processors } = machine;
  const from = first % processors;
  const to = from + end - first;
  if (to <= processors) {
    machine.exchange(a, b, from, to);
    return false;
  }
  if (legalCutFrom(machine, a, 0) === 0 && legalCutFrom(machine, b, 0) === 0) {
    machine.exchange(a, b, from, processors);
    machine.exchange(a, b, 0, to - processors);
    return false;
  }
  machine.exchange(a, b, to - processors, from);
  return true;
}
