import { describe, expect, test } from "vitest";
import { Grades } from "./grades.ts";

describe("Grades", () => {
  test("grade() is the mean share over the last slots, and 0 before the first", () => {
    const kept = new Grades(2, 5);
    expect(kept.grade(1, 0)).toBe(0);
    // The paper's example: computing for 20 % of the slot, in I/O for the rest.
    kept.record(1, 0.2, 0.8, 0, 0);
    expect([0, 1, 2, 3].map((taskClass) => kept.grade(1, taskClass))).toEqual([0.2, 0.8, 0, 0]);
    kept.record(1, 1, 0, 0, 0);
    expect(kept.grade(1, 0)).toBeCloseTo(0.6, 12);
    expect(kept.grade(0, 0)).toBe(0);
  });

  test("record() forgets all but the last five slots, so that a change of phase shows", () => {
    const kept = new Grades(1, 5);
    for (let slot = 0; slot < 5; slot++) kept.record(0, 0, 1, 0, 0);
    for (const expected of [0.8, 0.6, 0.4, 0.2, 0, 0]) {
      kept.record(0, 0.25, 0, 0.5, 0.25);
      expect(kept.grade(0, 1)).toBeCloseTo(expected, 12);
    }
    expect([0, 2, 3].map((taskClass) => kept.grade(0, taskClass))).toEqual([0.25, 0.5, 0.25]);
  });

  test("clear() forgets the task", () => {
    const kept = new Grades(2, 5);
    kept.record(0, 1, 0, 0, 0);
    kept.record(1, 1, 0, 0, 0);
    kept.clear(0);
    expect([kept.grade(0, 0), kept.grade(1, 0)]).toEqual([0, 1]);
    kept.record(0, 0.5, 0.5, 0, 0);
    expect(kept.grade(0, 0)).toBe(0.5);
  });
});
