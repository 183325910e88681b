import { readFileSync } from "node:fs";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { metricOf, summarise } from "@tutti/kernel/metrics/summary.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { describe, expect, test } from "vitest";
import { runCells } from "../experiments/run-cells.ts";
import { openSource } from "../experiments/source.ts";
import { CLAIMS } from "./claims.ts";
import { cellsOf, meanOf, ratioOf } from "./findings.ts";
import { findingsCells, INTRODUCTION } from "./page.ts";
import type { BlocksResult } from "./run.ts";

const blocks = (...sums: number[]): BlocksResult => ({
  blocks: sums.map((sum) => ({ sums: [sum, 2 * sum, 0], jobs: [2, 2, 0] })),
});

test("the committed page has this text above its tables, and cites who studied the same before", () => {
  const page = readFileSync(new URL("../../../docs/findings.md", import.meta.url), "utf8");
  expect(page.startsWith(INTRODUCTION.join("\n"))).toBe(true);
  // The first author of each group, and where it was published.
  for (const text of ["Franke", "SC 1999", "Zhang", "IPDPS", "JSSPP", "TPDS"]) expect(page).toContain(text);
  expect(page).not.toMatch(/no paper|nobody/i);
});

describe("findings", () => {
  test("a cell gives the means that the summary of the same run gives", async () => {
    const source = "downey:jobs=300:load=0.8";
    const cell = { source, slotS: 5, switchS: 1, policy: "brmms:rows=3:queue=easy" };
    const result = (await runCells(cellsOf(cell), { workers: 1 }))[0];
    const workload = await openSource(source, 1);
    const instance = prepare(workload, workload.processors as number, DEFAULT_RULES);
    const schedule = simulate(instance, choosePolicy(cell.policy), { slotS: 5, switchS: 1 });
    const summary = summarise(instance, schedule);
    expect(meanOf(result, "bounded slowdown")).toBeCloseTo(metricOf(summary, "bounded-slowdown").all.mean, 9);
    expect(meanOf(result, "response")).toBeCloseTo(metricOf(summary, "response").all.mean, 6);
  });

  test("ratioOf(): twice as long in every block is 2, whatever is drawn; one odd block widens the interval", () => {
    for (const isModel of [false, true]) {
      const { ratio, low, high } = ratioOf(blocks(2, 8, 6), blocks(1, 4, 3), "response", isModel);
      for (const value of [ratio, low, high]) expect(value).toBeCloseTo(2, 12);
      const odd = ratioOf(blocks(2, 8, 60), blocks(1, 4, 3), "response", isModel);
      expect(odd.low).toBeLessThan(odd.ratio);
      expect(odd.high).toBeGreaterThan(odd.ratio);
    }
    // (2 + 8 + 60) ÷ (1 + 4 + 3), between the ratios of the least and the most extreme block.
    const odd = ratioOf(blocks(2, 8, 60), blocks(1, 4, 3), "response", false);
    expect([odd.low, odd.ratio, odd.high]).toEqual([2, 8.75, 20]);
  });

  test("meanOf() of a metric that no job has is NaN", () => {
    expect(meanOf(blocks(1), "slowdown over 1 h")).toBeNaN();
    expect(meanOf(blocks(1, 3), "bounded slowdown")).toBe(1);
  });

  test("every policy that the page names exists, and no run is made twice", () => {
    const cells = findingsCells();
    for (const { policy } of cells) expect(choosePolicy(policy).label).toBe(policy);
    expect(new Set(cells.map((cell) => JSON.stringify(cell))).size).toBe(cells.length);
    expect(CLAIMS.length).toBeGreaterThanOrEqual(12);
  });
});
