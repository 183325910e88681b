import { expect, test } from "vitest";
import { chanceOfRunning, cpuRanges, extentOf } from "./data.ts";

const base = { job: 1, name: "x", tasks: 1, cpus: [] };

test("chanceOfRunning() is the share that has begun minus the share that has ended", () => {
  const expectedStart = { p10Ms: 100, p50Ms: 140, p90Ms: 160 };
  const expectedEnd = { p10Ms: 200, p50Ms: 240, p90Ms: 300 };
  const job = { ...base, expectedStart, expectedEnd };
  // By hand: 0.1 at p10, 0.5 at p50, straight in between, all after p90.
  const expected = {
    99: 0,
    100: 0.1,
    120: 0.3,
    140: 0.5,
    150: 0.7,
    160: 1,
    199: 1,
    220: 0.7,
    270: 0.3,
    300: 0,
  };
  for (const [ms, chance] of Object.entries(expected))
    expect(chanceOfRunning(Number(ms), job)).toBeCloseTo(chance, 12);
});

test("chanceOfRunning() of a job whose times are exact is 0 or 1", () => {
  const exact = (ms: number) => ({ p10Ms: ms, p50Ms: ms, p90Ms: ms });
  const job = { ...base, expectedStart: exact(100), expectedEnd: exact(200) };
  expect([99, 100, 199, 200].map((ms) => chanceOfRunning(ms, job))).toEqual([0, 1, 1, 0]);
  const running = { ...base, startMs: 100, expectedEnd: exact(200) };
  expect([99, 100, 199, 200].map((ms) => chanceOfRunning(ms, running))).toEqual([0, 1, 1, 0]);
  expect(chanceOfRunning(150, base)).toBe(0);
});

test("extentOf() reaches from the earliest start to the latest end", () => {
  expect(extentOf({ ...base, startMs: 5, endMs: 9 }, 20)).toEqual({ fromMs: 5, toMs: 9 });
  expect(extentOf({ ...base, startMs: 5 }, 20)).toEqual({ fromMs: 5, toMs: 20 });
  const expectedEnd = { p10Ms: 21, p50Ms: 22, p90Ms: 30 };
  expect(extentOf({ ...base, startMs: 5, expectedEnd }, 20)).toEqual({ fromMs: 5, toMs: 30 });
  expect(extentOf({ ...base, startMs: 5, expectedEnd }, 40)).toEqual({ fromMs: 5, toMs: 40 });
  const expectedStart = { p10Ms: 18, p50Ms: 19, p90Ms: 25 };
  expect(extentOf({ ...base, expectedStart, expectedEnd }, 10)).toEqual({ fromMs: 18, toMs: 30 });
  expect(extentOf(base, 10)).toBeUndefined();
});

test("cpuRanges() joins neighbours and drops repetitions", () => {
  expect(cpuRanges([7, 1, 2, 2, 0, 5])).toEqual([
    { first: 0, end: 3 },
    { first: 5, end: 6 },
    { first: 7, end: 8 },
  ]);
  expect(cpuRanges([])).toEqual([]);
});
