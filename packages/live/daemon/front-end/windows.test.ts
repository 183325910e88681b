/** Tests windows of the whole machine: what starts before, in and after them, and what people see of them. */

import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { MAX_WINDOWS } from "@tutti/protocol/limits.ts";
import type { SubmitJob, WindowBody } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import { changeCapacity, nodesOf } from "./capacity-for-tests.ts";
import {
  ANNA,
  answerOf,
  asSent,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

const S = 1000;

const reserve = ({ clock, frontEnd }: Bench, body: WindowBody, caller = ROOT) =>
  answerOf(clock, frontEnd.reserve(caller, body));
const submit = ({ clock, frontEnd }: Bench, fields: Partial<SubmitJob>, caller = ANNA) =>
  answerOf(clock, frontEnd.submit(caller, [request(fields)]));
const states = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ job, state }) => `${job} ${state}`);
const startsS = ({ frontEnd }: Bench) =>
  frontEnd.jobs(ROOT, {}).map(({ startedAtMs }) => startedAtMs && Math.floor(startedAtMs / S));
const eventsOf = ({ store }: Bench, kinds: RegExp) =>
  store
    .eventsAfter(0, 9999)
    .map(({ event }) => event)
    .filter(({ kind }) => kinds.test(kind))
    .map(({ kind, atMs, data }) => [kind, atMs, data]);

/** 4 CPUs; jobs run for 10 s. */
const bench = (policy = "fcfs", more: Parameters<typeof makeBench>[0] = {}) =>
  makeBench({ config: { policy, slotMs: 100 }, runMs: () => 10 * S, ...more });

