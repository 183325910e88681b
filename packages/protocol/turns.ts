/** Says whose turn it is: the rows of the matrix take turns, one slot each, by the node's monotonic clock. */
import type { MatrixAnswer } from "./answers.ts";

type Turns = Pick<MatrixAnswer, "epochMs" | "slotMs" | "fromSlot"> & {
  readonly rows: { readonly length: number };
};

/** Number of the slot at a monotonic time. */
export function slotAt({ epochMs, slotMs }: Pick<Turns, "epochMs" | "slotMs">, nowMs: number): number {
  return Math.floor((nowMs - epochMs) / slotMs);
}

/** Index of the row whose turn it is; −1 if there are no rows. */
export function activeRow(turns: Turns, nowMs: number): number {
  const { rows, fromSlot = 0 } = turns;
  if (rows.length === 0) return -1;
  const slot = slotAt(turns, nowMs) - fromSlot;
  return ((slot % rows.length) + rows.length) % rows.length;
}
