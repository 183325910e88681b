/** Pilots and starts are those of hand-worked cases and of a naive second simulation. */
import type { SpacePolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { easy } from "@tutti/kernel/policies/space/easy.ts";
import { fcfs } from "@tutti/kernel/policies/space/fcfs.ts";
import { describe, expect, test } from "vitest";
import type { PilotsSchedule } from "./contract.ts";
import { billOf, measuresOf } from "./metrics.ts";
import { instanceWith, kind, plainStarts, randomPilots, SITE, settingsWith } from "./pilots-for-tests.ts";
import { fixed } from "./policies.ts";
import { simulatePilots } from "./simulate.ts";

const queueOf = (definition: SpacePolicyDefinition) => makeChoice(definition);

/** Of each pilot: nodes, limit, asked for, runs, gone. */
function pilotsOf({ pilots }: PilotsSchedule): number[][] {
  return pilots.map(({ nodes, timeS, askedS, runsS, goneS }) => [nodes, timeS, askedS, runsS, goneS]);
}

const startsOf = ({ startS, pilotOf }: PilotsSchedule) => [...startS].map((at, job) => [at, pilotOf[job]]);

describe("simulatePilots(), by hand", () => {
  test("a job brings a pilot of its nodes, 6 s later it starts, and at its end all is over", () => {
    // 3 CPUs on nodes of 2; 200 s + 60 s + 60 s are less than the shortest limit, 600 s.
    const instance = instanceWith([[10, 3, 100, 200]]);
    const schedule = simulatePilots(instance, settingsWith({}));
    expect(pilotsOf(schedule)).toEqual([[2, 600, 10, 13, 116]]);
    expect(startsOf(schedule)).toEqual([[16, 0]]);
    expect(schedule.processorsOf).toEqual([[0, 1, 2]]);
    // Two nodes for 103 s, busy for 100 s each.
    expect(billOf(instance, schedule)).toEqual({ askedNodeS: 1200, usedNodeS: 206, idleNodeS: 6 });
  });

  test("a pilot is kept for the idle time: a job within it starts at once, a later one brings another", () => {
    const jobs = [
      [0, 2, 100, 200],
      [130, 2, 10, 20],
      [400, 2, 10, 20],
    ] as const;
    // The first ends at 106, the second at 140; then 30 s of nothing. The third ends at 416.
    const schedule = simulatePilots(instanceWith(jobs), settingsWith({ idleS: 30 }));
    expect(pilotsOf(schedule)).toEqual([
      [1, 600, 0, 3, 170],
      [1, 600, 400, 403, 416],
    ]);
    expect(startsOf(schedule)).toEqual([
      [6, 0],
      [130, 0],
      [406, 1],
    ]);
    const short = simulatePilots(instanceWith(jobs), settingsWith({ idleS: 23 }));
    expect(pilotsOf(short).map(([, , asked, , gone]) => [asked, gone])).toEqual([
      [0, 129],
      [130, 146 + 23],
      [400, 416],
    ]);
  });

  test("what waits makes a pilot wider and longer; more than the nodes wait on it", () => {
    // 4 jobs of 2 nodes each on 4 nodes: 4 × 2 × 300 s ÷ 4 nodes are 600 s, + 60 s + 60 s.
    const jobs = [1, 2, 3, 4].map(() => [0, 4, 300, 300] as const);
    const asks = { kinds: [kind("any", 1, 4, 600, 36_000)], maxNodes: 4 };
    const schedule = simulatePilots(instanceWith(jobs), settingsWith(asks));
    expect(pilotsOf(schedule)).toEqual([[4, 720, 0, 3, 606]]);
    expect(startsOf(schedule).map(([at]) => at)).toEqual([6, 6, 306, 306]);
  });

  test("a job that waits because others run asks for another pilot, and the first that has room starts it", () => {
    const jobs = [
      [0, 4, 500, 500],
      [100, 4, 50, 110],
    ] as const;
    const schedule = simulatePilots(instanceWith(jobs), settingsWith({ idleS: 30 }));
    // The second ends at 156 and its pilot is idle until 186; the first ends at 506.
    expect(pilotsOf(schedule)).toEqual([
      [2, 660, 0, 3, 506],
      [2, 600, 100, 103, 186],
    ]);
    expect(startsOf(schedule)).toEqual([
      [6, 0],
      [106, 1],
    ]);
    const bound = simulatePilots(
      instanceWith(jobs),
      settingsWith({ maxNodes: 3, kinds: [kind("any", 1, 3, 600, 36_000)] }),
    );
    // Until 3 + 660 − 60 − 110 = 493 it could have begun on the first; then no pilot takes it.
    expect(pilotsOf(bound)[1].slice(2, 4)).toEqual([493, 496]);
    expect(startsOf(bound)).toEqual([
      [6, 0],
      [499, 1],
    ]);
  });

  test("a pilot that nothing uses goes back at once if a job waits for a larger one", () => {
    const jobs = [
      [0, 2, 100, 100],
      [110, 16, 10, 10],
    ] as const;
    // All 8 nodes: the first pilot must go before the second is asked for.
    const schedule = simulatePilots(instanceWith(jobs), settingsWith({ idleS: 1000 }));
    expect(pilotsOf(schedule)).toEqual([
      [1, 600, 0, 3, 110],
      [8, 600, 110, 113, 126],
    ]);
  });

  test("a job that would end after the stop gets another pilot, and the first goes back when it drains", () => {
    const jobs = [
      [0, 2, 10, 20],
      [200, 2, 400, 400],
    ] as const;
    // The first pilot stops at 3 + 600 − 60 = 543: at 200 it has 343 s left. It drains at 303.
    const asks = { kinds: [kind("any", 1, 8, 600, 36_000)], idleS: Number.POSITIVE_INFINITY };
    const schedule = simulatePilots(instanceWith(jobs), settingsWith(asks));
    expect(startsOf(schedule)[1]).toEqual([206, 1]);
    // Of no use: nothing runs there, and what waits needs another one.
    expect(pilotsOf(schedule)[0]).toEqual([1, 600, 0, 3, 200]);
  });

  test("a pilot that nobody needs ends at its stop, and if one is always held, another follows its drain", () => {
    const jobs = [
      [0, 1, 10, 20],
      [2000, 1, 10, 20],
    ] as const;
    const asks = { kinds: [kind("any", 1, 8, 600)], idleS: Number.POSITIVE_INFINITY };
    const schedule = simulatePilots(instanceWith(jobs), settingsWith(asks));
    // Asked for 300 s before the limit of the one before: 303, 606, …; that one goes when the next runs.
    expect(pilotsOf(schedule).map(([, , asked, runs, gone]) => [asked, runs, gone])).toEqual([
      [0, 3, 306],
      [303, 306, 609],
      [606, 609, 912],
      [909, 912, 1215],
      [1212, 1215, 1518],
      [1515, 1518, 1821],
      [1818, 1821, 2010],
    ]);
    expect(startsOf(schedule)[1]).toEqual([2000, 6]);
  });

  test("pilots wait until the site has nodes, and no pilot passes another", () => {
    // 500 s on one node; 4 nodes at 10 s; the site has 4.
    const jobs = [
      [0, 2, 500, 500],
      [10, 8, 50, 50],
    ] as const;
    const site = { nodes: 4 };
    const asks = { kinds: [kind("any", 1, 4, 600, 36_000)], maxNodes: 4 };
    const schedule = simulatePilots(instanceWith(jobs, site), settingsWith(asks));
    // The first pilot drains at 3 + 660 − 300 = 363: from then on its node does not count. It goes at 506.
    expect(pilotsOf(schedule)).toEqual([
      [1, 660, 0, 3, 506],
      [4, 600, 363, 506, 559],
    ]);
    expect(startsOf(schedule)[1]).toEqual([509, 1]);
  });

  test("a job that no pilot may hold is refused; with too few node-hours, jobs never start", () => {
    const jobs = [
      [0, 2, 400, 481],
      [0, 2, 480, 480],
      [700, 2, 10, 20],
    ] as const;
    const short = { kinds: [kind("any", 1, 8, 600)] };
    const schedule = simulatePilots(instanceWith(jobs), settingsWith(short));
    expect(schedule.refused).toEqual([0]);
    expect(startsOf(schedule)).toEqual([
      [Number.NaN, -1],
      [6, 0],
      [706, 1],
    ]);
    // The first pilot has used 3 to 516: 513 s. 600 s more are more than 1100.
    const poor = simulatePilots(instanceWith(jobs), settingsWith({ ...short, maxNodeS: 1100 }));
    expect(startsOf(poor).slice(1)).toEqual([
      [6, 0],
      [Number.NaN, -1],
    ]);
    const enough = simulatePilots(instanceWith(jobs), settingsWith({ ...short, maxNodeS: 1113 }));
    expect(startsOf(enough)[2]).toEqual([706, 1]);
  });

  test("one pilot of all nodes is there from the first job to the last", () => {
    const instance = instanceWith([
      [50, 16, 100, 100],
      [60, 2, 10, 10],
    ]);
    const schedule = simulatePilots(instance, { queue: queueOf(fcfs), asks: undefined });
    expect(startsOf(schedule)).toEqual([
      [50, 0],
      [150, 0],
    ]);
    // 8 nodes for 110 s, busy for 8 × 100 s + 10 s.
    expect(billOf(instance, schedule)).toEqual({ askedNodeS: 880, usedNodeS: 880, idleNodeS: 70 });
    const measures = Object.fromEntries(
      measuresOf(instance, schedule).map(({ name, value }) => [name, value]),
    );
    // Waits of 0 and 90 s; slowdowns of 1 and 100 ÷ 10.
    expect(measures).toMatchObject({ wait: 45, "p95-wait": 90, "bounded-slowdown": 5.5, pilots: 1, held: 8 });
    expect(measures.idle).toBeCloseTo(70 / 3600, 12);
    expect(measures["idle-share"]).toBeCloseTo(70 / 880, 12);
    expect(fixed.settings(makeChoice(fixed).parameters, instance).asks).toBeUndefined();
  });

  test("a job that passes another under EASY does so on its own pilot", () => {
    // One node of 2 CPUs: the second waits for both, the third ends before the first.
    const jobs = [
      [0, 1, 300, 300],
      [1, 2, 10, 10],
      [2, 1, 50, 60],
    ] as const;
    const asks = { kinds: [kind("any", 1, 1, 900)], maxNodes: 1 };
    const site = { nodes: 1 };
    const by = (definition: SpacePolicyDefinition) =>
      startsOf(simulatePilots(instanceWith(jobs, site), settingsWith(asks, queueOf(definition)))).map(
        ([at]) => at,
      );
    expect(by(easy)).toEqual([6, 306, 6]);
    expect(by(fcfs)).toEqual([6, 306, 316]);
    expect(SITE.cpusPerNode).toBe(2);
  });
});

test("the naive simulation, second by second, starts every job at the same time", () => {
  let later = 0;
  for (let seed = 1; seed <= 80; seed++) {
    const { instance, asks } = randomPilots(seed);
    const schedule = simulatePilots(instance, { queue: queueOf(fcfs), asks });
    expect(plainStarts(instance, asks, 30_000), `seed ${seed}`).toEqual([...schedule.startS]);
    if (schedule.pilots.length > 2) later++;
  }
  expect(later).toBeGreaterThan(40);
});