describe("maintenance", () => {
  test.each(POLICIES.map(({ name }) => name))(
    "%s: before it, only jobs start that end by their limit; the others start at its end",
    async (policy) => {
      const b = bench(policy);
      await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S });
      b.clock.advanceTo(60 * S);
      await submit(b, { limitMs: 40 * S });
      await submit(b, { limitMs: 40 * S - 1 });
      await submit(b, {});
      // 60 s + 40 s is the begin: a job must start before its last start.
      expect(states(b)).toEqual(["1 queued", "2 running", "3 queued"]);
      b.clock.advanceTo(100 * S);
      await submit(b, { limitMs: 1 });
      b.clock.advanceTo(200 * S - 1);
      expect(states(b)).toEqual(["1 queued", "2 done", "3 queued", "4 queued"]);
      b.clock.advanceTo(200 * S + 150);
      expect(states(b)).toEqual(["1 running", "2 done", "3 running", "4 running"]);
      runToEnd(b.clock);
    },
  );

  test("a job is passed over from its last start on, and keeps its place in the order of submission", async () => {
    const b = bench("fcfs", { runMs: (job) => (job === 1 ? 50 : 10) * S });
    await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S });
    await submit(b, { tasks: 3, limitMs: 60 * S });
    // Job 2 needs all CPUs for up to 55 s, so its last start is at 45 s; job 1 ends at 50 s.
    await submit(b, { tasks: 4, limitMs: 55 * S });
    await submit(b, { tasks: 1, limitMs: 20 * S });
    await submit(b, { tasks: 4, limitMs: 20 * S });
    await submit(b, { tasks: 4, limitMs: 20 * S });
    await submit(b, { tasks: 4, limitMs: 20 * S });
    await submit(b, { tasks: 4, limitMs: 20 * S });
    await submit(b, { tasks: 4, limitMs: 20 * S });
    runToEnd(b.clock);
    // At 45 s, job 2 leaves and job 3 starts; jobs 4, 5 and 6 at 55, 65 and 75 s. 80 s is the last start of
    // jobs 7 and 8. At 200 s: 2, 7, 8.
    expect(startsS(b)).toEqual([0, 200, 45, 55, 65, 75, 210, 220]);
  });

  test("running jobs continue; the event and the list say how many", async () => {
    const b = bench("gang", { runMs: () => 300 * S });
    await submit(b, {});
    await submit(b, {});
    await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S, reason: "new disk" });
    const announced = {
      name: "disk",
      fromMs: 100 * S,
      untilMs: 200 * S,
      reason: "new disk",
      by: "root",
      atMs: 0,
    };
    expect(b.frontEnd.windows()).toEqual([announced]);
    b.clock.advanceTo(100 * S);
    expect(b.frontEnd.windows()).toEqual([{ ...announced, running: 2, jobs: [1, 2] }]);
    expect(b.frontEnd.status(ANNA).windows).toEqual(b.frontEnd.windows());
    b.clock.advanceTo(200 * S);
    expect(states(b)).toEqual(["1 running", "2 running"]);
    expect(b.frontEnd.windows()).toEqual([]);
    expect(b.frontEnd.status(ANNA)).not.toHaveProperty("windows");
    const { atMs: _, ...said } = announced;
    expect(eventsOf(b, /reserved|window/)).toEqual([
      ["reserved", 0, said],
      ["window-began", 100 * S, { name: "disk", running: 2, jobs: [1, 2] }],
      ["window-ended", 200 * S, { name: "disk" }],
    ]);
  });

  test("of several windows, overlapping and back to back, each counts", async () => {
    const b = bench();
    await reserve(b, { name: "c", fromMs: 60 * S, untilMs: 80 * S });
    await reserve(b, { name: "a", fromMs: 20 * S, untilMs: 40 * S });
    await reserve(b, { name: "b", fromMs: 30 * S, untilMs: 50 * S });
    await reserve(b, { name: "d", fromMs: 80 * S, untilMs: 90 * S });
    await submit(b, { limitMs: 30 * S });
    await submit(b, { limitMs: 15 * S });
    b.clock.advanceTo(10 * S);
    await submit(b, { limitMs: 15 * S });
    await submit(b, { limitMs: 9 * S });
    runToEnd(b.clock);
    // From 50 s to 60 s is room for 9 s.
    expect(startsS(b)).toEqual([90, 0, 90, 10]);
  });

  test("a paused job continues in a window; a job that is queued again waits for its end", async () => {
    const b = bench("fcfs", { runMs: () => 50 * S });
    const { clock, frontEnd } = b;
    await submit(b, { limitMs: 60 * S });
    await submit(b, { limitMs: 60 * S, retries: 1 });
    await answerOf(clock, frontEnd.change(ANNA, { action: "pause" }, [1]));
    await reserve(b, { name: "disk", fromMs: 10 * S, untilMs: 200 * S });
    clock.advanceTo(20 * S);
    await answerOf(clock, frontEnd.change(ANNA, { action: "resume" }, [1]));
    await answerOf(clock, frontEnd.requeue(ANNA, 2));
    clock.advanceTo(21 * S);
    expect(states(b)).toEqual(["1 running", "2 queued"]);
    clock.advanceTo(200 * S);
    expect(states(b)).toEqual(["1 done", "2 running"]);
  });

  test("a job may start as soon as its limit is short enough", async () => {
    const b = bench();
    const { clock, frontEnd } = b;
    await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S });
    await submit(b, {});
    expect(await frontEnd.why(ANNA, 1)).toMatchObject({
      obstacles: [{ kind: "window", name: "disk", fromMs: 100 * S, untilMs: 200 * S, leftMs: 100 * S }],
    });
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ reason: "might still run when window disk begins" });
    await answerOf(clock, frontEnd.change(ANNA, { action: "update", update: { limitMs: 50 * S } }, [1]));
    expect(states(b)).toEqual(["1 running"]);
  });

  test("unreserve lets jobs start, before the window and in it", async () => {
    const b = bench();
    const { clock, frontEnd } = b;
    for (const atS of [0, 150]) {
      clock.advanceTo(atS * S);
      await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S });
      await submit(b, { limitMs: 300 * S });
      expect(states(b).at(-1)).toMatch("queued");
      expect(await answerOf(clock, frontEnd.unreserve(ANNA, "disk"))).toMatchObject({ refused: "not-yours" });
      expect(await answerOf(clock, frontEnd.unreserve(ROOT, "disc"))).toMatchObject({ refused: "not-found" });
      expect(await answerOf(clock, frontEnd.unreserve(ROOT, "disk"))).toMatchObject({
        window: { name: "disk" },
      });
      expect(states(b).at(-1)).toMatch("running");
    }
  });

  test("the begin follows the wall clock when somebody sets it", async () => {
    const b = bench();
    const { clock } = b;
    await reserve(b, { name: "disk", fromMs: 10_000 * S, untilMs: 20_000 * S });
    await submit(b, { tasks: 4, limitMs: 10 * S });
    await submit(b, { tasks: 4, limitMs: 100 * S });
    clock.unixOffsetMs = 9_950 * S;
    clock.advanceTo(60 * S);
    expect(states(b)).toEqual(["1 done", "2 queued"]);
    clock.unixOffsetMs = 0;
    // The wall clock is looked at once a minute.
    clock.advanceTo(131 * S);
    expect(states(b)).toEqual(["1 done", "2 done"]);
  });
});

