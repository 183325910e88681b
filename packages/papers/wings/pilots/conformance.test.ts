/** Runs every policy of pilots, with every queue, under the checker, and tests that it finds faults. */
import type { SpacePolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { conservative } from "@tutti/kernel/policies/space/conservative.ts";
import { easy } from "@tutti/kernel/policies/space/easy.ts";
import { fcfs } from "@tutti/kernel/policies/space/fcfs.ts";
import { firstFit } from "@tutti/kernel/policies/space/first-fit.ts";
import { describe, expect, test } from "vitest";
import type { Measure } from "../wing.ts";
import { checkPilots } from "./checker.ts";
import type { PilotSettings, PilotsInstance, PilotsSchedule } from "./contract.ts";
import { measuresOf } from "./metrics.ts";
import { instanceWith, kind, randomPilots, settingsWith } from "./pilots-for-tests.ts";
import { simulatePilots } from "./simulate.ts";

const SEEDS = 150;
const QUEUES: readonly SpacePolicyDefinition[] = [easy, fcfs, firstFit, conservative];

function check(instance: PilotsInstance, settings: PilotSettings): PilotsSchedule {
  const schedule = simulatePilots(instance, settings);
  checkPilots(instance, settings, schedule, measuresOf(instance, schedule));
  return schedule;
}

describe.each(QUEUES)("under $name", (queue) => {
  test("pilots that follow the queue pass the checker, and a second run is the same", () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { instance, asks } = randomPilots(seed);
      const settings = { queue: makeChoice(queue), asks };
      expect(check(instance, settings), `seed ${seed}`).toEqual(simulatePilots(instance, settings));
    }
  });

  test("one pilot of all nodes passes it, and all jobs end", () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { instance } = randomPilots(seed);
      const { endS } = check(instance, { queue: makeChoice(queue), asks: undefined });
      expect(endS.every((at) => at >= 0)).toBe(true);
    }
  });
});

test("jobs of no length run, and end at the instant at which they start", () => {
  const instance = instanceWith([
    [0, 2, 0, 0],
    [0, 2, 0, 100],
    [5, 16, 0, 0],
  ]);
  const { startS, endS } = check(instance, settingsWith({}));
  expect(endS).toEqual(startS);
  expect(startS.every((at) => at >= 0)).toBe(true);
});

