/**
 * Gives each row of a matrix a rank that ascends in the order of the round and stays the same while other
 * rows change.
 */
import type { MatrixView, RowId } from "../../core/policy.ts";
import { doubled } from "../grow.ts";

/**
 * Rows are often inserted one after the other at the same position; small steps leave room for many of them.
 */
const STEP = 1 / 64;

export class RowRanks {
  #rank = new Float64Array(8);
  #next = 0;

  of(row: RowId): number {
    return this.#rank[row];
  }

  /**
   * Ranks a new row of the matrix. Returns false if all rows got new ranks because no number was left at its
   * position.
   */
  enter(matrix: MatrixView, row: RowId): boolean {
    while (row >= this.#rank.length) this.#rank = doubled(this.#rank);
    const position = matrix.positionOf(row);
    if (position === matrix.rowCount - 1) {
      this.#rank[row] = this.#next++;
      return true;
    }
    const behind = this.#rank[matrix.rowAt(position + 1)];
    const before = position === 0 ? behind - 1 : this.#rank[matrix.rowAt(position - 1)];
    const rank = before + (behind - before) * STEP;
    this.#rank[row] = rank;
    if (rank > before && rank < behind) return true;
    for (let at = 0; at < matrix.rowCount; at++) this.#rank[matrix.rowAt(at)] = at;
    this.#next = matrix.rowCount;
    return false;
  }
}
