/** What jobs want of the processors, as the front end tells an executor that obtains them. */

import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import { expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import type { Capacity, Demand } from "../executor/executor.ts";
import { changeCapacity, cluster, FOUR, submit } from "./capacity-for-tests.ts";
import { ANNA, answerOf, type Bench, ROOT } from "./front-end-for-tests.ts";

const [N1, N2, N3, N4] = FOUR;
const whole = { nodes: new NodeTable(FOUR), memoryBytes: 2 ** 40 };
/** Nothing; only these processors; only others; others because nodes were lost. */
const NONE = { present: false, others: false, lost: false };
const PRESENT = { ...NONE, present: true };
const OTHERS = { ...NONE, others: true };
const LOST = { ...OTHERS, lost: true };

/** A front end without processors, and what its executor knows: whether jobs run or can, or want others. */
function bare(config: Partial<Config> = {}): {
  readonly bench: Bench;
  readonly wish: () => typeof NONE | undefined;
  readonly wishes: () => Demand["wishes"] | undefined;
} {
  const bench = cluster("gang", [], { config: { policy: "gang", slotMs: 100, ...config } });
  let demand: Demand | undefined;
  Object.assign(bench.machine, {
    setDemand: (told: Demand) => {
      demand = told;
    },
  });
  return {
    bench,
    wishes: () => demand?.wishes,
    wish: () => {
      if (demand === undefined) return undefined;
      const { of, wishes } = demand;
      expect(of).toBe(bench.machine.capacity);
      const hasProcess = bench.frontEnd.jobs(ROOT, {}).some(({ state }) => state === "running");
      return {
        present: hasProcess || wishes.some(({ takenBy }) => takenBy.length > 0),
        others: wishes.some(({ takenBy }) => takenBy.length === 0),
        lost: wishes.some(({ isForLost }) => isForLost),
      };
    },
  };
}

function have(bench: Bench, nodes: typeof FOUR, more: Partial<Capacity> = {}): void {
  changeCapacity(bench.machine, nodes, { whole, mostLimitMs: 100_000, ...more });
  bench.clock.settle();
}

test("a waiting job wants processors, unless it is held, too late for all of them, or kept by a drain", async () => {
  const { bench, wish } = bare();
  const { clock, frontEnd } = bench;
  have(bench, [], { mostLimitMs: 100_000 });
  expect(wish()).toEqual(NONE);
  await submit(bench, 2, { held: true });
  expect(wish()).toEqual(NONE);
  await answerOf(clock, frontEnd.release(ANNA, 1));
  expect(wish()).toEqual(OTHERS);
  await answerOf(clock, frontEnd.setDrain(ROOT, {}));
  expect(wish()).toEqual(NONE);
  await answerOf(clock, frontEnd.setDrain(ROOT, undefined));
  expect(wish()).toEqual(OTHERS);
  await answerOf(clock, frontEnd.cancel(ANNA, 1));
  expect(wish()).toEqual(NONE);
  // It waits for its begin, and wants processors from then on.
  await submit(bench, 2, { beginAtMs: clock.unixMs() + 5000, limitMs: 100_000 });
  expect(wish()).toEqual(NONE);
  clock.advanceTo(clock.nowMs() + 5001);
  expect(wish()).toEqual(OTHERS);
  // The scheduler was started again with shorter pilots: nothing that it could get would help.
  have(bench, [], { mostLimitMs: 99_999 });
  expect(wish()).toEqual(NONE);
});

test("a running job wants what it has; one that needs lost nodes wants others, one that never fitted does not", async () => {
  const { bench, wish } = bare();
  have(bench, FOUR);
  await submit(bench, 4);
  expect(wish()).toEqual(PRESENT);
  await submit(bench, 16);
  expect(wish()).toEqual(PRESENT);
  await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
  await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 2));
  bench.clock.advanceTo(bench.clock.nowMs() + 1000);
  have(bench, [N1, N2, N3]);
  expect(wish()).toEqual(NONE);
  await submit(bench, 13);
  expect(wish()).toEqual(LOST);
  await submit(bench, 12);
  expect(wish()).toEqual({ ...LOST, present: true });
  await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 4));
  bench.clock.advanceTo(bench.clock.nowMs() + 1000);
  expect(wish()).toEqual(LOST);
  // Another pilot is smaller from the beginning: a third one may be larger, up to 16 processors.
  const small = { ...whole, nodes: new NodeTable([N1, N2]) };
  have(bench, [N1, N2], { whole: small });
  expect(wish()).toEqual(OTHERS);
  have(bench, [N1, N2], { whole: small, mostProcessors: 8 });
  expect(wish()).toEqual(NONE);
  have(bench, []);
  changeCapacity(bench.machine, [], {});
  bench.clock.settle();
  // Found with a lost node by a front end that has started since: it may have been larger.
  changeCapacity(bench.machine, [N1, N2, N4], {});
  bench.clock.settle();
  expect(wish()).toEqual(LOST);
});

