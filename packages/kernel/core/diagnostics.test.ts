import { describe, expect, test } from "vitest";
import { DiagnosticCollector, diagnosticRules } from "./diagnostics.ts";

const RULES = diagnosticRules({
  dropped: { b: "B was dropped" },
  repaired: { x: "X" },
  kept: { a: "A was kept" },
});

describe("DiagnosticCollector", () => {
  test("list() gives codes in order of first occurrence, each with its complete count", () => {
    const collector = new DiagnosticCollector(RULES);
    collector.add("b");
    collector.add("a");
    collector.add("b");
    expect(
      collector.list().map(({ code, action, message, count }) => ({ code, action, message, count })),
    ).toEqual([
      { code: "b", action: "dropped", message: "B was dropped", count: 2 },
      { code: "a", action: "kept", message: "A was kept", count: 1 },
    ]);
  });

  test("keeps the first five examples of a code and counts the rest, so memory is bounded", () => {
    const collector = new DiagnosticCollector(RULES);
    for (let line = 1; line <= 1000; line++) collector.add("x", { line, field: "run time" });
    const [entry] = collector.list();
    expect(entry.count).toBe(1000);
    expect(entry.examples.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
    expect(entry.examples[0]).toEqual({ line: 1, job: undefined, field: "run time", value: undefined });
  });

  test("cuts a long value to 40 characters", () => {
    const collector = new DiagnosticCollector(RULES);
    collector.add("x", { value: "1234567890".repeat(10) });
    expect(collector.list()[0].examples[0].value).toBe("1234567890".repeat(4));
  });

  test("list() of nothing is empty", () => {
    expect(new DiagnosticCollector(RULES).list()).toEqual([]);
  });
});
