/** Tests that ranges that were too narrow become as wide as past starts ask for, by hand-worked cases. */
import { expect, test } from "vitest";
import type { JudgedForecast } from "../store/store.ts";
import { ForecastRecord } from "./forecast-record.ts";

/** Forecasts of 99 s, with actual waits of this many times 100 s, each less a second. */
function judgedOf(...factors: readonly number[]): JudgedForecast[] {
  return factors.map((factor) => ({
    uid: 1,
    expectedMs: 99_000,
    errorMs: Math.round(100_000 * (factor - 1)),
    isWithin: factor === 1,
  }));
}

const AT_MS = 1_000_000;
/** Expected in 9 s, after 8 to 11 s; it takes 5 s. */
const TIMES = {
  p10Ms: AT_MS + 8000,
  p50Ms: AT_MS + 9000,
  p90Ms: AT_MS + 11_000,
  endP10Ms: AT_MS + 13_000,
  endP50Ms: AT_MS + 14_000,
  endP90Ms: AT_MS + 16_000,
};

test("fewer than 50 starts are no record", () => {
  expect(ForecastRecord.of(judgedOf(...Array(49).fill(1)))).toBeUndefined();
  expect(ForecastRecord.of(judgedOf(...Array(50).fill(1)))).toMatchObject({ jobs: 50, withinShare: 1 });
});

test("the range reaches from the 10 % to the 90 % quantile of actual ÷ expected waits", () => {
  // Of 100 waits, the tenth is half and the ninetieth twice the expected one.
  const factors = [...Array(10).fill(0.5), ...Array(79).fill(1), ...Array(11).fill(2)];
  const record = ForecastRecord.of(judgedOf(...factors))!;
  expect(record.withinShare).toBe(0.79);
  // (9 + 1) × 0.5 − 1 = 4 s and (9 + 1) × 2 − 1 = 19 s; the end moves with the start.
  expect(record.corrected(TIMES, AT_MS)).toEqual({
    ...TIMES,
    p10Ms: AT_MS + 4000,
    p90Ms: AT_MS + 19_000,
    endP10Ms: AT_MS + 9000,
    endP90Ms: AT_MS + 24_000,
  });
});

test("an end of past ranges that too many starts were beyond goes further out", () => {
  // Of 100, none started before its range, and 12 after it: 10 % − 3 × 2 % = 4 % may be later than now.
  const factors = [...Array(20).fill(0.5), ...Array(68).fill(1), ...Array(8).fill(2), ...Array(4).fill(3)];
  const judged = judgedOf(...factors).map((one, i) => ({ ...one, isWithin: i < 88 }));
  // (9 + 1) × 0.5 − 1 = 4 s and (9 + 1) × 2 − 1 = 19 s. With 13, 1 %: the factor is 3.
  const p10Ms = AT_MS + 4000;
  expect(ForecastRecord.of(judged)!.corrected(TIMES, AT_MS)).toMatchObject({ p10Ms, p90Ms: AT_MS + 19_000 });
  const more = judged.map((one, i) => ({ ...one, isWithin: i < 87, errorMs: Math.max(one.errorMs, i - 86) }));
  expect(ForecastRecord.of(more)!.corrected(TIMES, AT_MS)).toMatchObject({ p90Ms: AT_MS + 29_000 });
});

test("a range that was too wide becomes narrower, up to the median, and nothing is expected in the past", () => {
  const right = ForecastRecord.of(judgedOf(...Array(60).fill(1)))!;
  expect(right.corrected(TIMES, AT_MS)).toEqual({ ...TIMES, p10Ms: TIMES.p50Ms, p90Ms: TIMES.p50Ms });
  const early = ForecastRecord.of(judgedOf(...Array(60).fill(0.02)))!;
  expect(early.corrected(TIMES, AT_MS)).toMatchObject({ p10Ms: AT_MS, p90Ms: TIMES.p50Ms });
});
