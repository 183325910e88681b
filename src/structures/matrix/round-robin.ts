/**
 * Whose turn it is among the rows of an Ousterhout matrix, one slot each per round, and where a new row comes into the round.
 *
 *   rows        0   1   2   3   4        pointer 2: rows 0 and 1 have had their slot of this round
 *                       ^
 *
 * A new row is last in the round. A round takes in as many as it began with; a further one is put behind those that had their slot, so
 * that its turn comes in the next round. Without that bound, jobs that come faster than the round ends, each in a row that is
 * gone again after its slot, would keep the round from ever coming back to its first row.
 */
export class RoundRobin {
  round = 0;
  /** Position of the row that is served next; 0 when there is none. */
  pointer = 0;
  #begunWith = 0;
  #joined = 0;

  /** Position for a new row beside `rowCount` others. */
  enter(rowCount: number): number {
    if (this.pointer === 0) return rowCount;
    if (this.#joined === this.#begunWith) return this.pointer++;
    this.#joined++;
    return rowCount;
  }

  /** The row at a position is gone; `rowCount` are left. */
  leave(position: number, rowCount: number): void {
    if (position < this.pointer) this.pointer--;
    if (this.pointer >= rowCount && this.pointer > 0) {
      this.pointer = 0;
      this.round++;
    }
  }

  /** Lets slots pass over `rowCount` rows, of which there is at least one. */
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
