import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_JOB } from "../core/jobs.ts";
import { classesByRunTime, NARROW_WIDE_SHORT_LONG } from "./classes.ts";
import { METRICS } from "./registry.ts";
import { firstComeFirstServed, handMade } from "./schedules-for-tests.ts";
import { metricOf, summarise } from "./summary.ts";
import { describeWindow } from "./window.ts";

/**
 * Five jobs on four processors; the measures are worked by hand.
 *
 *   job   submit  run  size  start  end   wait  response  slowdown  bounded(10)
 *   11    0       10   2     0      10    0     10        1         1
 *   12    0       20   2     0      20    0     20        1         1
 *   13    5       5    4     20     25    15    20        4         2
 *   14    6       0    1     25     25    19    19        none      1.9
 *   15    10      40   1     25     65    15    55        1.375     1.375
 */
const FIVE = handMade(
  4,
  [
    { id: 11, submitS: 0, runS: 10, size: 2, startS: 0 },
    { id: 12, submitS: 0, runS: 20, size: 2, startS: 0 },
    { id: 13, submitS: 5, runS: 5, size: 4, startS: 20 },
    { id: 14, submitS: 6, runS: 0, size: 1, startS: 25 },
    { id: 15, submitS: 10, runS: 40, size: 1, startS: 25 },
  ],
  { startsByRule: [4, 0, 1, 0, 0, 0, 0] },
);

