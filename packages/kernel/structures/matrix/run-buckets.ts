/**
 * Finds the runs near a processor without walking through the whole matrix row. A run is a stretch of
 * consecutive processors in one row that belong to one job. Each row is divided into buckets of processors. A
 * bucket knows the first run that begins in it, if any, and one bit per bucket says whether there is one.
 *
 *   row      AA..BBB.CC......|......DDDDDDDD..|................|EEEE........
 *   heads    A               |D               |none            |E
 *   bits     1                1                0                1
 */
import { grown } from "../grow.ts";

const NONE = -1;
/** Rows have at most about this many buckets; narrow machines have one bucket per 16 processors. */
const BUCKETS_LOG2 = 10;
const MIN_WIDTH_LOG2 = 4;

export class RunBuckets {
  /** Buckets per row. */
  readonly count: number;
  readonly #shift: number;
  readonly #words: number;
  #heads = new Int32Array(0);
  #bits = new Int32Array(0);

  constructor(processors: number) {
    this.#shift = Math.max(MIN_WIDTH_LOG2, 32 - Math.clz32(processors - 1) - BUCKETS_LOG2);
    this.count = ((processors - 1) >> this.#shift) + 1;
    this.#words = ((this.count - 1) >> 5) + 1;
  }

  /** Makes room for rows 0 … rows − 1; new rows are empty. */
  reserve(rows: number): void {
    if (rows * this.count <= this.#heads.length) return;
    this.#heads = grown(this.#heads, rows * this.count, NONE);
    this.#bits = grown(this.#bits, rows * this.#words, 0);
  }

  /** Bucket of a processor. */
  of(processor: number): number {
    return processor >> this.#shift;
  }

  /** First run that begins in the bucket; −1 if there is none. */
  head(row: number, bucket: number): number {
    return this.#heads[row * this.count + bucket];
  }

  /** Sets the bucket's first run; −1 empties it. */
  setHead(row: number, bucket: number, run: number): void {
    this.#heads[row * this.count + bucket] = run;
    const bit = 1 << (bucket & 31);
    const word = row * this.#words + (bucket >> 5);
    if (run === NONE) this.#bits[word] &= ~bit;
    else this.#bits[word] |= bit;
  }

  /** First run of the nearest bucket before `bucket` that has a run; −1 if none has. */
  headBefore(row: number, bucket: number): number {
    const base = row * this.#words;
    let word = bucket >> 5;
    let bits = this.#bits[base + word] & ((1 << (bucket & 31)) - 1);
    while (bits === 0) {
      if (--word < 0) return NONE;
      bits = this.#bits[base + word];
    }
    return this.head(row, (word << 5) + 31 - Math.clz32(bits));
  }
}