test("before the end of the processors, jobs that might be stopped there want others", async () => {
  const { bench, wish } = bare();
  const { clock } = bench;
  have(bench, FOUR, { end: { drainAtMs: 20_000, stopAtMs: 40_000 } });
  await submit(bench, 2, { limitMs: 30_000 });
  clock.advanceTo(19_000);
  expect(wish()).toEqual(PRESENT);
  // It has run for 19 s of its 30 s, and 19 s are left at 21 s.
  clock.advanceTo(21_000);
  await submit(bench, 2, { limitMs: 18_000 });
  expect(wish()).toEqual(PRESENT);
  await submit(bench, 2);
  expect(wish()).toEqual({ ...PRESENT, others: true });
});

test("a job that would not start again after the end of these processors wants no others", async () => {
  const { bench, wish } = bare();
  const { clock, machine } = bench;
  have(bench, FOUR, { end: { drainAtMs: 10_000, stopAtMs: 20_000 } });
  await submit(bench, 2);
  clock.advanceTo(11_000);
  expect(wish()).toEqual({ ...PRESENT, others: true });
  // Without retries, it starts once more.
  machine.end([...machine.attempts.values()][0], "requeued", {});
  have(bench, FOUR, { end: { drainAtMs: 30_000, stopAtMs: 40_000 } });
  expect([...machine.attempts.values()]).toMatchObject([{ spec: { job: 1, attempt: 2 } }]);
  clock.advanceTo(31_000);
  expect(wish()).toEqual(PRESENT);
});

test("a job that may outlive its part wants the other part, which is not of no use, or else another one", async () => {
  const { bench, wishes } = bare();
  const { clock } = bench;
  const part = (name: string, nodes: typeof FOUR, more = {}) => ({
    ...{ name, nodes: new NodeTable(nodes), memoryBytes: 2 ** 40 },
    ...more,
  });
  const end = { drainAtMs: 10_000, stopAtMs: 20_000 };
  const old = part("old", [N1, N2], { end });
  have(bench, [N1, N2], { whole: undefined, end, name: "old" });
  await submit(bench, 2);
  clock.advanceTo(11_000);
  expect(wishes()?.map(({ takenBy }) => takenBy)).toEqual([[]]);
  have(bench, [N1, N2, N3], { whole: undefined, parts: [old, part("new", [N3])] });
  expect(wishes()?.map(({ takenBy }) => takenBy)).toEqual([["new"]]);
});

test("the end of a part that jobs never had stops nothing elsewhere", async () => {
  const { bench } = bare();
  have(bench, [N1, N2], { whole: undefined, name: "a" });
  await submit(bench, 2);
  bench.machine.report({ type: "make-room", reason: "allocation b ends", part: "b" });
  bench.clock.settle();
  expect(bench.frontEnd.jobs(ROOT, {})).toMatchObject([{ state: "running" }]);
  bench.machine.report({ type: "make-room", reason: "allocation a ends", part: "a" });
  bench.clock.settle();
  expect(bench.frontEnd.jobs(ROOT, {})).toMatchObject([{ state: "queued" }]);
});

const LICENCES = { name: "licence", units: ["a", "b"], isShared: false, variables: [] };
const tasksOf = (wishes: Demand["wishes"] | undefined) => wishes?.map(({ tasks, jobs = 1 }) => [tasks, jobs]);

