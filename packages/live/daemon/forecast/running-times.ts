/**
 * Draws how long jobs still run, from what earlier jobs took: running time ÷ estimate. Known are, the best
 * first:
 *
 *   siblings  other jobs of the same array: each job takes after one of them
 *   kin       jobs with the same user and name: all jobs of the kind take after the same one, since nobody
 *             knows how much they are like those
 *   history   the same with any jobs
 *   nothing   two futures in three take all estimates, and in the others jobs take anything below
 *
 * A few earlier jobs say little. With n of them, one future in n + 1 is drawn as if nothing was known (the
 * rule of succession), so the range becomes narrow only as jobs end.
 */
import type { Random } from "@tutti/kernel/core/random.ts";
import { overrunMs } from "../scheduling/overrun.ts";

/** What earlier jobs took. */
export interface History {
  /** Running time ÷ estimate, ascending. */
  readonly ratios: Float64Array;
  /** From the decision to start a job until its process runs. */
  readonly launchMs: Float64Array;
}

/** Ended jobs of the same kind as a job. */
export interface Kin {
  /** Running time ÷ estimate, ascending. */
  readonly ratios: Float64Array;
  /** Whether they are jobs of the same array. */
  readonly areSiblings: boolean;
}

/** Jobs as columns, and what is known of how long they take. */
export interface JobTimes {
  /** Number of jobs with a process. They come first in the columns; the other jobs wait. */
  readonly running: number;
  readonly estimateMs: Float64Array;
  /** Running time so far. */
  readonly ranMs: Float64Array;
  /** 1: the job is ended when its estimate is used up. */
  readonly isLimited: Uint8Array;
  /** Jobs of one kind take similar times: those of an array, or of one user and name. Index in `kin`. */
  readonly kind: Int32Array;
  /** By kind. */
  readonly kin: readonly Kin[];
  readonly history: History;
}

/** What a kind draws from in one replication. */
interface Source {
  /** Ascending; empty: nothing is known. */
  readonly ratios: Float64Array;
  /** In [0, 1): the place of the one value that all jobs of the kind get; undefined: each draws its own. */
  readonly place: number | undefined;
}

/** From this place on, jobs that nothing is known about end before their estimates. */
const EARLY_FROM = 2 / 3;
/** The shortest running time that is expected of a job that nothing is known about. */
const SHORTEST_MS = 10;
/**
 * Its multiples, modulo 1, are spread evenly, whatever their number: quantiles need no luck. The first is 0:
 * one replication alone takes the estimates.
 */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;
const NOTHING = new Float64Array(0);

export class RunningTimes {
  readonly #times: JobTimes;
  readonly #random: Random;
  #replication = 0;

  constructor(times: JobTimes, random: Random) {
    this.#times = times;
    this.#random = random;
  }

  /** The remaining running time of each row in the next replication, in ms; asked once per row, in order. */
  next(): (row: number) => number {
    const { kind, kin } = this.#times;
    const sources = kin.map((one) => this.#source(one));
    this.#replication++;
    return (row) => this.#draw(row, sources[kind[row]]);
  }

  #source({ ratios: own, areSiblings }: Kin): Source {
    const ratios = own.length > 0 ? own : this.#times.history.ratios;
    const isKnown = this.#random.below(ratios.length + 1) > 0;
    if (isKnown) return { ratios, place: areSiblings ? undefined : this.#random.uniform() };
    return { ratios: NOTHING, place: (this.#replication * GOLDEN_RATIO) % 1 };
  }

  #draw(row: number, { ratios, place }: Source): number {
    const { running, estimateMs, ranMs, isLimited } = this.#times;
    const limitMs = estimateMs[row];
    const soFarMs = row < running ? ranMs[row] : 0;
    const restMs = row < running ? remainingMs(limitMs, soFarMs, isLimited[row] > 0) : limitMs;
    if (ratios.length === 0) {
      const shortestMs = Math.max(SHORTEST_MS, soFarMs);
      if (place === undefined || place < EARLY_FROM || shortestMs >= limitMs) return restMs;
      // Log-uniform.
      const share = (place - EARLY_FROM) / (1 - EARLY_FROM);
      return shortestMs * (limitMs / shortestMs) ** share - soFarMs;
    }
    const shorter = row < running ? countUpTo(ratios, soFarMs / limitMs) : 0;
    const longer = ratios.length - shorter;
    if (longer === 0) return restMs;
    const drawn = place === undefined ? this.#random.below(longer) : Math.floor(place * longer);
    const runMs = limitMs * ratios[shorter + drawn];
    return runMs > soFarMs ? runMs - soFarMs : restMs;
  }
}

export function draw(values: Float64Array, without: number, random: Random): number {
  return values.length === 0 ? without : values[random.below(values.length)];
}

export function remainingMs(estimateMs: number, ranMs: number, isLimited: boolean): number {
  return estimateMs > ranMs ? estimateMs - ranMs : overrunMs(ranMs, isLimited);
}

/** Number of values up to a value; binary search in an ascending list. */
function countUpTo(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
