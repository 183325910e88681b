/** Records the number of rows of the matrix over time, as a step function that grows at its end. */
import { doubled } from "../structures/grow.ts";

export class RowsRecord {
  /** Largest number of rows recorded. */
  maxRows = 0;
  #atS = new Float64Array(64);
  #rows = new Int32Array(64);
  #count = 0;

  /**
   * Records the number of rows from a time on. Times must not decrease; a second number for the same time
   * replaces the first.
   */
  note(timeS: number, rows: number): void {
    if (this.#count > 0 && this.#rows[this.#count - 1] === rows) return;
    if (this.#count > 0 && this.#atS[this.#count - 1] === timeS) this.#count--;
    if (this.#count === this.#rows.length) {
      this.#atS = doubled(this.#atS);
      this.#rows = doubled(this.#rows);
    }
    this.#atS[this.#count] = timeS;
    this.#rows[this.#count++] = rows;
    if (rows > this.maxRows) this.maxRows = rows;
  }

  /** Times of the changes. */
  times(): Float64Array {
    return this.#atS.slice(0, this.#count);
  }

  /** Number of rows from each of these times on. */
  rows(): Int32Array {
    return this.#rows.slice(0, this.#count);
  }
}
