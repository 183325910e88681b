/**
 * The earliest of a fixed number of times, each of which may be set again: a tournament over the leaves. Setting costs
 * log n, asking nothing. Of equal times the one with the lowest index wins.
 *
 *              0            nodes 1 … leaves − 1 hold the index that wins below them
 *          0       3
 *        0   1   2   3      leaves: times
 */
import { assert } from "../../core/errors.ts";

export class WinnerTree {
  readonly #leaves: number;
  readonly #times: Float64Array;
  readonly #winner: Int32Array;

  /** @param count number of times, 1 or more; all Infinity at first */
  constructor(count: number) {
    let leaves = 1;
    while (leaves < count) leaves *= 2;
    this.#leaves = leaves;
    this.#times = new Float64Array(leaves).fill(Number.POSITIVE_INFINITY);
    this.#winner = new Int32Array(2 * leaves);
    for (let leaf = 0; leaf < leaves; leaf++) this.#winner[leaves + leaf] = leaf;
    for (let node = leaves - 1; node >= 1; node--) this.#winner[node] = this.#winner[2 * node];
  }

  /** Index of the earliest time. */
  get first(): number {
    return this.#winner[1];
  }
  /** The earliest time; Infinity when none is set. */
  get firstTime(): number {
    return this.#times[this.#winner[1]];
  }
  time(index: number): number {
    return this.#times[index];
  }

  /** Sets a time; Infinity takes it out. Throws RangeError for NaN, which would corrupt the order silently. */
  set(index: number, time: number): void {
    if (Number.isNaN(time)) throw new RangeError(`Cannot set time ${index} to NaN: expected a number`);
    const times = this.#times;
    const winner = this.#winner;
    times[index] = time;
    for (let node = (this.#leaves + index) >> 1; node >= 1; node >>= 1) {
      const left = winner[2 * node];
      const right = winner[2 * node + 1];
      winner[node] = times[right] < times[left] ? right : left;
    }
  }

  /** Throws when a node does not hold the winner of its two children. */
  audit(): void {
    for (let node = this.#leaves - 1; node >= 1; node--) {
      const left = this.#winner[2 * node];
      const right = this.#winner[2 * node + 1];
      const wins = this.#times[right] < this.#times[left] ? right : left;
      assert(this.#winner[node] === wins, `winner at node ${node}`);
    }
  }
}
