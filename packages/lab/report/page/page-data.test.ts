import { handMade } from "@tutti/kernel/metrics/schedules-for-tests.ts";
import { metricOf } from "@tutti/kernel/metrics/summary.ts";
import { describe, expect, test } from "vitest";
import type { ComparedPolicy } from "../../results/comparison.ts";
import type { MatrixRecord } from "../../results/matrix-record.ts";
import { comparison } from "../comparisons-for-tests.ts";
import { comparisonJson } from "../text/json.ts";
import { GRID, withFewerSteps } from "./curves.ts";
import { ganttSpan, pageData, pageText, readPageText } from "./page-data.ts";

const DONE = {
  placed: 2,
  ended: 0,
  extraSlots: 0,
  released: 0,
  exchanges: 0,
  migrations: 0,
  rowsAdded: 3,
  rowsDeleted: 0,
};
/** Two instants: first job 11 alone, then also job 12 on processors 1 and 3 of the third row. */
const MATRIX: MatrixRecord = {
  boxJob: Int32Array.of(0, 1, 1),
  boxFirst: Int32Array.of(0, 1, 3),
  boxSize: Int32Array.of(2, 1, 1),
  boxRow: Int32Array.of(0, 2, 2),
  snapshots: [
    { atS: 0, rows: 1, row: [0], first: [0], end: [2], job: [0], done: DONE },
    { atS: 10, rows: 3, row: [0, 2, 2], first: [0, 1, 3], end: [2, 2, 4], job: [0, 1, 1], done: DONE },
  ],
  busiest: 1,
};

function withMatrix() {
  const made = comparison({ gang: true });
  const [fcfs, easy] = made.policies as [ComparedPolicy, ComparedPolicy];
  return { ...made, policies: [fcfs, { ...easy, matrix: MATRIX }] };
}

describe("pageData()", () => {
  test("has the boxes of the whole run", () => {
    const { boxes, drawn, facts, comparison: shown } = pageData(comparison());
    expect([...boxes[0]!.job].map((job) => shown.instance.id[job])).toEqual([11, 12, 13, 14, 15]);
    expect([...boxes[0]!.first]).toEqual([0, 2, 0, 0, 0]);
    expect([...boxes[0]!.size]).toEqual([2, 2, 4, 1, 1]);
    expect(drawn).toBeUndefined();
    // Sizes 2, 2, 4, 1, 1 and run times 10, 20, 5, 0, 30.
    expect(facts).toEqual({ firstSubmitS: 0, submitPeriodS: 10, meanSize: 2, meanRunS: 13 });
  });

  test("hand-worked: distributions, utilisation and queue", () => {
    const [fcfs, easy] = pageData(comparison()).curves;
    // waits 0, 0, 15, 19, 15 and 0, 0, 35, 4, 0
    for (const [i, atS] of GRID.entries()) {
      expect(fcfs.wait[i]).toBeCloseTo(atS < 15 ? 0.4 : atS < 19 ? 0.8 : 1, 12);
      expect(easy.wait[i]).toBeCloseTo(atS < 4 ? 0.6 : atS < 35 ? 0.8 : 1, 12);
    }
    expect([...fcfs.inUse.value]).toEqual([4, 2, 4, 1, 0]);
    expect([...fcfs.inUse.atS]).toEqual([0, 10, 20, 25, 55]);
    expect(Math.max(...fcfs.queue.value)).toBe(3);
    expect(fcfs.rows).toBeUndefined();
  });

  test("with too many jobs to draw, keeps those around the longest queue, under the same numbers", () => {
    const lines = Array.from({ length: 400 }, (_, i) => {
      const burst = i >= 200 && i < 220;
      const submitS = burst ? 20000 : 100 * i;
      return { submitS, runS: 50, size: 1, startS: burst ? 20000 + 50 * (i - 200) : 100 * i };
    });
    const { instance, schedule } = handMade(2, lines);
    const span = ganttSpan(instance, [schedule], 50);
    expect(span.fromS).toBeLessThanOrEqual(20000);
    expect(span.toS).toBeGreaterThanOrEqual(20000);
    const made = comparison();
    const whole = { ...made, instance, policies: [{ ...made.policies[0], schedule }] };
    const { comparison: shown, boxes, drawn } = pageData(whole, 50);
    expect(drawn).toEqual(span);
    expect(shown.instance.count).toBe(400);
    const jobs = new Set(boxes[0]!.job);
    expect(jobs.size).toBeLessThanOrEqual(50);
    expect(jobs.size).toBeGreaterThan(20);
    expect(shown.instance.id.length).toBe(jobs.size);
    for (const [box, job] of boxes[0]!.job.entries()) {
      const row = instance.id.indexOf(shown.instance.id[job]);
      expect(boxes[0]!.startS[box]).toBe(schedule.startS[row]);
      expect(shown.policies[0].schedule.startS[job]).toBe(schedule.startS[row]);
      expect(shown.instance.submitS[job]).toBe(instance.submitS[row]);
    }
  });

  test("gangs have boxes and pictures if they were recorded, and their rows over time", () => {
    const { boxes, curves, comparison: shown } = pageData(withMatrix());
    const { job, first, startS } = boxes[1]!;
    const ids = (jobs: readonly number[]) => jobs.map((one) => shown.instance.id[one]);
    expect(ids([...job])).toEqual([11, 12, 12]);
    expect([...first]).toEqual([0, 1, 3]);
    expect([...startS]).toEqual([0, 0, 0]);
    expect(shown.policies[1].matrix!.snapshots.map((one) => ids(one.job))).toEqual([[11], [11, 12, 12]]);
    expect([...curves[1].rows!.value]).toEqual([1, 3, 2]);
    expect(pageData(comparison({ gang: true })).boxes.map((own) => own !== undefined)).toEqual([true, false]);
  });

  test("of a run without jobs has no boxes", () => {
    const { instance, schedule } = handMade(2, []);
    const made = comparison();
    const { boxes, drawn } = pageData({ ...made, instance, policies: [{ ...made.policies[0], schedule }] });
    expect(boxes).toEqual([undefined]);
    expect(drawn).toBeUndefined();
  });
});

