/**
 * The re-packing of two rows (zhou1999, section 3), on a linear array and on a ring. Cuts are in
 * structures/matrix/legal-cuts.ts.
 *
 *        cut:     4       8                  the idle fragments of two rows, joined by one exchange between
 *   row a  AA..|BBB.|FFFF    AA..|..DD|FFFF  alternating cuts: each job moves at most once (figure 4)
 *   row b  CCCC|..DD|..EE  → CCCC|BBB.|..EE
 */
import type { GangMachine, MatrixView, RowId } from "@tutti/kernel/core/policy.ts";
import { aroundEnd, idleEndOnRing } from "@tutti/kernel/structures/matrix/legal-cuts.ts";

/**
 * Joins the adjacent idle fragments of two rows. It cuts both rows where a fragment of one row ends and the
 * other row is idle, and exchanges alternating regions between the cuts: those with fewer jobs in them. Each
 * job moves at most once. Afterwards, adjacent processors that each have an idle slot in one of the rows are
 * all idle in the same row (but not across `origin`).
 *
 * @param origin a cut that is legal in both rows: 0 on a linear array; on a ring, where to open it
 * @returns the regions exchanged: first processor and end
 */
export function repackRows(
  machine: GangMachine,
  a: RowId,
  b: RowId,
  origin: number,
): (readonly [number, number])[] {
  const { processors } = machine;
  const cuts = [origin, ...joiningCuts(machine, a, b, origin), origin + processors];
  const moved = [0, 0];
  let aroundParity = -1;
  for (let i = 0; i + 1 < cuts.length; i++) {
    moved[i % 2] +=
      jobsWithin(machine, a, cuts[i], cuts[i + 1]) + jobsWithin(machine, b, cuts[i], cuts[i + 1]);
    if (cuts[i] < processors && cuts[i + 1] > processors) aroundParity = i % 2;
  }
  // Exchanging the regions of one parity or of the other gives the same two rows with their names swapped.
  let parity = moved[1] <= moved[0] ? 1 : 0;
  const endIsLegal = aroundEnd(machine, a) + aroundEnd(machine, b) === 0;
  if (parity === aroundParity && !endIsLegal) parity = 1 - parity;
  const regions: (readonly [number, number])[] = [];
  if (cuts.length === 2) return regions;
  for (let i = parity; i + 1 < cuts.length; i += 2) {
    const [first, end] = [cuts[i], cuts[i + 1]];
    if (first < processors) regions.push([first, Math.min(end, processors)]);
    if (end > processors) regions.push([Math.max(first, processors) - processors, end - processors]);
  }
  for (const [first, end] of regions) machine.exchange(a, b, first, end);
  return regions;
}

/**
 * Ends of fragments at which the other row is idle, once around from `origin`; each is legal in both rows.
 */
function joiningCuts(matrix: MatrixView, a: RowId, b: RowId, origin: number): number[] {
  const last = origin + matrix.processors;
  const cuts: number[] = [];
  for (let at = origin; at < last; ) {
    const endA = idleEndOnRing(matrix, a, at);
    const endB = idleEndOnRing(matrix, b, at);
    let row = endA >= endB ? a : b;
    let end = Math.max(endA, endB);
    if (end === at) {
      at++;
      continue;
    }
    // The chain of fragments that begins here.
    for (;;) {
      row = row === a ? b : a;
      if (end >= last) break;
      const next = idleEndOnRing(matrix, row, end);
      if (next === end) break;
      cuts.push(end);
      end = next;
    }
    at = end;
  }
  return cuts;
}

/**
 * Number of jobs of the row that begin on processors first … end − 1, which may go past the end of the
 * machine.
 */
function jobsWithin(matrix: MatrixView, row: RowId, first: number, end: number): number {
  const { processors } = matrix;
  let count = 0;
  for (let run = matrix.firstRun(row); run !== -1; run = matrix.nextRun(run)) {
    const at = matrix.runFirst(run);
    if ((at >= first && at < end) || at + processors < end) count++;
  }
  return count;
}
