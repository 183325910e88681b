import { ModelError } from "@tutti/kernel/core/errors.ts";
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
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

  test("jobs that create tasks, moldable jobs of the other kinds, and local tasks, under the checker", () => {
    for (const source of [
      "kind=fork-join:jobs=moldable:work=1",
      "jobs=moldable:work=1:fit=best",
      "locals=30:work=1",
    ]) {
      for (const policy of ["tasks-idle", "tasks-grades:classes=grade", "tasks-grades:classes=user"]) {
        const measures = measuresOf(`tasks:hours=1:processors=8:${source}`, policy, 3);
        expect(measures.get("ended"), source).toBeGreaterThan(0);
      }
    }
  });

  test("refuses jobs that create tasks if the front end does not follow them", () => {
    expect(() => measuresOf("tasks:kind=fork-join", "tasks-idle", 1)).toThrow("expected jobs=moldable");
    expect(() => measuresOf("tasks:jobs=moldable:place=adjacent", "tasks-idle", 1)).toThrow(
      "such as gang:place=any",
    );
  });

  test("refuses a switch that is not shorter than the slot", () => {
    expect(() => measuresOf("tasks:slot=5:switch=5", "tasks-idle", 1)).toThrow(ModelError);
  });
});
