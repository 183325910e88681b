/**
 * Gathers idle fragments on a ring (Zhou, Brent, Johnson and Walsh 1999, section 3). Processor numbers
 * continue beyond the machine's end: x and x − processors are the same processor.
 *
 * A linear array has a legal cut at its end, so any two adjacent fragments can be joined. On a ring, the
 * exchange needs a second cut that is legal in both rows, and there may be none. Example: on a machine of
 * three processors, three jobs have processors 0 and 1, 1 and 2, and 2 and 0. No two of them can share a row,
 * although every processor is idle in one of the three rows. In general:
 *
 *   - If every processor has an idle slot and some cut is legal in every row, a row can be freed: open the
 *     ring there.
 *   - Otherwise it may be possible or not. Deciding this means colouring a circular-arc graph, which is
 *     NP-complete (Garey, Johnson, Miller and Papadimitriou 1980). The search here joins fragments from left
 *     to right, and gives up when no exchange helps.
 */
import type { GangMachine, MatrixView, RowId } from "../../core/policy.ts";
import { commonCutFrom, firstCut, idleEndOnRing, legalCutFrom } from "./legal-cuts.ts";
import { reachingFurthest, type SlotReclaimer } from "./repacking.ts";

/**
 * Makes `size` processors from `first` on idle in one row and returns that row, or −1 if the search gives up.
 * The exchanges made until then are legal and remain. The search always succeeds if each of the processors
 * has an idle slot and the cut at `first` is legal in every row.
 *
 * @param first 0 … processors − 1
 * @param reclaimer makes room on a processor that is busy in all rows; without it, the search gives up there
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
    // The reclaimer may have made room in the target itself; then there is nothing to exchange.
    const idle = idleAt(machine, at, end, reclaimer);
    if (idle === target) continue;
    const source = idle === -1 ? -1 : findSource(machine, target, at, end, last);
    if (source === -1) return -1;
    const cut = exchangeEnd(machine, target, source, at, end, last);
    if (exchangeAround(machine, target, source, at, cut)) target = source;
  }
  return target;
}

/**
 * Frees a row: opens the ring at a cut that is legal in all rows, or else at 0. Returns −1 if it gives up.
 */
export function freeRowOnRing(machine: GangMachine, reclaimer?: SlotReclaimer): RowId {
  return gatherOnRing(machine, Math.max(0, firstCut(machine)), machine.processors, reclaimer);
}

/** The row whose idle processors reach furthest from the processor on; −1 if none is idle there. */
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

/** The row that is idle from `at` on, reaches furthest, and has a second cut; −1 if there is none. */
function findSource(matrix: MatrixView, target: RowId, at: number, end: number, last: number): RowId {
  const hasCut = (row: RowId) => exchangeEnd(matrix, target, row, at, end, last) !== -1;
  return reachingFurthest(matrix, at, end, (_, row) => (hasCut(row) ? idleEndOnRing(matrix, row, at) : at));
}

/**
 * The second cut of the exchange that begins at `at`: the first legal cut after all idle processors of the
 * source there; if there is none up to `last`, the first legal cut after `at`. Processors after `last` are
 * already gathered. −1 if there is no such cut.
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
 * Exchanges two rows on processors first … end − 1, which may wrap around. If jobs wrap around the machine's
 * end, it exchanges the other processors instead and returns true: the result is the same, but with the rows'
 * names swapped.
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
