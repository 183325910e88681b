import { describe, expect, test } from "vitest";
import { processorsInUse } from "./over-time.ts";
import { dealProcessors } from "./processors.ts";
import { handMade } from "./schedules-for-tests.ts";
import { stretchesOf } from "./stretches.ts";
import { summarise } from "./summary.ts";

/** Job 1 runs from 0 to 10 s. Job 2 is stopped twice and ends at 20 s. Job 3 is stopped at 8 s for good. */
const { instance, schedule: plain } = handMade(4, [
  { submitS: 0, runS: 10, size: 1, startS: 0 },
  { submitS: 0, runS: 9, size: 2, startS: 1, endS: 20 },
  { submitS: 0, runS: 9, size: 1, startS: 2, endS: Number.NaN },
]);
const schedule = {
  ...plain,
  pauses: [
    { job: 1, fromS: 4, untilS: 6 },
    { job: 2, fromS: 8, untilS: Number.NaN },
    { job: 1, fromS: 9, untilS: 17 },
  ],
};

describe("stretchesOf()", () => {
  test("jobs that were never stopped are their own rows", () => {
    const { startS, endS, size, jobOf } = stretchesOf(instance, plain);
    expect([startS, endS, size, jobOf(2)]).toEqual([plain.startS, plain.endS, instance.size, 2]);
  });

  test("a pause ends a stretch and begins another", () => {
    const { startS, endS, size, jobOf } = stretchesOf(instance, schedule);
    const rows = [...startS].map((start, row) => [jobOf(row), start, endS[row], size[row]]);
    expect(rows).toEqual([
      [0, 0, 10, 1],
      [1, 1, 4, 2],
      [2, 2, 8, 1],
      [1, 6, 9, 2],
      [1, 17, 20, 2],
    ]);
  });

  test("processors are in use, and dealt, in the stretches only", () => {
    const { atS, value } = processorsInUse(instance, schedule);
    expect([...atS].map((at, i) => [at, value[i]])).toEqual([
      [0, 1],
      [1, 3],
      [2, 4],
      [4, 2],
      [6, 4],
      [8, 3],
      [9, 1],
      [10, 0],
      [17, 2],
      [20, 0],
    ]);
    const { offset, first } = dealProcessors(instance, schedule);
    expect([...offset]).toEqual([0, 1, 2, 3, 4, 5]);
    expect([...first]).toEqual([0, 1, 3, 1, 0]);
  });

  test("utilisation counts them only", () => {
    // 10 + 2 × (3 + 3 + 3) + 6 processor-seconds of 4 × 20.
    expect(summarise(instance, schedule).machine.utilisation).toBeCloseTo(34 / 80, 12);
  });
});
