/**
 * Where two rows of a ring may be opened before they are re-packed; for tests, since no figure has a ring.
 */
import type { MatrixView, RowId } from "@tutti/kernel/core/policy.ts";
import { commonCutFrom, idleEnd } from "@tutti/kernel/structures/matrix/legal-cuts.ts";

/** The cuts 0 … processors − 1 that are legal in both rows. */
export function legalCuts(matrix: MatrixView, a: RowId, b: RowId): number[] {
  const cuts: number[] = [];
  const last = matrix.processors - 1;
  for (let cut = commonCutFrom(matrix, a, b, 0, last); cut !== -1; ) {
    cuts.push(cut);
    cut = commonCutFrom(matrix, a, b, cut + 1, last);
  }
  return cuts;
}

/**
 * Where to open a ring of two rows: at a legal cut with an adjacent processor that is busy in both rows, so
 * that no idle fragments meet there; otherwise at any legal cut. −1 if there is none; then nothing can be
 * re-packed.
 */
export function openingCut(matrix: MatrixView, a: RowId, b: RowId): number {
  const { processors } = matrix;
  const isIdle = (at: number) => idleEnd(matrix, a, at) > at || idleEnd(matrix, b, at) > at;
  const cuts = legalCuts(matrix, a, b);
  const apart = cuts.find((cut) => !isIdle(cut) || !isIdle(cut === 0 ? processors - 1 : cut - 1));
  return apart ?? cuts[0] ?? -1;
}