describe("summarise()", () => {
  test("hand-worked waits, responses and slowdowns", () => {
    const summary = summarise(FIVE.instance, FIVE.schedule);
    const wait = metricOf(summary, "wait").all;
    expect(wait).toMatchObject({ count: 5, mean: 9.8, median: 15, max: 19, maxJob: 3, maxJobId: 14 });
    // deviations −9.8 −9.8 5.2 9.2 5.2 have squares that sum to 330.8
    expect(wait.sd).toBeCloseTo(Math.sqrt(330.8 / 4), 12);
    expect(wait.p90).toBeCloseTo(15 + 0.6 * 4, 12);
    // areas 20, 40, 20, 0, 40
    expect(wait.areaWeightedMean).toBeCloseTo((20 * 15 + 40 * 15) / 120, 12);
    expect(metricOf(summary, "response").all.mean).toBeCloseTo(124 / 5, 12);
    expect(metricOf(summary, "slowdown").all).toMatchObject({
      count: 4,
      mean: 7.375 / 4,
      max: 4,
      maxJobId: 13,
    });
    expect(metricOf(summary, "bounded-slowdown").all.mean).toBeCloseTo((1 + 1 + 2 + 1.9 + 1.375) / 5, 12);
  });

  test("the bound is a parameter, and the definition names it", () => {
    const summary = summarise(FIVE.instance, FIVE.schedule, { parameters: { boundS: 20 } });
    const slowdown = metricOf(summary, "bounded-slowdown");
    expect(slowdown.all.mean).toBeCloseTo((1 + 1 + 1 + 1 + 1.375) / 5, 12);
    expect(slowdown.definition).toContain("below 20 s");
    expect(() => summarise(FIVE.instance, FIVE.schedule, { parameters: { boundS: 0 } })).toThrow("above 0");
  });

  test("hand-worked machine: busy 20 + 40 + 20 + 40 of 4 × 65 processor-seconds", () => {
    const { machine, jobs, starts } = summarise(FIVE.instance, FIVE.schedule);
    expect(machine.makespanS).toBe(65);
    expect(machine.utilisation).toBeCloseTo(120 / 260, 12);
    expect(machine.offeredLoad).toBeCloseTo(120 / 40, 12);
    expect(jobs).toEqual({ total: 5, started: 5, ended: 5, neverStarted: 0, neverEnded: 0, killed: 0 });
    expect(starts).toEqual([
      { rule: 0, name: "head of queue", count: 4 },
      { rule: 2, name: "backfilled on spare processors", count: 1 },
    ]);
  });

  test("the window counts jobs by submit order and clips the utilisation to its span", () => {
    const options = { window: { warmupShare: 0.2, cooldownShare: 0.4 } };
    const { window, metrics, machine } = summarise(FIVE.instance, FIVE.schedule, options);
    expect(window).toMatchObject({ warmupJobs: 1, countedJobs: 2, cooldownJobs: 2, fromS: 0, toS: 6 });
    expect(metrics[0].all).toMatchObject({ count: 2, mean: 7.5, maxJobId: 13 });
    expect(machine.utilisation).toBe(1);
    expect(describeWindow(window)).toBe(
      "warmup=0.2 cooldown=0.4: 2 jobs counted, the first 1 and the last 2 in submit order are simulated but not counted",
    );
  });

  test("refuses windows that leave no job, and metrics that do not exist", () => {
    const window = (warmupShare: number, cooldownShare: number) => () =>
      summarise(FIVE.instance, FIVE.schedule, { window: { warmupShare, cooldownShare } });
    expect(window(0.5, 0.5)).toThrow("sum below 1");
    expect(window(-0.1, 0)).toThrow("0 or more");
    expect(window(0, Number.NaN)).toThrow("0 or more");
    expect(() => summarise(FIVE.instance, FIVE.schedule, { metrics: ["weight"] })).toThrow(
      'Cannot measure "weight": there is no such metric, expected one of wait, response, slowdown, bounded-slowdown',
    );
  });

  test("jobs that never start or end and killed jobs are counted apart", () => {
    const { instance, schedule } = handMade(
      2,
      [
        { submitS: 0, runS: 5, traceRunS: 8, size: 1, startS: 1 },
        { submitS: 0, runS: 5, size: 1, startS: 1, endS: Number.NaN },
        { submitS: 2, runS: 5, size: 2, startS: Number.NaN },
      ],
      { overrun: "kill" },
    );
    const summary = summarise(instance, schedule);
    expect(summary.jobs).toEqual({
      total: 3,
      started: 2,
      ended: 1,
      neverStarted: 1,
      neverEnded: 1,
      killed: 1,
    });
    expect(metricOf(summary, "wait").all).toMatchObject({ count: 2, mean: 1 });
    expect(metricOf(summary, "response").all).toMatchObject({ count: 1, mean: 6 });
    // The second job has an area, too, but no response.
    expect(metricOf(summary, "response").all.areaWeightedMean).toBe(6);
    expect(summary.machine.utilisation).toBeCloseTo((5 + 5) / (2 * 6), 12);
  });

  test("gang machines: rows weighted by time, active ratio, useful work as utilisation", () => {
    const gang = {
      slotS: 5,
      switchS: 0,
      rowsAtS: Float64Array.of(0, 10, 30),
      rows: Int32Array.of(1, 3, 2),
      maxRows: 3,
      activeProcessorSlots: 12,
      slots: 10,
      unifications: 0,
      moves: 0,
      migrations: 3,
      migrationS: 25,
    };
    const { instance, schedule } = handMade(
      4,
      [
        { submitS: 0, runS: 20, size: 2, startS: 0, endS: 50 },
        { submitS: 0, runS: 10, size: 2, startS: 0, endS: 25 },
      ],
      { gang },
    );
    const summary = summarise(instance, schedule);
    expect(summary.gang).toEqual({
      slotS: 5,
      switchS: 0,
      meanRows: (1 * 10 + 3 * 20 + 2 * 20) / 50,
      maxRows: 3,
      activeRatio: 12 / 40,
      migrations: 3,
      migrationS: 25,
    });
    expect(summary.machine.utilisation).toBeCloseTo(60 / 200, 12);
  });

  test("no jobs give no numbers and no error", () => {
    const { instance, schedule } = handMade(4, []);
    const summary = summarise(instance, schedule);
    expect(summary.machine).toMatchObject({ makespanS: 0, utilisation: Number.NaN, offeredLoad: Number.NaN });
    expect(metricOf(summary, "wait").all).toMatchObject({ count: 0, maxJobId: -1, mean: Number.NaN });
  });

  test("agrees with plain sums over every class, whatever the classes are", () => {
    const job = fc.record({
      submitS: fc.integer({ min: 0, max: 50 }),
      runS: fc.integer({ min: 0, max: 30 }),
      size: fc.integer({ min: 1, max: 6 }),
    });
    const byRun = classesByRunTime([3, 12]);
    fc.assert(
      fc.property(fc.array(job, { minLength: 1, maxLength: 40 }), (list) => {
        const { instance, schedule } = firstComeFirstServed(6, list);
        const summary = summarise(instance, schedule, { classes: byRun, quantiles: "classes" });
        const other = summarise(instance, schedule, { quantiles: "none" });
        METRICS.forEach((metric, m) => {
          const { all, byClass } = summary.metrics[m];
          const parts = [[], [], []] as number[][];
          const rows = [[], [], [], []] as number[][];
          const column = new Float64Array(instance.count);
          metric.fill(column, instance, schedule, 0, summary.parameters);
          for (let j = 0; j < instance.count; j++) {
            const value = column[j];
            const runS = instance.runS[j];
            if (Number.isNaN(value)) continue;
            const part = runS <= 3 ? 0 : runS <= 12 ? 1 : 2;
            parts[part].push(value);
            rows[0].push(j);
            rows[part + 1].push(j);
          }
          [all, ...byClass].forEach((got, i) => {
            const values = i === 0 ? parts.flat() : parts[i - 1];
            const n = values.length;
            const mean = values.reduce((a, b) => a + b, 0) / n;
            expect(got.count).toBe(n);
            if (n > 0) expect(got.mean).toBeCloseTo(mean, 9);
            if (n > 0) expect(got.max).toBe(Math.max(...values));
            expect(got.maxJob).toBe(rows[i].find((row) => column[row] === got.max) ?? NO_JOB);
            if (n > 0) expect(got.p99).toBeLessThanOrEqual(got.max);
            if (n > 1) {
              const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1);
              expect(got.sd).toBeCloseTo(Math.sqrt(variance), 6);
            }
          });
          expect(other.metrics[m].all.mean).toBe(all.mean);
          expect(other.metrics[m].all.sd).toBe(all.sd);
          expect(other.metrics[m].all.median).toBeNaN();
        });
      }),
    );
  });

  test("utilisation agrees with counting busy processors second by second", () => {
    const job = fc.record({
      submitS: fc.integer({ min: 0, max: 30 }),
      runS: fc.integer({ min: 0, max: 9 }),
      size: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(
        fc.array(job, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 0, max: 9 }),
        (list, tenths) => {
          const { instance, schedule } = firstComeFirstServed(5, list);
          const window = { warmupShare: tenths / 20, cooldownShare: (9 - tenths) / 20 };
          const { utilisation, utilisationFromS, utilisationToS } = summarise(instance, schedule, {
            window,
          }).machine;
          let busy = 0;
          for (let second = utilisationFromS; second < utilisationToS; second++) {
            for (let j = 0; j < instance.count; j++) {
              if (schedule.startS[j] <= second && second < schedule.endS[j]) busy += instance.size[j];
            }
          }
          if (utilisationToS > utilisationFromS) {
            expect(utilisation).toBeCloseTo(busy / (5 * (utilisationToS - utilisationFromS)), 12);
          } else {
            expect(utilisation).toBeNaN();
          }
        },
      ),
    );
  });
});

describe("classes", () => {
  test("NARROW_WIDE_SHORT_LONG cuts after 8 processors and after an hour", () => {
    const { classOf, classes } = NARROW_WIDE_SHORT_LONG;
    const name = (size: number, runS: number) => classes[classOf(size, runS)].name;
    expect([name(8, 3600), name(9, 3600), name(8, 3601), name(9, 3601)]).toEqual([
      "short-narrow",
      "short-wide",
      "long-narrow",
      "long-wide",
    ]);
  });

  test("classesByRunTime() refuses bounds that do not ascend", () => {
    expect(() => classesByRunTime([4, 4])).toThrow("ascending");
    expect(() => classesByRunTime([4, Number.NaN])).toThrow("ascending");
    expect(() => classesByRunTime(Array.from({ length: 255 }, (_, i) => i))).toThrow("1 to 255");
    const byRunTime = classesByRunTime([4]);
    expect([byRunTime.classOf(0, 4), byRunTime.classOf(0, 5)]).toEqual([0, 1]);
  });
});