describe("withFewerSteps()", () => {
  test("keeps means and the longest queue", () => {
    const value = Float64Array.from({ length: 1001 }, (_, i) => (i === 1000 ? 0 : i % 7));
    const atS = Float64Array.from(value, (_, i) => i);
    const [{ wait, response, slowdown }] = pageData(comparison()).curves;
    const curve = { atS, value };
    const curves = { wait, response, slowdown, inUse: curve, queue: curve, longestQueue: curve, rows: curve };
    const { queue, longestQueue, inUse } = withFewerSteps(curves, 100);
    expect(queue.atS.length).toBe(101);
    expect(longestQueue.value[0]).toBe(6);
    // Each step lasts 10 s.
    const area = inUse.value.reduce((sum, height) => sum + 10 * height, 0);
    expect(area).toBeCloseTo(
      value.reduce((sum, height) => sum + height, 0),
      6,
    );
    expect(withFewerSteps(curves, 1001)).toEqual(curves);
  });
});

describe("pageText()", () => {
  test("is read as the same data, with the same numbers to the last digit", () => {
    const data = pageData(withMatrix());
    const read = readPageText(pageText(data));
    expect(read).toEqual(data);
    expect(comparisonJson(read.comparison)).toBe(comparisonJson(withMatrix()));
    expect(metricOf(read.comparison.policies[0].summary, "wait").all.mean).toBe(9.8);
  });

  test("is the same text for the same comparison", () => {
    expect(pageText(pageData(comparison()))).toBe(pageText(pageData(comparison())));
  });

  test("texts from outside have no characters that control or reorder", () => {
    const text = pageText(pageData(comparison({ name: "a\u0007b\u202ec.swf", labels: ["x\ny", "easy"] })));
    const { comparison: shown } = readPageText(text);
    expect(shown.instance.workload.name).toBe("abc.swf");
    expect(shown.policies[0].label).toBe("x y");
  });
});
