/**
 * Judges past forecasts, and corrects the ranges of new ones. What is measured is the actual wait ÷ the
 * expected wait, so that short and long waits count alike. From 50 starts on, a range reaches from the 10 %
 * to the 90 % quantile of these factors, times the expected wait; if more than a tenth of the starts was
 * beyond one end of past ranges, that end goes further out.
 */
import type { JudgedForecast } from "../store/store.ts";
import { rank } from "./model.ts";

interface StartAndEnd {
  readonly p10Ms: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly endP10Ms: number;
  readonly endP50Ms: number;
  readonly endP90Ms: number;
}

/** Aim for the share of starts before a range, and for that after it. */
const TAIL = 0.1;
/** A quantile moves out by this many times what was too much beyond it: old ranges count for long. */
const GAIN = 3;
/** Fewer say nothing. */
const FEWEST = 50;
/** Added to both waits, so that a wait of almost nothing gives no huge factor. */
const ADDED_MS = 1000;

export class ForecastRecord {
  readonly jobs: number;
  readonly errorP50Ms: number;
  readonly errorP90Ms: number;
  readonly withinShare: number;
  readonly #shortest: number;
  readonly #longest: number;

  private constructor(judged: readonly JudgedForecast[]) {
    const errors = judged.map(({ errorMs }) => Math.abs(errorMs)).sort((a, b) => a - b);
    const factors = judged
      .map(({ errorMs, expectedMs }) => {
        const expected = Math.max(0, expectedMs) + ADDED_MS;
        return Math.max(0, expected + errorMs) / expected;
      })
      .sort((a, b) => a - b);
    this.jobs = judged.length;
    this.errorP50Ms = rank(errors, 0.5);
    this.errorP90Ms = rank(errors, 0.9);
    this.withinShare = judged.filter(({ isWithin }) => isWithin).length / judged.length;
    const tail = (sign: number) => {
      const beyond = judged.filter(({ isWithin, errorMs }) => !isWithin && Math.sign(errorMs) === sign);
      return Math.max(0, TAIL - GAIN * Math.max(0, beyond.length / judged.length - TAIL));
    };
    this.#shortest = rank(factors, tail(-1));
    this.#longest = rank(factors, 1 - tail(1));
  }

  /** Undefined: too few jobs have started. */
  static of(judged: readonly JudgedForecast[]): ForecastRecord | undefined {
    return judged.length < FEWEST ? undefined : new ForecastRecord(judged);
  }

  /** @param atMs when the forecast was made */
  corrected<Times extends StartAndEnd>(times: Times, atMs: number): Times {
    const { p50Ms, endP10Ms, endP90Ms } = times;
    const expected = Math.max(0, p50Ms - atMs) + ADDED_MS;
    const after = (factor: number) => Math.max(atMs, atMs + expected * factor - ADDED_MS);
    const p10Ms = Math.min(p50Ms, after(this.#shortest));
    const p90Ms = Math.max(p50Ms, after(this.#longest));
    return {
      ...times,
      p10Ms,
      p90Ms,
      // What is uncertain about the running time stays.
      endP10Ms: endP10Ms + Math.min(0, p10Ms - times.p10Ms),
      endP90Ms: endP90Ms + Math.max(0, p90Ms - times.p90Ms),
    };
  }
}