describe("a reservation", () => {
  test("only jobs of its users or in its queues start in it", async () => {
    const queueClass = { processors: 4, processes: 4, threads: 4 };
    const queues = ["day", "night"].map((name) => ({ queueClass: { name, ...queueClass } }));
    const b = bench("first-fit", { config: { policy: "first-fit", queues } });
    await reserve(b, { name: "course", fromMs: 50 * S, untilMs: 100 * S, users: ["ben"], queues: ["night"] });
    b.clock.advanceTo(50 * S);
    await submit(b, { queue: "day", limitMs: S });
    await submit(b, { queue: "night", limitMs: S });
    await submit(b, { queue: "day" }, BEN);
    expect(states(b)).toEqual(["1 queued", "2 running", "3 running"]);
    expect(b.frontEnd.windows()[0]).not.toHaveProperty("running");
    expect(await b.frontEnd.why(ANNA, 1)).toMatchObject({
      obstacles: [{ kind: "window", name: "course", users: ["ben"], queues: ["night"], limitMs: S }],
    });
    b.clock.advanceTo(100 * S);
    expect(states(b)[0]).toBe("1 running");
  });
});

describe("what is refused", () => {
  const refusals: readonly (readonly [string, Partial<WindowBody>])[] = [
    ["expected an end after the begin", { fromMs: 300 * S }],
    ["expected an end in the future", { fromMs: 50 * S, untilMs: 99 * S }],
    ["a window that is not over has this name", { name: "old" }],
    ['there is no queue "nigth", expected some of default', { queues: ["nigth"] }],
    ['no user "eve" can have jobs here', { users: ["anna", "eve"] }],
    ["after the year 9999", { untilMs: 1e15 }],
  ];
  test.each(refusals)("%s", async (message, fields) => {
    const b = bench("fcfs", { isUser: (name) => name !== "eve" });
    b.clock.advanceTo(100 * S);
    await reserve(b, { name: "old", fromMs: 120 * S, untilMs: 250 * S });
    const body = { name: "disk", fromMs: 150 * S, untilMs: 200 * S, ...fields } as WindowBody;
    expect(await reserve(b, body)).toMatchObject({ message: expect.stringContaining(message) });
    expect(b.frontEnd.windows()).toHaveLength(1);
  });

  test("users who are no administrators, and more than 1,000 windows", async () => {
    const b = bench();
    const body = { name: "disk", untilMs: 100 * S };
    expect(await reserve(b, body, ANNA)).toEqual({
      refused: "not-yours",
      message: "Cannot add a window: only administrators may do that",
    });
    for (let i = 0; i < MAX_WINDOWS; i++) await reserve(b, { ...body, name: `w${i}` });
    expect(await reserve(b, body)).toMatchObject({ refused: "full" });
    expect(b.frontEnd.windows()).toHaveLength(MAX_WINDOWS);
    expect(b.frontEnd.status(ANNA).windows).toHaveLength(20);
  });

  test("a scheduler without a say in when jobs begin: Slurm has reservations", async () => {
    const capabilities = { beginsAtOnce: "use scontrol create reservation", timeSharing: false };
    const b = bench("fcfs", { capabilities });
    expect(await reserve(b, { name: "disk", untilMs: 100 * S })).toMatchObject({
      message: expect.stringContaining("scontrol create reservation"),
    });
  });

  test("nothing, if it could not be written: the window is not in force", async () => {
    const b = bench();
    const { commit } = b.store;
    b.store.commit = () => {
      throw new Error("disk full");
    };
    expect(await reserve(b, { name: "disk", untilMs: 100 * S })).toMatchObject({ refused: "unavailable" });
    b.store.commit = commit;
    await submit(b, {});
    b.clock.advanceTo(1500);
    expect(b.frontEnd.windows()).toEqual([]);
    expect(states(b)).toEqual(["1 running"]);
  });
});

describe("a front end that was away", () => {
  test.each([50, 150, 250])("until %i s: the window is in force, begins or is over", async (backS) => {
    const b = bench();
    const { clock, machine, store } = b;
    await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S });
    b.frontEnd.stop();
    machine.forgetListeners();
    clock.advanceTo(backS * S);
    const again = bench("fcfs", { clock, machine, store });
    clock.settle();
    await submit(again, { limitMs: 60 * S });
    expect(states(again)).toEqual([backS < 200 ? "1 queued" : "1 running"]);
    runToEnd(clock, 400 * S);
    expect(eventsOf(again, /window/)).toEqual([
      ["window-began", Math.max(100, backS) * S, { name: "disk", running: 0 }],
      ["window-ended", Math.max(200, backS) * S, { name: "disk" }],
    ]);
    expect(states(again)).toEqual(["1 done"]);
  });
});