test("jobs of the same shape are one wish, in the order in which they are served, however many there are", async () => {
  const { bench, wishes } = bare();
  have(bench, []);
  for (let i = 0; i < 300; i++) await submit(bench, 1, { limitMs: 1000 });
  await submit(bench, 7);
  for (let i = 0; i < 300; i++) await submit(bench, 1, { limitMs: 1000 });
  await submit(bench, 5);
  expect(tasksOf(wishes())).toEqual([
    [1, 600],
    [7, 1],
    [5, 1],
  ]);
  await answerOf(bench.clock, bench.frontEnd.setPriority(ROOT, 602, 100));
  expect(tasksOf(wishes())).toEqual([
    [5, 1],
    [1, 600],
    [7, 1],
  ]);
});

test("a job wants no processors while it waits for licences, but as many jobs as have them do", async () => {
  const { bench, wishes } = bare({ resources: [LICENCES] });
  have(bench, []);
  await submit(bench, 1, { use: { licence: 1 } });
  await submit(bench, 2, { use: { licence: 2 } });
  await submit(bench, 3, { use: { licence: 1 } });
  await submit(bench, 4, { use: { licence: 1 } });
  // By hand: two licences are for the first and the third.
  expect(tasksOf(wishes())).toEqual([
    [1, 1],
    [3, 1],
  ]);
  await answerOf(bench.clock, bench.frontEnd.setPriority(ROOT, 2, 100));
  expect(tasksOf(wishes())).toEqual([[2, 1]]);
  have(bench, FOUR);
  bench.clock.advanceTo(bench.clock.nowMs() + 1000);
  expect(bench.frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toContain("running");
  expect(tasksOf(wishes())).toEqual([]);
});

test("a job wants no processors while a limit has no room for it", async () => {
  const { bench, wishes } = bare({ limits: { runningJobs: 2 } });
  have(bench, []);
  for (let tasks = 1; tasks <= 4; tasks++) await submit(bench, tasks);
  expect(tasksOf(wishes())).toEqual([
    [1, 1],
    [2, 1],
  ]);
  have(bench, FOUR);
  bench.clock.advanceTo(bench.clock.nowMs() + 1000);
  expect(bench.frontEnd.jobs(ROOT, {}).filter(({ state }) => state === "running")).toHaveLength(2);
  expect(tasksOf(wishes())).toEqual([]);
});

test("nothing that waits wants processors while gangs are in the way of another policy", async () => {
  const { bench, wishes } = bare();
  have(bench, FOUR);
  await submit(bench, 16);
  await submit(bench, 16);
  bench.clock.advanceTo(bench.clock.nowMs() + 1000);
  await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, "easy"));
  await submit(bench, 1);
  bench.clock.advanceTo(bench.clock.nowMs() + 1000);
  expect(await bench.frontEnd.why(ANNA, 3)).toMatchObject({ obstacles: [{ kind: "handover" }] });
  expect(tasksOf(wishes())).toEqual([]);
});

test("what jobs want is found out again only after a rest, if that takes long, and then in any case", async () => {
  /** Time passes within a cycle, too. */
  class LateClock extends FakeClock {
    lateMs = 0;
    override nowMs = () => super.nowMs() + this.lateMs;
  }
  const clock = new LateClock();
  const bench = cluster("gang", [], { clock });
  have(bench, []);
  const found: (readonly [atMs: number, jobs: number])[] = [];
  Object.assign(bench.machine, {
    setDemand: ({ wishes }: Demand) => {
      clock.lateMs += 100;
      found.push([clock.nowMs(), wishes.reduce((sum, { jobs = 1 }) => sum + jobs, 0)]);
    },
  });
  for (let i = 0; i < 5; i++) {
    await submit(bench, 1);
    clock.advanceTo(FakeClock.prototype.nowMs.call(clock) + 100);
  }
  expect(found).toEqual([[100, 1]]);
  clock.advanceTo(10_000);
  // By hand: at 100 + 19 × 100 ms; timers are late by what had passed before, and it takes 100 ms again.
  expect(found).toEqual([
    [100, 1],
    [2200, 5],
  ]);
});
