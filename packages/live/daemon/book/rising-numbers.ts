import type { JobNumber } from "@tutti/protocol/attempts.ts";

/**
 * Numbers in ascending order, such as those of live jobs: new ones come at the end, and any may be removed. A
 * removed number leaves a hole; holes are closed when they are an eighth of all entries. So a change costs
 * O(log n) on average, and reading passes few holes.
 */
export class RisingNumbers {
  #numbers: number[] = [];
  readonly #gone = new Set<number>();

  get size(): number {
    return this.#numbers.length - this.#gone.size;
  }

  /** Adds a number that is not in the list. */
  add(number: number): void {
    if (this.#gone.delete(number)) return;
    const last = this.#numbers.at(-1);
    if (last === undefined || number > last) this.#numbers.push(number);
    // Happens only in a rollback.
    else this.#numbers.splice(this.#positionOf(number), 0, number);
  }

  /** Removes a number that is in the list. */
  delete(number: number): void {
    this.#gone.add(number);
    if (this.#gone.size * 8 <= this.#numbers.length) return;
    this.#numbers = this.#numbers.filter((other) => !this.#gone.has(other));
    this.#gone.clear();
  }

  /** The first numbers from `first` to `last`, at most `most`. */
  rising(first: number, last: number, most: number): number[] {
    const result: number[] = [];
    for (let i = this.#positionOf(first); i < this.#numbers.length && result.length < most; i++) {
      const number = this.#numbers[i];
      if (number > last) break;
      if (!this.#gone.has(number)) result.push(number);
    }
    return result;
  }

  /** The last numbers up to `last`, in descending order, at most `most`. */
  falling(last: number, most: number): number[] {
    const result: number[] = [];
    for (let i = this.#positionOf(last + 1) - 1; i >= 0 && result.length < most; i--) {
      const number = this.#numbers[i];
      if (!this.#gone.has(number)) result.push(number);
    }
    return result;
  }

  /** Number of entries below a number, including holes. */
  #positionOf(number: number): number {
    return countLeading(this.#numbers, (other) => other < number);
  }
}

/** Binary search: the number of leading values for which `isBefore` is true. */
export function countLeading<Value>(values: readonly Value[], isBefore: (value: Value) => boolean): number {
  let from = 0;
  let to = values.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(values[middle])) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Numbers of live jobs, for all users together and for each user. */
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

  /** The numbers of one user, or of all (undefined). */
  of(uid: number | undefined): Pick<RisingNumbers, "rising" | "falling" | "size"> {
    return uid === undefined ? this.#all : (this.#users.get(uid) ?? NONE);
  }
}

const NONE = new RisingNumbers();
