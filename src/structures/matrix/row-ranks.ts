/** A number for each row of a matrix, ascending in the order of the round, that stays the same while other rows come and go. */
import type { MatrixView, RowId } from "../../core/policy.ts";
import { doubled } from "../grow.ts";

/** Rows are put in one behind the other at the same place: small steps leave room for many. */
const STEP = 1 / 64;

export class RowRanks {
  #rank = new Float64Array(8);
  #next = 0;

  of(row: RowId): number {
    return this.#rank[row];
  }

  /** Ranks a row that is new in the matrix. False when all rows have been ranked anew, as no number was left at its place. */
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
