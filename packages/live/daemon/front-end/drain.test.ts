/** Tests the end of an allocation and the drain by an administrator: what starts, waits or stops. */

import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { describe, expect, test } from "vitest";
import type { JobShape } from "../executor/executor.ts";
import { changeCapacity, nodesOf } from "./capacity-for-tests.ts";
import { ANNA, answerOf, asSent, type Bench, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const NODES = nodesOf(4, 4);
const END = { drainAtMs: 10_000, stopAtMs: 20_000 };

function draining(policy: string, more: Parameters<typeof makeBench>[0] = {}): Bench {
  const bench = makeBench({ nodes: [], config: { policy, slotMs: 100 }, runMs: () => 1000, ...more });
  changeCapacity(bench.machine, NODES, { end: END });
  bench.clock.settle();
  return bench;
}

const submit = ({ clock, frontEnd }: Bench, tasks: number, more = {}) =>
  answerOf(clock, frontEnd.submit(ANNA, [request({ tasks, ...more })]));

const states = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ job, state }) => `${job} ${state}`);

function makeRoom({ machine, clock }: Bench): void {
  machine.report({ type: "make-room", reason: "the pilot 7 ends" });
  clock.settle();
}

test.each(POLICIES.map(({ name }) => name))(
  "%s: while the CPUs drain, only jobs start that end by their limit",
  async (policy) => {
    const bench = draining(policy);
    const { clock, machine } = bench;
    clock.advanceTo(12_000);
    await submit(bench, 2);
    await submit(bench, 2, { limitMs: 8001 });
    await submit(bench, 2, { limitMs: 8000 });
    await submit(bench, 2, { limitMs: 7999 });
    // 12 s + 8 s is the instant at which the CPUs are taken away.
    expect(states(bench)).toEqual(["1 queued", "2 queued", "3 queued", "4 running"]);
    changeCapacity(machine, NODES, {}, "the next allocation");
    clock.advanceTo(12_200);
    expect(states(bench).slice(0, 3)).toEqual(["1 running", "2 running", "3 running"]);
  },
);

test("a job that waits for CPUs is passed over from the instant at which it could not end in time", async () => {
  const bench = draining("fcfs", { runMs: (job) => (job === 1 ? 18_000 : 1000) });
  const { clock, frontEnd } = bench;
  await submit(bench, 6, { limitMs: 19_000 });
  await submit(bench, 8, { limitMs: 5000 });
  await submit(bench, 2, { limitMs: 3000 });
  await submit(bench, 2);
  clock.advanceTo(14_999);
  expect(states(bench)).toEqual(["1 running", "2 queued", "3 queued", "4 queued"]);
  // Job 2 needs 5 s of the 5 s that are left.
  clock.advanceTo(15_001);
  expect(states(bench)).toEqual(["1 running", "2 queued", "3 running", "4 queued"]);
  const stopAtMs = clock.unixMs() + 4999;
  expect(await frontEnd.why(ANNA, 2)).toMatchObject({
    obstacles: [{ kind: "drain", stopAtMs, limitMs: 5000 }],
  });
  expect(await frontEnd.why(ANNA, 4)).toMatchObject({ obstacles: [{ kind: "drain", stopAtMs }] });
  // A forecast knows only these processors.
  for (const job of [2, 4]) expect(asSent(await frontEnd.why(ANNA, job))).not.toHaveProperty("forecast");
  expect(frontEnd.job(ANNA, 4)).toMatchObject({
    reason: "waits for the next CPUs, because it might not end before these are taken away",
  });
});

test("at the end of an allocation, jobs are queued again, and the next one takes them: once, or as their retries allow", async () => {
  const bench = draining("gang", { runMs: () => 60_000 });
  const { clock, frontEnd, machine } = bench;
  await submit(bench, 4);
  await submit(bench, 2, { retries: 1 });
  await submit(bench, 2, { retries: 2 });
  await submit(bench, 2);
  await answerOf(clock, frontEnd.cancel(ANNA, 4));
  const [stopped, after] = [
    ["1 queued", "2 queued", "3 queued", "4 cancelled"],
    ["1 failed", "2 failed", "3 queued", "4 cancelled"],
  ];
  for (const [allocation, expected] of [
    [1, stopped],
    [2, after],
    [3, ["1 failed", "2 failed", "3 failed", "4 cancelled"]],
  ] as const) {
    expect(frontEnd.job(ANNA, 3)).toMatchObject({ state: "running", attempt: allocation });
    clock.advanceTo(clock.nowMs() + 20_000);
    makeRoom(bench);
    expect(states(bench)).toEqual(expected);
    expect(machine.sent).toContainEqual(
      expect.objectContaining({
        type: "stop",
        attempt: { job: 3, attempt: allocation },
        kill: false,
        reason: "requeued",
      }),
    );
    changeCapacity(machine, [], {}, "the pilot 7 has ended");
    clock.settle();
    expect(machine.matrix?.rows).toEqual([]);
    expect(states(bench)).toEqual(expected);
    changeCapacity(machine, NODES, {}, "the next allocation");
    clock.settle();
  }
  const reasons = bench.store
    .eventsAfter(0, 999)
    .map(({ event }) => event)
    .filter(({ kind, job }) => (kind === "requeued" || kind === "ended") && job === 3)
    .map(({ data }) => [data?.attempt, data?.reason]);
  expect(reasons).toEqual([
    [1, "the allocation ended (1 of at most 2 restarts)"],
    [2, "the allocation ended (2 of at most 2 restarts)"],
    [
      3,
      "the allocation ended again, after at most 2 restarts: ask for more with --retries, or for longer pilots (tutti serve --time)",
    ],
  ]);
});