describe("checkPilots()", () => {
  // Two pilots: of 4 nodes for 720 s, on which four jobs run, and of one node.
  const instance = instanceWith([
    ...[1, 2, 3, 4].map(() => [0, 4, 300, 300] as const),
    [700, 2, 10, 500],
    [710, 1, 10, 2000],
  ]);
  const settings = settingsWith({ kinds: [kind("any", 1, 4, 600, 2000)], maxNodes: 4, maxNodeS: 5000 });
  const good = simulatePilots(instance, settings);
  const measures = measuresOf(instance, good);

  type Change = Partial<{ [Name in keyof PilotsSchedule]: unknown }>;
  const changed = (change: Change) => ({ ...good, ...change }) as PilotsSchedule;
  const found = (schedule: PilotsSchedule, own = settings, bill: readonly Measure[] = measures) => {
    try {
      return checkPilots(instance, own, schedule, bill);
    } catch (error) {
      return (error as { rule: string }).rule;
    }
  };
  const column = (name: "startS" | "endS" | "pilotOf", job: number, value: number) => ({
    [name]: good[name].map((old: number, i: number) => (i === job ? value : old)),
  });
  const pilot = (index: number, change: object) => ({
    pilots: good.pilots.map((old, i) => (i === index ? { ...old, ...change } : old)),
  });
  const moved = (job: number, startS: number) => ({
    ...column("startS", job, startS),
    ...column("endS", job, startS + instance.jobs.runS[job]),
  });
  const on = (job: number, processors: readonly number[]) => ({
    processorsOf: good.processorsOf.map((old, i) => (i === job ? processors : old)),
  });

  test("finds nothing wrong with the run, of which this test knows the pilots", () => {
    expect(found(good)).toBe("5 jobs on 2 pilots");
    expect(good.refused).toEqual([5]);
    expect(good.pilots.map(({ nodes, askedS, goneS }) => [nodes, askedS, goneS])).toEqual([
      [4, 0, 636],
      [1, 700, 716],
    ]);
    expect(good.processorsOf.slice(0, 4)).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
  });

  test.each<[string, string, Change]>([
    ["a processor has two jobs", "processor-twice", on(1, [3, 4, 5, 6])],
    ["a job has too few processors", "size", on(1, [4, 5, 6])],
    ["a job has a processor twice", "processors", on(1, [4, 5, 6, 6])],
    ["a job has a processor that is not there", "processors", on(1, [5, 6, 7, 8])],
    ["a job starts before it arrives", "start-before-arrival", moved(4, 699)],
    ["a job starts before its pilot serves", "start-before-pilot", moved(0, 5)],
    ["a job runs too long", "end", column("endS", 0, 307)],
    ["a job ends after its pilot", "end-after-pilot", pilot(0, { goneS: 600 })],
    ["a job may run after the stop", "limit-after-stop", pilot(0, { stopS: 606 })],
    ["a job runs on no pilot", "no-pilot", column("pilotOf", 0, -1)],
    ["a job runs on a pilot that is not there", "no-pilot", column("pilotOf", 0, 2)],
    ["a job is refused that a pilot may hold", "refused", { ...never(4), refused: [4, 5] }],
    ["a pilot runs before it can", "pilot", pilot(1, { askedS: 701 })],
    ["a pilot goes back after its stop", "pilot", pilot(1, { goneS: 1304 })],
    ["a pilot is wider than its kind", "pilot", pilot(1, { nodes: 5 })],
    ["a pilot is longer than its kind", "pilot", pilot(1, { timeS: 2001, drainS: 2404, stopS: 2644 })],
    ["a pilot idles too long", "idle", pilot(0, { goneS: 643 })],
    ["two pilots of a kind are on their way", "two-awaited", pilot(1, { askedS: 2 })],
    ["two pilots have too many nodes", "most", pilot(1, { askedS: 8 })],
  ])("says that %s: %s", (_, rule, change) => {
    expect(found(changed(change))).toBe(rule);
  });

  function never(job: number): Change {
    const none = (name: "startS" | "endS") => column(name, job, Number.NaN);
    return { ...none("startS"), ...none("endS"), ...column("pilotOf", job, -1) };
  }

  test("says that a job never starts, unless node-hours are bounded", () => {
    const bounded = changed(never(4));
    const free = { ...settings, asks: { ...settings.asks!, maxNodeS: Number.POSITIVE_INFINITY } };
    expect(found(bounded, free)).toBe("never-started");
  });

  test("says that node-hours are too many: 4 nodes for 633 s and one for 660 s are 3,192 node-seconds", () => {
    const most = (maxNodeS: number) => ({ ...settings, asks: { ...settings.asks!, maxNodeS } });
    expect(found(good, most(3192))).toBe("5 jobs on 2 pilots");
    expect(found(good, most(3191))).toBe("hours");
  });

  test("says that the site has fewer nodes than run, and that a pilot is not the one that holds all", () => {
    const held = { queue: settings.queue, asks: undefined };
    const whole = simulatePilots(instance, held);
    const bill = measuresOf(instance, whole);
    const of = (nodes: number, schedule: PilotsSchedule, own: PilotSettings) => {
      const site = { ...instance.site, nodes };
      try {
        return checkPilots({ ...instance, site }, own, schedule, schedule === good ? measures : bill);
      } catch (error) {
        return (error as { rule: string }).rule;
      }
    };
    expect(of(8, whole, held)).toBe("6 jobs on 1 pilot");
    expect(of(7, whole, held)).toBe("pilot");
    expect(of(8, { ...whole, pilots: [...whole.pilots, ...whole.pilots] }, held)).toBe("pilot");
    expect(of(4, good, settings)).toBe("5 jobs on 2 pilots");
    expect(of(3, good, settings)).toBe("site");
  });

  test.each(["asked", "used", "idle"])("says that the bill is wrong: %s", (name) => {
    const wrong = measures.map((one) => (one.name === name ? { ...one, value: one.value + 1e-3 } : one));
    expect(found(good, settings, wrong)).toBe("bill");
  });
});
