/**
 * Decides which row of an Ousterhout matrix runs next (each row gets one slot per round), and at which
 * position a new row enters the round.
 *
 *   rows        0   1   2   3   4
 *                       ^
 *
 * The pointer is at 2: rows 0 and 1 have had their slot of this round.
 *
 * A new row normally gets the last position of the present round. But a round takes in at most as many new
 * rows as it began with. Any further row is inserted before the pointer, so it gets its first slot in the
 * next round. Without that bound, a round might never return to its first row: jobs could keep arriving
 * before its end, each in a new row that is deleted after its slot.
 */
export class RoundRobin {
  round = 0;
  /** Position of the row that is served next; 0 if there is none. */
  pointer = 0;
  #begunWith = 0;
  #joined = 0;

  /** Position for a new row, in addition to `rowCount` others. */
  enter(rowCount: number): number {
    if (this.pointer === 0) return rowCount;
    if (this.#joined === this.#begunWith) return this.pointer++;
    this.#joined++;
    return rowCount;
  }

  /** The row at a position has been removed; `rowCount` are left. */
  leave(position: number, rowCount: number): void {
    if (position < this.pointer) this.pointer--;
    if (this.pointer >= rowCount && this.pointer > 0) {
      this.pointer = 0;
      this.round++;
    }
  }

  /** Advances by a number of slots over `rowCount` rows, 1 or more. */
  pass(slots: number, rowCount: number): void {
    if (slots === 0) return;
    const end = this.pointer + slots;
    if (this.pointer === 0 || end > rowCount) {
      this.#begunWith = rowCount;
      this.#joined = 0;
    }
    this.pointer = end % rowCount;
    this.round += (end - this.pointer) / rowCount;
  }
}