test("a running job says that it may be stopped at the end, and whether it starts again then", async () => {
  const bench = draining("gang", { runMs: () => 60_000 });
  const { clock, frontEnd, machine } = bench;
  await submit(bench, 2);
  await submit(bench, 2, { limitMs: 25_000 });
  await submit(bench, 2, { limitMs: 10_000 });
  clock.advanceTo(1000);
  const stopAtMs = clock.unixMs() + 19_000;
  const why = async (job: number) => {
    const answer = await frontEnd.why(ANNA, job);
    return "obstacles" in answer ? answer.obstacles : answer;
  };
  expect(await why(1)).toEqual([{ kind: "drain", stopAtMs, restarts: 1 }]);
  // It has run for at most a second of its 25 s, and 19 s are left.
  expect(await why(2)).toEqual([{ kind: "drain", stopAtMs, limitMs: 25_000, restarts: 1 }]);
  expect(await why(3)).toEqual([]);
  makeRoom(bench);
  changeCapacity(machine, NODES, { end: { drainAtMs: 40_000, stopAtMs: 50_000 } }, "the next allocation");
  clock.settle();
  expect(await why(1)).toMatchObject([{ kind: "drain", restarts: 0 }]);
});

test("a job whose limit is longer than CPUs are there is refused; one that waits already says so", async () => {
  const bench = draining("gang");
  const { clock, frontEnd, machine } = bench;
  changeCapacity(machine, [], { mostLimitMs: 600_000 });
  clock.settle();
  expect(await submit(bench, 2, { limitMs: 600_001 })).toEqual({
    refused: "too-large",
    message:
      "Cannot run for 10 min 0.001 s: CPUs are there for at most 10 min, so each attempt could be stopped before its limit; ask for a shorter limit (--time), or start the scheduler with longer pilots (tutti serve --time)",
  });
  expect(await submit(bench, 2, { limitMs: 600_000 })).toMatchObject({ jobs: [{ job: 1 }] });
  expect(
    await answerOf(clock, frontEnd.change(ANNA, { action: "update", update: { limitMs: 600_001 } }, [1])),
  ).toEqual([expect.objectContaining({ refused: "too-large" })]);
  // The scheduler was started again with shorter pilots.
  changeCapacity(machine, NODES, { mostLimitMs: 599_999 });
  clock.advanceTo(1000);
  expect(states(bench)).toEqual(["1 queued"]);
  expect(await frontEnd.why(ANNA, 1)).toMatchObject({
    obstacles: [{ kind: "capacity-time", limitMs: 600_000, mostMs: 599_999 }],
  });
  expect(frontEnd.job(ANNA, 1)).toMatchObject({
    reason: "cannot start: its time limit is longer than any CPUs are there",
  });
});

