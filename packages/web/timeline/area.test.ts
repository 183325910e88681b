import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sumsOf } from "./area.ts";
import { bucketsOf } from "./buckets.ts";
import type { TimelineData, TimelineJob } from "./data.ts";
import { arrange } from "./rows.ts";

const jobs: readonly TimelineJob[] = [
  { job: 1, name: "ended", tasks: 2, cpus: [{ first: 0, end: 2 }], startMs: 0, endMs: 100 },
  {
    job: 2,
    name: "running",
    tasks: 3,
    cpus: [
      { first: 2, end: 4 },
      { first: 5, end: 6 },
    ],
    startMs: 50,
    share: 0.5,
    expectedEnd: { p10Ms: 150, p50Ms: 200, p90Ms: 400 },
  },
  {
    job: 3,
    name: "waiting",
    tasks: 4,
    cpus: [],
    expectedStart: { p10Ms: 200, p50Ms: 220, p90Ms: 260 },
    expectedEnd: { p10Ms: 300, p50Ms: 320, p90Ms: 400 },
  },
];
const data: TimelineData = { jobs, cpus: 6, clock: "elapsed", nowMs: 120 };

describe("sumsOf()", () => {
  test("over CPUs counts those in the area", () => {
    // CPUs 1 to 3 from 40 to 140. Job 1: CPU 1, 40 to 100. Job 2: CPUs 2 and 3 at half speed, 50 to 120
    // in the past, 120 to 140 in the future.
    const sums = sumsOf(data, arrange(data, "cpus"), { fromMs: 40, toMs: 140, firstRow: 1, endRow: 4 });
    expect(sums).toEqual({
      jobs: [
        { index: 1, usedCpuMs: 70, expectedCpuMs: 20 },
        { index: 0, usedCpuMs: 60, expectedCpuMs: 0 },
      ],
      usedCpuMs: 130,
      expectedCpuMs: 20,
      capacityCpuMs: 300,
    });
  });

  test("over CPUs and waiting jobs compares with the whole machine", () => {
    const sums = sumsOf(data, arrange(data, "cpus"), { fromMs: 200, toMs: 300, firstRow: 5, endRow: 7 });
    expect(sums).toMatchObject({ usedCpuMs: 0, expectedCpuMs: 320, capacityCpuMs: 600 });
    expect(sums.jobs).toEqual([
      { index: 2, usedCpuMs: 0, expectedCpuMs: 320 },
      { index: 1, usedCpuMs: 0, expectedCpuMs: 0 },
    ]);
  });

  test("over jobs counts all their CPUs, against the whole machine", () => {
    const sums = sumsOf(data, arrange(data, "jobs"), { fromMs: 0, toMs: 400, firstRow: 1, endRow: 3 });
    expect(sums.jobs).toEqual([
      { index: 2, usedCpuMs: 0, expectedCpuMs: 400 },
      { index: 1, usedCpuMs: 105, expectedCpuMs: 120 },
    ]);
    expect(sums.capacityCpuMs).toBe(2400);
  });

  test("over the whole picture is the same by CPU, job and queue", () => {
    const totals = (["cpus", "jobs", "queues"] as const).map((kind) => {
      const { usedCpuMs, expectedCpuMs } = sumsOf(data, arrange(data, kind), {
        fromMs: -100,
        toMs: 1000,
        firstRow: 0,
        endRow: 100,
      });
      return [usedCpuMs, expectedCpuMs];
    });
    // 2 × 100 + 3 × 70 / 2 used; 3 × 80 / 2 + 4 × 100 expected.
    expect(totals).toEqual([
      [305, 520],
      [305, 520],
      [305, 520],
    ]);
  });
});

describe("bucketsOf()", () => {
  test("gives the mean number of busy CPUs", () => {
    const { used, expected } = bucketsOf(data, Float64Array.of(0, 100, 200, 300, 400));
    // 0 to 100: 2 CPUs all the time, 3 / 2 half of it. 100 to 200: 1.5 for 20 ms, then expected for 80.
    expect([...used]).toEqual([2.75, 0.3, 0, 0]);
    expect([...expected].map((value) => Math.round(value * 1e9) / 1e9)).toEqual([0, 1.2, 3.2, 0.8]);
  });

  test("equals the naive sum of overlaps", () => {
    const job = fc.record({
      startMs: fc.integer({ min: -100, max: 1100 }),
      lengthMs: fc.integer({ min: 0, max: 500 }),
      tasks: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(
        fc.array(job, { maxLength: 30 }),
        fc.uniqueArray(fc.integer({ min: 0, max: 1000 }), { minLength: 2, maxLength: 12 }),
        (drafts, cuts) => {
          const list = drafts.map(({ startMs, lengthMs, tasks }, i) => ({
            job: i,
            name: "",
            tasks,
            cpus: [],
            startMs,
            endMs: startMs + lengthMs,
          }));
          const edges = Float64Array.from(cuts.sort((a, b) => a - b));
          const { used } = bucketsOf({ jobs: list, cpus: 9, clock: "elapsed" }, edges);
          used.forEach((value, i) => {
            const [from, to] = [edges[i], edges[i + 1]];
            const naive = list.reduce(
              (sum, { startMs, endMs, tasks }) =>
                sum + tasks * Math.max(0, Math.min(endMs, to) - Math.max(startMs, from)),
              0,
            );
            expect(value).toBeCloseTo(naive / (to - from), 9);
          });
        },
      ),
    );
  });
});
