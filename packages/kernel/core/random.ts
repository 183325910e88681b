/**
 * Generates seeded random numbers with xoshiro128** (Blackman and Vigna 2021, "Scrambled linear pseudorandom
 * number generators"): 32 bits, period 2^128 − 1, tested against the published reference values. A two-lane
 * hash of a seed and a stream name fills the state. Arrivals, sizes and run times of one replication thus
 * come from separate streams, and changing one stream leaves the others unchanged (common random numbers).
 */
import { ln } from "./elementary.ts";

const TWO_TO_MINUS_52 = 1 / 4503599627370496;

export class Random {
  #s0: number;
  #s1: number;
  #s2: number;
  #s3: number;

  /**
   * @param seed any integer of at most 53 bits
   * @param stream name of the stream; streams of one seed are independent
   */
  constructor(seed: number, stream = "") {
    if (!Number.isSafeInteger(seed)) {
      throw new RangeError(`Cannot seed the generator with ${seed}: expected an integer of at most 53 bits`);
    }
    // Two lanes of 32 bits, so that streams of different seeds do not get the same state.
    let a = fold(0x9e3779b9, seed, stream);
    let b = fold(0x85ebca6b, seed, stream);
    this.#s0 = mix(a);
    this.#s1 = mix(b);
    a = (a + 0x9e3779b9) | 0;
    b = (b + 0x9e3779b9) | 0;
    this.#s2 = mix(a);
    this.#s3 = mix(b) | 1; // never all zero
  }

  /** A generator with the given 128 bits of state, for tests against reference values. */
  static fromState(state: readonly [number, number, number, number]): Random {
    const random = new Random(0);
    [random.#s0, random.#s1, random.#s2, random.#s3] = state;
    return random;
  }

  /** An integer in 0 … 2^32 − 1. */
  nextUint32(): number {
    const scrambled = Math.imul(rotateLeft(Math.imul(this.#s1, 5), 7), 9);
    const t = this.#s1 << 9;
    this.#s2 ^= this.#s0;
    this.#s3 ^= this.#s1;
    this.#s1 ^= this.#s2;
    this.#s0 ^= this.#s3;
    this.#s2 ^= t;
    this.#s3 = rotateLeft(this.#s3, 11);
    return scrambled >>> 0;
  }

  /**
   * A number in (0, 1): 52 bits plus one half, so that it is never 1 and never 0, whose logarithm does not
   * exist.
   */
  uniform(): number {
    const high = this.nextUint32() >>> 6;
    const low = this.nextUint32() >>> 6;
    return (high * 67108864 + low + 0.5) * TWO_TO_MINUS_52;
  }

  /** An unbiased integer in 0 … bound − 1; `bound` is 1 … 2^32. */
  below(bound: number): number {
    if (!(Number.isInteger(bound) && bound >= 1 && bound <= 4294967296)) {
      throw new RangeError(`Cannot draw below ${bound}: expected an integer from 1 to 2^32`);
    }
    const limit = 4294967296 - (4294967296 % bound);
    let draw = this.nextUint32();
    while (draw >= limit) draw = this.nextUint32();
    return draw % bound;
  }

  /** An exponentially distributed number with the given mean. */
  exponential(mean: number): number {
    return -mean * ln(this.uniform());
  }

  /** A standard normal number (Marsaglia's polar method; the second number of each pair is discarded). */
  normal(): number {
    for (;;) {
      const u = 2 * this.uniform() - 1;
      const v = 2 * this.uniform() - 1;
      const s = u * u + v * v;
      if (s > 0 && s < 1) return u * Math.sqrt((-2 * ln(s)) / s);
    }
  }
}

/**
 * The seed of a part of an experiment, such as one of its replications: 53 bits that depend on the
 * experiment's seed and the part's name. So experiments with neighbouring seeds share no replication.
 */
export function seedOfPart(seed: number, name: string): number {
  const random = new Random(seed, name);
  return (random.nextUint32() >>> 11) * 4294967296 + random.nextUint32();
}

function rotateLeft(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}

/** A hash of seed and stream name; the salt selects the lane. */
function fold(salt: number, seed: number, stream: string): number {
  let hash = mix(mix((seed | 0) + salt) ^ Math.floor(seed / 4294967296));
  for (let i = 0; i < stream.length; i++) hash = mix((hash ^ stream.charCodeAt(i)) + salt);
  return hash;
}

/** Finaliser of MurmurHash3: every input bit changes every output bit with probability near one half. */
function mix(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) | 0;
}
