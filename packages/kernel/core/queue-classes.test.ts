import { describe, expect, test } from "vitest";
import { InputError } from "./errors.ts";
import {
  checkQueueClasses,
  exceededLimit,
  HPC2500_CLASSES,
  limitOf,
  type QueueClass,
  type ReservationRule,
} from "./queue-classes.ts";

const one: QueueClass = { name: "short", processors: 8, processes: 4, threads: 2, elapsedBelowS: 60 };
const rule: ReservationRule = { limit: 1, threshold: 20, whenHeadBlocked: false };

describe("HPC2500_CLASSES", () => {
  test("are tables 2, 3 and 4 of the paper", () => {
    expect(checkQueueClasses(HPC2500_CLASSES)).toBe(HPC2500_CLASSES);
    const table2 = HPC2500_CLASSES.map((c) => `${c.name} ${c.processors}/${c.processes}/${c.threads}`);
    expect(table2).toEqual([
      "ss8 8/8/8",
      "s8 8/8/8",
      "s128 128/8/128",
      "d32 32/32/32",
      "d128 128/128/32",
      "d512 512/512/32",
    ]);
    const tables34 = HPC2500_CLASSES.map((c) => [c.reservations?.threshold, c.reservations?.limit]);
    const none = [undefined, undefined];
    expect(tables34).toEqual([none, none, [30, 1], [20, 3], [20, 2], [20, 1]]);
    expect(HPC2500_CLASSES.filter((c) => c.reservations?.whenHeadBlocked).map((c) => c.name)).toEqual([
      "d512",
    ]);
  });
});

describe("exceededLimit()", () => {
  const within = { processors: 8, processes: 4, threads: 2, estimateS: 59 };

  test("is undefined for a job at the limits", () => {
    expect(exceededLimit(one, within)).toBeUndefined();
  });

  test("names the first limit that the job exceeds; elapsed time has to be below its limit", () => {
    expect(exceededLimit(one, { ...within, processors: 9, processes: 5 })).toBe("processors");
    expect(exceededLimit(one, { ...within, processes: 5, threads: 3 })).toBe("processes");
    expect(exceededLimit(one, { ...within, threads: 3, estimateS: 60 })).toBe("threads");
    expect(exceededLimit(one, { ...within, estimateS: 60 })).toBe("elapsed");
  });

  test("a class without elapsed limit admits any estimate", () => {
    const { elapsedBelowS, ...open } = one;
    expect(exceededLimit(open, { ...within, estimateS: Number.POSITIVE_INFINITY })).toBeUndefined();
    expect([limitOf(open, "elapsed"), limitOf(one, "elapsed")]).toEqual([
      Number.POSITIVE_INFINITY,
      elapsedBelowS,
    ]);
  });
});

describe("checkQueueClasses()", () => {
  const refused: [string, readonly QueueClass[], string][] = [
    ["no classes", [], "Cannot use 0 queue classes: expected 1 to 127"],
    ["a name with a colon", [{ ...one, name: "a:b" }], 'Cannot use "a:b" as name of queue class 1'],
    ["an empty name", [one, { ...one, name: "" }], 'Cannot use "" as name of queue class 2'],
    [
      "a name twice",
      [one, one],
      'Cannot use "short" as name of queue class 2: an earlier class has that name; choose another',
    ],
    ["no processors", [{ ...one, processors: 0 }], 'Cannot use 0 as processors of queue class "short"'],
    ["half a process", [{ ...one, processes: 1.5 }], 'Cannot use 1.5 as processes of queue class "short"'],
    ["NaN threads", [{ ...one, threads: Number.NaN }], 'Cannot use NaN as threads of queue class "short"'],
    [
      "no elapsed time",
      [{ ...one, elapsedBelowS: 0 }],
      'Cannot use 0 as elapsedBelowS of queue class "short"',
    ],
    [
      "a limit of 0",
      [{ ...one, reservations: { ...rule, limit: 0 } }],
      'Cannot use 0 as reservations.limit of queue class "short"',
    ],
    [
      "a negative threshold",
      [{ ...one, reservations: { ...rule, threshold: -1 } }],
      'Cannot use -1 as reservations.threshold of queue class "short"',
    ],
  ];
  for (const [what, classes, message] of refused) {
    test(`refuses ${what} with class, field and value`, () => {
      expect(() => checkQueueClasses(classes)).toThrow(InputError);
      expect(() => checkQueueClasses(classes)).toThrow(message);
    });
  }
});
