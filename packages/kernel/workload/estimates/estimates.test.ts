import { describe, expect, test } from "vitest";
import { parseParameters } from "../../core/parameters.ts";
import { workloadOf } from "../workloads-for-tests.ts";
import { ESTIMATE_PARAMETERS, estimateRule, withEstimates } from "./estimates.ts";

const workload = workloadOf(
  Array.from({ length: 20_000 }, (_, i) => ({ submitS: i, runS: 1000, size: 1, estimateS: 7 })),
);
const short = workloadOf(
  Array.from({ length: 20_000 }, (_, i) => ({ submitS: i, runS: 10, size: 1, estimateS: 7 })),
);
const rule = (...settings: string[]) => estimateRule(parseParameters("model", ESTIMATE_PARAMETERS, settings));

describe("withEstimates()", () => {
  test("exact: the run times", () => {
    expect(rule()).toEqual({ kind: "exact" });
    expect(withEstimates(workload, rule(), 1).jobs.estimateS).toEqual(workload.jobs.runS);
  });

  test("factor: whole seconds, uniform between the run time and that multiple of it", () => {
    const { estimateS } = withEstimates(workload, rule("estimates=factor", "estimateFactor=3"), 1).jobs;
    expect(estimateS.every((at) => Number.isInteger(at) && at > 1000 && at <= 3000)).toBe(true);
    const counts = new Array<number>(20).fill(0);
    for (const at of estimateS) counts[Math.floor((at - 1001) / 100)]++;
    const chi = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(chi).toBeLessThan(43.8); // 19 degrees of freedom, 0.1 %
  });

  test("tsafrir: round values up to the one that is given", () => {
    const { estimateS } = withEstimates(short, rule("estimates=tsafrir", "maxEstimateS=36000"), 1).jobs;
    expect(Math.max(...estimateS)).toBe(36_000);
    expect(new Set(estimateS).size).toBeLessThan(140);
  });

  test("the name says what was done", () => {
    expect(withEstimates(workload, { kind: "exact" }, 4).name).toBe("test, estimates are the run times");
    expect(withEstimates(workload, { kind: "factor", factor: 2 }, 4).name).toBe(
      "test, estimates up to 2 times the run time, seed 4",
    );
    expect(withEstimates(short, { kind: "tsafrir", maxEstimateS: 7200 }, 4).name).toBe(
      "test, estimates up to 7200 s by the Tsafrir model, seed 4",
    );
  });
});
