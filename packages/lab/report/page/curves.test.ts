import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { summarise } from "@tutti/kernel/metrics/summary.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { readSwf } from "@tutti/kernel/workload/traces-for-tests.ts";
import { describe, expect, test } from "vitest";
import { curvesOf, GRID } from "./curves.ts";

/** Worked by hand: four jobs of 10 s on one processor wait 0, 10, 20 and 30 s. */
const FOUR = [1, 2, 3, 4].map((job) => `${job} 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1`).join("\n");

describe("the curves of a run", () => {
  const instance = prepare(readSwf(FOUR, "four.swf"), 1, DEFAULT_RULES);
  const schedule = simulate(instance, choosePolicy("fcfs"), { slotS: 60, switchS: 0 });
  const series = curvesOf(instance, schedule, summarise(instance, schedule));
  const at = (shares: Float64Array, value: number) => shares[GRID.findIndex((place) => place >= value)];

  test("the share of jobs that wait at most this long", () => {
    expect(at(series.wait, 1)).toBe(0.25);
    expect(at(series.wait, 9)).toBe(0.25);
    expect(at(series.wait, 10)).toBe(0.5);
    expect(at(series.wait, 29)).toBe(0.75);
    expect(at(series.wait, 31)).toBe(1);
    expect(series.wait.at(-1)).toBe(1);
  });

  test("the slowdowns are 1, 2, 3 and 4", () => {
    expect([1, 2, 3, 4].map((value) => at(series.slowdown, value + 0.1))).toEqual([0.25, 0.5, 0.75, 1]);
  });

  test("the machine is full for 40 s, and the queue shrinks", () => {
    expect([...series.inUse.atS]).toEqual([0, 40]);
    expect([...series.inUse.value]).toEqual([1, 0]);
    expect([...series.queue.atS]).toEqual([0, 10, 20, 30]);
    expect([...series.queue.value]).toEqual([3, 2, 1, 0]);
  });
});