test("a job that nothing which may come can hold is refused; one that waits already says why", async () => {
  const bench = draining("gang");
  const { clock, frontEnd, machine } = bench;
  const whyNever = ({ tasks, threads = 1, limitMs = 0, memoryBytes = 0 }: JobShape) =>
    tasks * threads > 5 && limitMs > 60_000
      ? `no kind holds ${tasks} x ${threads}, ${memoryBytes}`
      : undefined;
  changeCapacity(machine, [], { whyNever });
  clock.settle();
  expect(await submit(bench, 2, { limitMs: 60_001, threads: 3, memoryBytes: 7 })).toEqual({
    refused: "too-large",
    message:
      "Cannot run the job: no kind holds 2 x 3, 7; ask for less, or start the scheduler with larger or longer pilots, or with other hosts (tutti serve)",
  });
  expect(await submit(bench, 2, { limitMs: 60_000, threads: 3 })).toMatchObject({ jobs: [{ job: 1 }] });
  const update = { action: "update", update: { limitMs: 60_001 } } as const;
  expect(await answerOf(clock, frontEnd.change(ANNA, update, [1]))).toEqual([
    expect.objectContaining({ refused: "too-large" }),
  ]);
  // The scheduler was started again with other kinds.
  changeCapacity(machine, [], { whyNever: ({ tasks }) => `no kind holds ${tasks} tasks` });
  clock.advanceTo(1000);
  expect(await frontEnd.why(ANNA, 1)).toMatchObject({
    obstacles: [{ kind: "conductor" }, { kind: "never", message: "no kind holds 2 tasks" }],
  });
  expect(frontEnd.job(ANNA, 1)).toMatchObject({ reason: "cannot start: no kind holds 2 tasks" });
  // What is there counts, too.
  changeCapacity(machine, NODES, { whyNever: ({ tasks }) => `no kind holds ${tasks} tasks` });
  clock.advanceTo(3000);
  expect(states(bench)).toEqual(["1 done"]);
});

test("a job that ends while room is made keeps its own end; one that is lost with the nodes is queued again", async () => {
  const bench = draining("gang", { runMs: () => 60_000 });
  const { clock, machine } = bench;
  for (let job = 1; job <= 3; job++) await submit(bench, 2);
  machine.isDeaf = true;
  makeRoom(bench);
  expect(states(bench)).toEqual(["1 ending", "2 ending", "3 ending"]);
  await answerOf(clock, bench.frontEnd.cancel(ANNA, 3));
  machine.isDeaf = false;
  machine.end({ job: 1, attempt: 1 }, "none", { code: 0 });
  machine.end({ job: 2, attempt: 1 }, "none", { lost: "the allocation was released" });
  machine.end({ job: 3, attempt: 1 }, "none", { lost: "the allocation was released" });
  clock.settle();
  expect(states(bench)).toEqual(["1 done", "2 queued", "3 cancelled"]);
});

test("a job that is cancelled while it makes room is cancelled", async () => {
  const bench = draining("gang", { runMs: () => 60_000 });
  const { clock, machine, frontEnd } = bench;
  await submit(bench, 2);
  machine.isDeaf = true;
  makeRoom(bench);
  await answerOf(clock, frontEnd.cancel(ANNA, 1));
  // The conductor was asked to requeue it first.
  machine.end({ job: 1, attempt: 1 }, "requeued", { signal: "SIGTERM" });
  clock.settle();
  expect(frontEnd.job(ANNA, 1)).toMatchObject({ state: "cancelled", reason: "cancelled" });
});

test("after a restart, jobs that make room are asked again", async () => {
  const bench = draining("gang", { runMs: () => 60_000 });
  const { clock, machine, store } = bench;
  await submit(bench, 2);
  machine.isDeaf = true;
  makeRoom(bench);
  machine.isDeaf = false;
  machine.forgetListeners();
  const again = makeBench({ clock, machine, store, nodes: [], config: { policy: "gang" } });
  expect(machine.sent.filter(({ type }) => type === "stop")).toHaveLength(2);
  expect(states(again)).toEqual(["1 queued"]);
});

