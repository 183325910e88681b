import { ModelError } from "@tutti/kernel/core/errors.ts";
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { parseWing } from "../wings.ts";
import { GRID } from "./contract.ts";
import { instanceOf, sites } from "./wing.ts";

const parametersOf = (text: string) => parseWing(text)!.parameters;

function measuresOf(source: string, policy: string, seed = 1): Map<string, number> {
  const run = sites.simulate(parametersOf(source), chooseAmong(sites.policies, policy), seed, true);
  expect(run.checked).toMatch(/^\d{4,} starts and ends$/);
  return new Map(run.measures.map(({ name, value }) => [name, value]));
}

describe("sites", () => {
  test("offers the load that is asked for, gangs and local jobs by their shares, sites by size and speed", () => {
    const text = "sites:sizes=40,10,30:speeds=1,4,0.5:load=0.7:gangShare=0.4:service=5:gangs=2,9:jobs=200000";
    const { count, home, size, serviceS, submitS } = instanceOf(parametersOf(text), 3);
    const work = { gangs: 0, local: [0, 0, 0] };
    for (let job = 0; job < count; job++) {
      if (home[job] < 0) work.gangs += size[job] * serviceS[job];
      else work.local[home[job]] += serviceS[job];
    }
    const perSecond = 40 + 10 * 4 + 30 * 0.5;
    const offered = 0.7 * perSecond * submitS[count - 1];
    expect(work.gangs / offered).toBeCloseTo(0.4, 2);
    for (const [site, capacity] of [40, 40, 15].entries())
      expect(work.local[site] / offered).toBeCloseTo((0.6 * capacity) / perSecond, 2);
  });

  test("one processor without gangs is the queue M/M/1: response 1 / (1 − load), utilisation the load", () => {
    const measures = measuresOf("sites:sizes=1:gangs=1:gangShare=0:load=0.6:jobs=200000", "sites-one");
    expect(measures.get("local-response")).toBeCloseTo(2.5, 1);
    expect(measures.get("utilisation")).toBeCloseTo(0.6, 2);
  });

  test("a gang that no single site can take is left by sites-one and runs under sites-across", () => {
    const parameters = parametersOf("sites:sizes=4,4:gangs=6:gangShare=0.5:jobs=300:load=0.3");
    const left = (policy: string) =>
      sites.simulate(parameters, chooseAmong(sites.policies, policy), 1, true).left;
    const gangs = instanceOf(parameters, 1).home.filter((home) => home === GRID).length;
    expect(gangs).toBeGreaterThan(20);
    expect(left("sites-one")).toBe(gangs);
    expect(left("sites-across")).toBe(0);
  });

  test("refuses parameters that contradict each other", () => {
    for (const text of ["sites:sizes=8,8:speeds=1,2,3", "sites:sizes=4,4:gangs=9"])
      expect(() => instanceOf(parametersOf(text), 1), text).toThrow(ModelError);
  });
});
