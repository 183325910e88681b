import type { JobNumber } from "../../protocol/attempts.ts";

/**
 * Numbers in rising order, of which new ones come at the end and any may go: those of the jobs that have not ended. One that goes leaves a
 * hole; holes are closed when they are an eighth of all. So a change costs O(log n) on average, and a look passes few holes.
 */
export class RisingNumbers {
  #numbers: number[] = [];
  readonly #gone = new Set<number>();

  get size(): number {
    return this.#numbers.length - this.#gone.size;
  }

  /** Adds a number that is not there. */
  add(number: number): void {
    if (this.#gone.delete(number)) return;
    const last = this.#numbers.at(-1);
    if (last === undefined || number > last) this.#numbers.push(number);
    // Only where a change is taken back.
    else this.#numbers.splice(this.#placeOf(number), 0, number);
  }

  /** Removes a number that is there. */
  delete(number: number): void {
    this.#gone.add(number);
    if (this.#gone.size * 8 <= this.#numbers.length) return;
    this.#numbers = this.#numbers.filter((one) => !this.#gone.has(one));
    this.#gone.clear();
  }

  /** The first numbers from `first` to `last`, at most `most` of them. */
  rising(first: number, last: number, most: number): number[] {
    const found: number[] = [];
    for (let i = this.#placeOf(first); i < this.#numbers.length && found.length < most; i++) {
      const number = this.#numbers[i];
      if (number > last) break;
      if (!this.#gone.has(number)) found.push(number);
    }
    return found;
  }

  /** The last numbers up to `last`, the greatest first, at most `most` of them. */
  falling(last: number, most: number): number[] {
    const found: number[] = [];
    for (let i = this.#placeOf(last + 1) - 1; i >= 0 && found.length < most; i--) {
      const number = this.#numbers[i];
      if (!this.#gone.has(number)) found.push(number);
    }
    return found;
  }

  /** How many numbers are less, holes included. */
  #placeOf(number: number): number {
    return placeIn(this.#numbers, (other) => other < number);
  }
}

/** How many values of a list stand before a place that divides it: those of which it holds, which are the first. */
export function placeIn<Value>(values: readonly Value[], isBefore: (value: Value) => boolean): number {
  let from = 0;
  let to = values.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(values[middle])) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Numbers of the jobs that have not ended, of all users and of each. */
export class LiveNumbers {
  readonly #all = new RisingNumbers();
  readonly #users = new Map<number, RisingNumbers>();

  enter({ job, uid }: { readonly job: JobNumber; readonly uid: number }): void {
    let own = this.#users.get(uid);
    if (own === undefined) {
      own = new RisingNumbers();
      this.#users.set(uid, own);
    }
    own.add(job);
    this.#all.add(job);
  }

  leave({ job, uid }: { readonly job: JobNumber; readonly uid: number }): void {
    const own = this.#users.get(uid);
    own?.delete(job);
    if (own?.size === 0) this.#users.delete(uid);
    this.#all.delete(job);
  }

  /** Of one user, or of all. */
  of(uid: number | undefined): Pick<RisingNumbers, "rising" | "falling"> {
    return uid === undefined ? this.#all : (this.#users.get(uid) ?? NONE);
  }
}

const NONE = new RisingNumbers();