describe("a drain by an administrator", () => {
  const running = { policy: "gang", slotMs: 100 };

  test.each(POLICIES.map(({ name }) => name))(
    "%s: nothing starts, running jobs end, and afterwards all start",
    async (policy) => {
      const bench = makeBench({ cpus: 8, config: { ...running, policy } });
      const { clock, frontEnd } = bench;
      await submit(bench, 2, { limitMs: 2000 });
      expect(await answerOf(clock, frontEnd.setDrain(ROOT, { reason: "new disk" }))).toEqual({
        drain: { sinceMs: clock.unixMs(), by: "root", reason: "new disk" },
      });
      await submit(bench, 2, { limitMs: 2000 });
      await submit(bench, 2);
      clock.advanceTo(60_000);
      expect(states(bench)).toEqual(["1 done", "2 queued", "3 queued"]);
      await answerOf(clock, frontEnd.setDrain(ROOT, undefined));
      clock.advanceTo(120_000);
      expect(states(bench)).toEqual(["1 done", "2 done", "3 done"]);
    },
  );

  test("stays in force over a restart and a change of the policy, until it is undone", async () => {
    const bench = makeBench({ config: running, runMs: () => 10_000 });
    const { clock, machine, store } = bench;
    await submit(bench, 2);
    await answerOf(clock, bench.frontEnd.setDrain(ROOT, {}));
    const drain = { sinceMs: clock.unixMs(), by: "root" };
    await submit(bench, 2);
    machine.forgetListeners();
    const again = makeBench({ clock, machine, store, config: running });
    const { frontEnd } = again;
    expect(frontEnd.status(ANNA)).toMatchObject({ drain });
    await answerOf(clock, frontEnd.setPolicy(ROOT, "easy"));
    clock.advanceTo(5000);
    expect(states(again)).toEqual(["1 running", "2 queued"]);
    // Another reason changes neither when it began nor who began it.
    await answerOf(clock, frontEnd.setDrain({ ...ROOT, user: "eve" }, { reason: "still" }));
    expect(frontEnd.status(ANNA)).toMatchObject({ drain: { ...drain, reason: "still" } });
    // Without a reason, nothing changes.
    await answerOf(clock, frontEnd.setDrain(ROOT, {}));
    expect(frontEnd.status(ANNA)).toMatchObject({ drain: { ...drain, reason: "still" } });
    await answerOf(clock, frontEnd.setDrain(ROOT, undefined));
    expect(states(again)).toEqual(["1 running", "2 running"]);
    expect(asSent(frontEnd.status(ANNA))).not.toHaveProperty("drain");
    // A request that changes nothing is no event.
    await answerOf(clock, frontEnd.setDrain(ROOT, undefined));
    const events = store.eventsAfter(0, 999).map(({ event }) => event);
    expect(
      events.filter(({ kind }) => kind.endsWith("drained")).map(({ kind, data }) => [kind, data]),
    ).toEqual([
      ["drained", { by: "root" }],
      ["drained", { by: "eve", reason: "still" }],
      ["undrained", { by: "root" }],
    ]);
  });

  test("a job that is queued again waits; a waiting job can still be cancelled, held and released", async () => {
    const bench = makeBench({ config: running, runMs: () => 10_000 });
    const { clock, frontEnd } = bench;
    await submit(bench, 2, { retries: 1 });
    await answerOf(clock, frontEnd.setDrain(ROOT, {}));
    for (let i = 0; i < 3; i++) await submit(bench, 1);
    await answerOf(clock, frontEnd.requeue(ANNA, 1));
    await answerOf(clock, frontEnd.cancel(ANNA, 2));
    await answerOf(clock, frontEnd.hold(ANNA, 3));
    expect(states(bench)).toEqual(["1 queued", "2 cancelled", "3 held", "4 queued"]);
    await answerOf(clock, frontEnd.release(ANNA, 3));
    await answerOf(clock, frontEnd.setDrain(ROOT, undefined));
    expect(states(bench)).toEqual(["1 running", "2 cancelled", "3 running", "4 running"]);
  });

  test("users learn who drained it and why, get no forecast, and cannot drain", async () => {
    const bench = makeBench({ config: running });
    const { clock, frontEnd } = bench;
    await answerOf(clock, frontEnd.setDrain(ROOT, { reason: "new disk" }));
    const drain = { sinceMs: clock.unixMs(), by: "root", reason: "new disk" };
    await submit(bench, 2);
    const why = await frontEnd.why(ANNA, 1);
    expect(why).toMatchObject({ obstacles: [{ kind: "drained", ...drain }] });
    expect(asSent(why)).not.toHaveProperty("forecast");
    expect(frontEnd.job(ANNA, 1)).toMatchObject({
      reason: "nothing starts: the scheduler is drained (new disk)",
    });
    expect(await frontEnd.whatIf(ANNA, { jobs: [{ tasks: 1 }] })).toMatchObject({
      jobs: [],
      hypothetical: [{ noForecast: "drained" }],
    });
    const refused = {
      refused: "not-yours",
      message: "Cannot drain the scheduler: only administrators may do that",
    };
    expect(await answerOf(clock, frontEnd.setDrain(ANNA, {}))).toMatchObject(refused);
    expect(await answerOf(clock, frontEnd.setDrain(ANNA, undefined))).toMatchObject({ refused: "not-yours" });
    await answerOf(clock, frontEnd.setDrain(ROOT, undefined));
    expect(states(bench)).toEqual(["1 running"]);
  });

  test("a drain that could not be written is not in force", async () => {
    const bench = makeBench({ config: running });
    const { clock, frontEnd, store } = bench;
    const { commit } = store;
    store.commit = () => {
      throw new Error("disk full");
    };
    expect(await answerOf(clock, frontEnd.setDrain(ROOT, {}))).toMatchObject({ refused: "unavailable" });
    store.commit = commit;
    await submit(bench, 2);
    clock.advanceTo(clock.nowMs() + 1500);
    expect(states(bench)).toEqual(["1 done"]);
    expect(asSent(frontEnd.status(ANNA))).not.toHaveProperty("drain");
  });
});
