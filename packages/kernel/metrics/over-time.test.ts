import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StepFunction } from "./over-time.ts";
import { processorsInUse, queueLength, resample, rowsOverTime } from "./over-time.ts";
import { firstComeFirstServed, handMade } from "./schedules-for-tests.ts";

const jobs = fc.array(
  fc.record({
    submitS: fc.integer({ min: 0, max: 30 }),
    runS: fc.integer({ min: 0, max: 9 }),
    size: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 25 },
);

function valueAt(steps: StepFunction, timeS: number): number {
  let value = 0;
  for (let i = 0; i < steps.atS.length; i++) if (steps.atS[i] <= timeS) value = steps.value[i];
  return value;
}

describe("queueLength() and processorsInUse()", () => {
  test("agree with counting the jobs at every instant", () => {
    fc.assert(
      fc.property(jobs, (list) => {
        const { instance, schedule } = firstComeFirstServed(4, list);
        const queue = queueLength(instance, schedule);
        const busy = processorsInUse(instance, schedule);
        for (let timeS = -0.5; timeS < 400; timeS += 0.5) {
          let waiting = 0;
          let used = 0;
          for (let job = 0; job < instance.count; job++) {
            if (instance.submitS[job] <= timeS && timeS < schedule.startS[job]) waiting++;
            if (schedule.startS[job] <= timeS && timeS < schedule.endS[job]) used += instance.size[job];
          }
          expect(valueAt(queue, timeS)).toBe(waiting);
          expect(valueAt(busy, timeS)).toBe(used);
        }
        for (const steps of [queue, busy]) {
          for (let i = 1; i < steps.atS.length; i++) {
            expect(steps.atS[i]).toBeGreaterThan(steps.atS[i - 1]);
            expect(steps.value[i]).not.toBe(steps.value[i - 1]);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test("a job that never starts waits for ever", () => {
    const { instance, schedule } = handMade(1, [{ submitS: 3, runS: 1, size: 1, startS: Number.NaN }]);
    expect(queueLength(instance, schedule)).toEqual({ atS: Float64Array.of(3), value: Float64Array.of(1) });
    expect(processorsInUse(instance, schedule).atS.length).toBe(0);
  });
});

describe("resample()", () => {
  test("hand-worked: mean by time, maximum of what holds within the bucket", () => {
    const steps = { atS: Float64Array.of(1, 2, 5), value: Float64Array.of(4, 1, 0) };
    const series = resample(steps, 0, 6, 3);
    expect([...series.mean]).toEqual([2, 1, 0.5]);
    expect([...series.max]).toEqual([4, 1, 1]);
  });

  test("mean and maximum agree with fine sampling of integer steps", () => {
    fc.assert(
      fc.property(
        jobs,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 10 }),
        (list, buckets, fromS) => {
          const { instance, schedule } = firstComeFirstServed(4, list);
          const steps = queueLength(instance, schedule);
          const lengthS = 3;
          const series = resample(steps, fromS, fromS + buckets * lengthS, buckets);
          for (let bucket = 0; bucket < buckets; bucket++) {
            const seen = [0.5, 1.5, 2.5].map((offset) => valueAt(steps, fromS + bucket * lengthS + offset));
            expect(series.mean[bucket]).toBeCloseTo(seen.reduce((a, b) => a + b) / 3, 12);
            expect(series.max[bucket]).toBe(Math.max(...seen));
          }
        },
      ),
    );
  });

  test("refuses an empty span", () => {
    expect(() => resample({ atS: new Float64Array(0), value: new Float64Array(0) }, 5, 5, 2)).toThrow(
      "a positive span",
    );
  });
});

test("rowsOverTime() is the record of a gang schedule without repetitions, and nothing else has one", () => {
  const gang = {
    slotS: 1,
    switchS: 0,
    rowsAtS: Float64Array.of(0, 4, 4, 9),
    rows: Int32Array.of(1, 2, 1, 0),
    maxRows: 2,
    activeProcessorSlots: 9,
    slots: 9,
    unifications: 0,
    moves: 0,
    migrations: 0,
    migrationS: 0,
  };
  const line = { submitS: 0, runS: 9, size: 1, startS: 0 };
  const steps = rowsOverTime(handMade(1, [line], { gang }).schedule)!;
  expect([...steps.atS]).toEqual([0, 9]);
  expect([...steps.value]).toEqual([1, 0]);
  expect(rowsOverTime(handMade(1, [line]).schedule)).toBeUndefined();
});
