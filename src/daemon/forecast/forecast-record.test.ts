/** Tests that ranges that were too narrow become as wide as past starts ask for, by hand-worked cases. */
import { expect, test } from "vitest";
import { ForecastRecord, type JudgedForecast } from "./forecast-record.ts";

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
  expect(record.widened(TIMES, AT_MS)).toEqual({
    ...TIMES,
    p10Ms: AT_MS + 4000,
    p90Ms: AT_MS + 19_000,
    endP10Ms: AT_MS + 9000,
    endP90Ms: AT_MS + 24_000,
  });
});

test("a range that is wide enough stays, and nothing is expected in the past", () => {
  const right = ForecastRecord.of(judgedOf(...Array(60).fill(1)))!;
  expect(right.widened(TIMES, AT_MS)).toEqual(TIMES);
  const early = ForecastRecord.of(judgedOf(...Array(60).fill(0.02)))!;
  expect(early.widened(TIMES, AT_MS)).toMatchObject({ p10Ms: AT_MS, p90Ms: TIMES.p90Ms });
});