test("before the end of an allocation, the earlier last start counts", async () => {
  const b = makeBench({ nodes: [], config: { policy: "easy" }, runMs: () => S });
  const nodes = nodesOf(4, 4);
  changeCapacity(b.machine, nodes, { end: { drainAtMs: 50 * S, stopAtMs: 100 * S } });
  await reserve(b, { name: "disk", fromMs: 60 * S, untilMs: 80 * S });
  await submit(b, { limitMs: 65 * S });
  expect(await b.frontEnd.why(ANNA, 1)).toMatchObject({ obstacles: [{ kind: "window" }] });
  b.clock.advanceTo(80 * S);
  // At its end, the window is no longer in the way, but the end of the allocation is.
  expect(await b.frontEnd.why(ANNA, 1)).toMatchObject({ obstacles: [{ kind: "drain" }] });
  await submit(b, { limitMs: 19 * S });
  expect(states(b)).toEqual(["1 queued", "2 running"]);
  changeCapacity(b.machine, nodes, {}, "the next allocation");
  b.clock.settle();
  expect(states(b)[0]).toBe("1 running");
});

describe("forecasts", () => {
  test("know windows: of waiting jobs, of a dry run and of what-if", async () => {
    const b = bench("fcfs");
    const { clock, frontEnd } = b;
    await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S });
    await submit(b, { tasks: 4, limitMs: 90 * S });
    await submit(b, { tasks: 4, limitMs: 90 * S });
    await submit(b, { tasks: 4 });
    // Without earlier jobs, the estimate is the limit: job 1 ends at 90 s; jobs 2 and 3 wait.
    const startOf = async (job: number) =>
      ((await frontEnd.why(ANNA, job)) as { forecast: { p50Ms: number } }).forecast.p50Ms;
    expect(await startOf(2)).toBe(200 * S);
    expect(await startOf(3)).toBe(290 * S);
    const dry = (fields: Partial<SubmitJob>, caller = ANNA) =>
      answerOf(clock, frontEnd.dryRun(caller, [request({ tasks: 4, ...fields })]));
    expect(await dry({ limitMs: 9 * S })).toMatchObject({ forecast: { p50Ms: 90 * S } });
    expect(await dry({ limitMs: 9 * S })).not.toHaveProperty("window");
    expect(await dry({ limitMs: 101 * S })).toMatchObject({
      window: { name: "disk", fromMs: 100 * S, untilMs: 200 * S },
      // Behind job 3, which is expected to run for an hour.
      forecast: { p50Ms: (290 + 3600) * S },
    });
    const asked = { jobs: [{ tasks: 4, limitMs: 9 * S }] };
    expect(await frontEnd.whatIf(ANNA, asked)).toMatchObject({ hypothetical: [{ p50Ms: 90 * S }] });
    await reserve(b, { name: "course", fromMs: 95 * S, untilMs: 300 * S, users: ["ben"] });
    expect(await startOf(2)).toBe(300 * S);
  });

  test("are left out under a policy that the simulator cannot run with windows", async () => {
    const name = POLICIES.find(({ capabilities }) => !capabilities?.withdraw)!.name;
    const b = bench(name);
    await reserve(b, { name: "disk", fromMs: 100 * S, untilMs: 200 * S });
    await submit(b, { beginAtMs: 20 * S });
    expect(asSent(await b.frontEnd.why(ANNA, 1))).not.toHaveProperty("forecast");
    await submit(b, {});
    expect(asSent(await b.frontEnd.why(ANNA, 2))).not.toHaveProperty("forecast");
    expect(await b.frontEnd.whatIf(ANNA, { jobs: [{ tasks: 1 }] })).toMatchObject({
      hypothetical: [{ noForecast: "window" }],
    });
  });
});

test("an export has the windows, also those that were announced before the first submit", async () => {
  const b = bench();
  const { clock, frontEnd } = b;
  const windows = [
    { name: "over", untilMs: 5 * S },
    { name: "removed", untilMs: 500 * S },
    { name: "disk", fromMs: 100 * S, untilMs: 200 * S },
  ];
  for (const window of windows) await reserve(b, window);
  clock.advanceTo(5 * S);
  await answerOf(clock, frontEnd.unreserve(ROOT, "removed"));
  clock.advanceTo(10 * S);
  await submit(b, { limitMs: S });
  clock.advanceTo(20 * S);
  await reserve(b, { name: "course", untilMs: 30 * S, users: ["ben", "eva"], queues: ["default"] });
  clock.advanceTo(25 * S);
  await answerOf(clock, frontEnd.unreserve(ROOT, "course"));
  const lines = [...frontEnd.exportJsonl(ROOT)].join("").trim().split("\n");
  expect(lines.slice(2).map((line) => JSON.parse(line))).toEqual([
    {
      ...{ event: "window", atS: 10, fromS: 10, untilS: 20, name: "course" },
      ...{ users: ["ben", "eva"], queues: ["default"] },
    },
    { event: "unreserve", atS: 15, name: "course" },
    { event: "window", atS: 0, fromS: 90, untilS: 190, name: "disk" },
  ]);
});
