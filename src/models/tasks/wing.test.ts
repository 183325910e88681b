import { describe, expect, test } from "vitest";
import { ModelError } from "../../core/errors.ts";
import { chooseAmong } from "../../policies/parse-policy.ts";
import { parseWing } from "../wings.ts";
import { tasks } from "./wing.ts";

function measuresOf(source: string, policy: string, seed: number): Map<string, number> {
  const { parameters } = parseWing(source)!;
  const run = tasks.simulate(parameters, chooseAmong(tasks.policies, policy), seed, true);
  expect(run.checked).toMatch(/^\d+ tasks to their end$/);
  return new Map(run.measures.map(({ name, value }) => [name, value]));
}

describe("tasks", () => {
  test("a processor's time goes to computing, switches and idling, whatever the gang policy and the slot", () => {
    for (const gang of ["gang", "brms", "wlv"]) {
      const source = `tasks:hours=3:processors=8:slot=7:switch=0.5:returns=no:gang=${gang}`;
      const measures = measuresOf(source, "tasks-grades:alpha=3", 2);
      const sum = ["busy", "idle", "switch"].reduce((all, name) => all + measures.get(name)!, 0);
      expect(sum, gang).toBeCloseTo(1, 9);
      for (const name of ["busy", "idle", "switch", "ended"])
        expect(measures.get(name), name).toBeGreaterThan(0);
      expect(measures.get("bounded-slowdown")).toBeGreaterThan(1);
    }
  });

  test("refuses a switch that is not shorter than the slot", () => {
    expect(() => measuresOf("tasks:slot=5:switch=5", "tasks-idle", 1)).toThrow(ModelError);
  });
});
