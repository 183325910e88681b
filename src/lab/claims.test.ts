import { describe, expect, test } from "vitest";
import { type Comparison, judge, verdictOf } from "./claims.ts";

describe("verdictOf()", () => {
  const between = (low: number, high: number, is: Comparison["is"], b = 1) =>
    verdictOf({ a: { low, high }, is, b });

  test("an interval has to lie on the claimed side as a whole", () => {
    expect(between(0.7, 0.9, "below")).toBe("holds");
    expect(between(0.7, 0.9, "above")).toBe("fails");
    expect(between(1.1, 1.3, "above")).toBe("holds");
    expect(between(1.1, 1.3, "below")).toBe("fails");
    expect(between(0.7, 1.1, "below")).toBe("open");
    expect(between(0.7, 1.1, "above")).toBe("open");
  });

  test("the border itself is on either side of `at most` and `at least` only", () => {
    for (const [is, verdict] of [
      ["below", "open"],
      ["above", "open"],
      ["at most", "holds"],
      ["at least", "holds"],
    ] as const) {
      expect(verdictOf({ a: 1, is, b: 1 })).toBe(verdict);
      expect(between(1, 1, is)).toBe(verdict);
    }
    expect(between(0.5, 1, "below")).toBe("open");
    expect(between(0.5, 1, "at most")).toBe("holds");
    expect(between(0.5, 1, "at least")).toBe("open");
  });

  test("NaN shows nothing", () => {
    for (const is of ["below", "above", "at most", "at least"] as const)
      expect(verdictOf({ a: Number.NaN, is, b: 1 })).toBe("open");
  });
});

test("judge(): every comparison has to hold", () => {
  const claim = (...values: number[]) => ({
    statement: "small",
    comparisons: values.map((a) => ({ a, is: "below" as const, b: 1 })),
    evidence: values.join(", "),
  });
  expect(judge(claim(0.1, 0.2))).toEqual({ statement: "small", holds: true, evidence: "0.1, 0.2" });
  expect(judge(claim(0.1, 1)).holds).toBe(false);
  expect(judge(claim(2, 0.1)).holds).toBe(false);
});
