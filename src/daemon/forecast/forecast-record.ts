/**
 * Judges past forecasts, and widens the range of new ones if past ranges were too narrow. What is measured is
 * the actual wait ÷ the expected wait, so that short and long waits count alike. From 50 starts on, a range
 * reaches from the 10 % to the 90 % quantile of these factors, times the expected wait, if the simulation
 * gives a narrower one.
 */
import { rank } from "./model.ts";

/** A forecast whose job has started. */
export interface JudgedForecast {
  readonly uid: number;
  /** Actual start minus median of the forecast. */
  readonly errorMs: number;
  /** Median of the forecast minus the time at which it was made. */
  readonly expectedMs: number;
  readonly isWithin: boolean;
}

interface StartAndEnd {
  readonly p10Ms: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly endP10Ms: number;
  readonly endP50Ms: number;
  readonly endP90Ms: number;
}

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
    this.#shortest = rank(factors, 0.1);
    this.#longest = rank(factors, 0.9);
  }

  /** Undefined: too few jobs have started. */
  static of(judged: readonly JudgedForecast[]): ForecastRecord | undefined {
    return judged.length < FEWEST ? undefined : new ForecastRecord(judged);
  }

  /** @param atMs when the forecast was made */
  widened<Times extends StartAndEnd>(times: Times, atMs: number): Times {
    const { p10Ms, p50Ms, p90Ms, endP10Ms, endP90Ms } = times;
    const expected = Math.max(0, p50Ms - atMs) + ADDED_MS;
    const from = Math.max(atMs, atMs + expected * this.#shortest - ADDED_MS);
    const earlierMs = Math.max(0, p10Ms - from);
    const laterMs = Math.max(0, atMs + expected * this.#longest - ADDED_MS - p90Ms);
    return {
      ...times,
      p10Ms: p10Ms - earlierMs,
      p90Ms: p90Ms + laterMs,
      endP10Ms: endP10Ms - earlierMs,
      endP90Ms: endP90Ms + laterMs,
    };
  }
}
