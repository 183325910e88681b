import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import { describe, expect, test } from "vitest";
import { type Comparison, judge, verdictOf, within } from "./claims.ts";

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

  test("the limit itself is on the side of `at most` and `at least`, and refutes `below` and `above`", () => {
    for (const [is, verdict] of [
      ["below", "fails"],
      ["above", "fails"],
      ["at most", "holds"],
      ["at least", "holds"],
    ] as const) {
      expect(verdictOf({ a: 1, is, b: 1 })).toBe(verdict);
      expect(between(1, 1, is)).toBe(verdict);
    }
    expect(between(0.5, 1, "below")).toBe("open");
    expect(between(0.5, 1, "at most")).toBe("holds");
    expect(between(0.5, 1, "at least")).toBe("open");
    expect(between(1, 1.5, "below")).toBe("fails");
    expect(between(1, 1.5, "at most")).toBe("open");
    expect(between(0.5, 1, "above")).toBe("fails");
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

test("judge(): one comparison that fails refutes the claim, else one that is open leaves it open", () => {
  const wide = { low: 0.9, high: 1.1 };
  const holds = (...values: Comparison["a"][]) =>
    judge({ statement: "", comparisons: values.map((a) => ({ a, is: "below", b: 1 })), evidence: "" }).holds;
  expect(holds(0.5, wide)).toBe(null);
  expect(holds(wide, 2)).toBe(false);
  expect(holds(2, wide)).toBe(false);
});

test("within() is the interval of several values, and the value of a single one", () => {
  // By hand: 1 and 3 have the mean 2, the standard deviation √2 and Student's quantile 12.706.
  const { low, high } = within(confidenceInterval([1, 3])) as { low: number; high: number };
  expect(low).toBeCloseTo(2 - 12.706, 2);
  expect(high).toBeCloseTo(2 + 12.706, 2);
  expect(within(confidenceInterval([3]))).toBe(3);
});
