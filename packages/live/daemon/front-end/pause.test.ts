/** Tests paused jobs: they stand still in no row, keep what they hold, and continue where they were. */

import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { describe, expect, test } from "vitest";
import { nodesOf } from "./capacity-for-tests.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

const SPACE = POLICIES.filter(({ sharing }) => sharing === "space").map(({ name }) => name);
const TIME = POLICIES.filter(({ sharing }) => sharing === "time").map(({ name }) => name);

/** Rows get slots of 100 ms; a job of 10 slots runs for 1 s. */
const bench = (policy: string, options: BenchOptions = {}): Bench =>
  makeBench({ slotted: true, ...options, config: { policy, slotMs: 100, ...options.config } });

const submit = ({ clock, frontEnd }: Bench, tasks: number, more = {}) =>
  answerOf(clock, frontEnd.submit(ANNA, [request({ tasks, limitMs: 20_000, ...more })]));
const pause = ({ clock, frontEnd }: Bench, job: number, release = false) =>
  answerOf(clock, frontEnd.change(ANNA, { action: "pause", release }, [job]));
const resume = ({ clock, frontEnd }: Bench, job: number) =>
  answerOf(clock, frontEnd.change(ANNA, { action: "resume" }, [job]));
const states = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ job, state }) => `${job} ${state}`);
const placed = ({ machine }: Bench) => machine.matrix?.rows.flat().map(({ job }) => job) ?? [];
const ran = ({ machine }: Bench, job: number) => machine.attempts.get(`${job}/1`)?.ran;

test.each([...SPACE, ...TIME])(
  "%s: a paused job stands still, and runs for its time in all",
  async (policy) => {
    const one = bench(policy, { runMs: () => 1000 });
    const { clock, frontEnd, machine } = one;
    await submit(one, 2);
    clock.advanceTo(520);
    await pause(one, 1);
    clock.advanceTo(700);
    const before = ran(one, 1)!;
    expect(before).toBeGreaterThanOrEqual(5);
    expect(placed(one)).toEqual([]);
    expect(machine.matrix?.paused).toEqual([{ job: 1, attempt: 1 }]);
    const paused = { state: "paused", reason: "paused by anna", pausedAtMs: clock.unixMs() - 180 };
    expect(frontEnd.job(ANNA, 1)).toMatchObject(paused);
    clock.advanceTo(3_600_000);
    expect(ran(one, 1)).toBe(before);
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ ...paused, ranMs: expect.closeTo(before * 100, -2) });
    await resume(one, 1);
    clock.advanceTo(3_600_100);
    expect(placed(one)).toEqual([1]);
    expect(machine.matrix).not.toHaveProperty("paused");
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ state: "running" });
    clock.advanceTo(3_600_000 + 100 * (10 - before) + 200);
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ state: "done", ranMs: 1000, attempt: 1 });
    expect(frontEnd.job(ANNA, 1)).not.toHaveProperty("pausedAtMs");
  },
);

describe.each(SPACE)("%s", (policy) => {
  test("a paused job keeps its CPUs; another one waits for them", async () => {
    const one = bench(policy, { runMs: () => 1000 });
    const { clock } = one;
    await submit(one, 3);
    clock.advanceTo(300);
    await pause(one, 1);
    await submit(one, 2);
    await submit(one, 1);
    clock.advanceTo(10_000);
    expect(states(one).slice(0, 2)).toEqual(["1 paused", "2 queued"]);
    await resume(one, 1);
    runToEnd(clock);
    expect(states(one)).toEqual(["1 done", "2 done", "3 done"]);
  });

  test("the pause is not part of its running time when it runs again", async () => {
    const one = bench(policy, { runMs: () => 1000 });
    const { clock, frontEnd } = one;
    await submit(one, 3);
    clock.advanceTo(300);
    await pause(one, 1);
    clock.advanceTo(60_300);
    await resume(one, 1);
    clock.advanceTo(60_450);
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ state: "running", ranMs: 450 });
  });

  test("with release, another job gets its CPUs, and it waits until they are free again", async () => {
    const one = bench(policy, { runMs: () => 1000 });
    const { clock, frontEnd } = one;
    await submit(one, 3);
    clock.advanceTo(300);
    await pause(one, 1, true);
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ state: "paused", released: true });
    await submit(one, 4);
    clock.advanceTo(700);
    expect(states(one)).toEqual(["1 paused", "2 running"]);
    await resume(one, 1);
    clock.advanceTo(900);
    // It has a process, but the other job has the CPUs.
    expect(states(one)).toEqual(["1 running", "2 running"]);
    expect(placed(one)).toEqual([2]);
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ released: true });
    const before = ran(one, 1);
    clock.advanceTo(1200);
    expect(ran(one, 1)).toBe(before);
    runToEnd(clock);
    expect(states(one)).toEqual(["1 done", "2 done"]);
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ ranMs: 1000, attempt: 1 });
  });

  test("a long pause makes few new plans: the expected pause doubles", async () => {
    const one = bench(policy, { runMs: () => 1000 });
    const { clock, store } = one;
    await submit(one, 3);
    clock.advanceTo(300);
    await pause(one, 1);
    await submit(one, 4);
    clock.advanceTo(7 * 24 * 3_600_000);
    expect(states(one)).toEqual(["1 paused", "2 queued"]);
    const adoptions = store.eventsAfter(0, 9999).filter(({ event }) => event.kind === "policy").length;
    // 20 s of the limit, then a minute, then twice as long each time: a week is 2^13.3 minutes.
    expect(adoptions).toBeLessThan(25);
  });
});

describe.each(TIME)("%s", (policy) => {
  test("a paused gang leaves its row to others, and comes back when there is room", async () => {
    const one = bench(policy, { runMs: () => 1000, config: { maxRows: 1 } });
    const { clock } = one;
    await submit(one, 4);
    clock.advanceTo(300);
    await submit(one, 4);
    clock.advanceTo(500);
    expect(states(one)).toEqual(["1 running", "2 queued"]);
    await pause(one, 1);
    clock.advanceTo(800);
    expect(states(one)).toEqual(["1 paused", "2 running"]);
    expect(placed(one)).toEqual([2]);
    await resume(one, 1);
    clock.advanceTo(1000);
    expect(placed(one)).toEqual([2]);
    runToEnd(clock);
    expect(states(one)).toEqual(["1 done", "2 done"]);
  });

  test("a paused gang keeps its memory until it ends", async () => {
    const one = bench(policy, { runMs: () => 1000, memoryBytes: 100 });
    const { clock, frontEnd } = one;
    await submit(one, 1, { memoryBytes: 60 });
    clock.advanceTo(300);
    await pause(one, 1);
    await submit(one, 1, { memoryBytes: 60 });
    clock.advanceTo(5000);
    expect(states(one)).toEqual(["1 paused", "2 queued"]);
    await answerOf(clock, frontEnd.cancel(ANNA, 1));
    clock.advanceTo(5300);
    expect(states(one)).toEqual(["1 cancelled", "2 running"]);
  });
});

const resources = [{ name: "gpu", units: ["0", "1"], isShared: false, variables: [] }];

test.each(TIME)("%s: a paused gang keeps its units, and another job waits for them", async (policy) => {
  const one = bench(policy, { runMs: () => 1000, config: { resources } });
  const { clock, frontEnd } = one;
  await submit(one, 1, { use: { gpu: 2 } });
  clock.advanceTo(300);
  await pause(one, 1);
  await submit(one, 1, { use: { gpu: 1 } });
  clock.advanceTo(5000);
  expect(states(one)).toEqual(["1 paused", "2 queued"]);
  await resume(one, 1);
  runToEnd(clock);
  const [first, second] = frontEnd.jobs(ROOT, {});
  expect(first).toMatchObject({ state: "done", ranMs: 1000, attempt: 1 });
  expect(second.startedAtMs).toBeGreaterThanOrEqual(first.endedAtMs!);
});

test.each(TIME)("%s: a resumed gang goes before the queue, also while drained", async (policy) => {
  const one = bench(policy, { runMs: () => 1000, config: { maxRows: 1 } });
  const { clock, frontEnd } = one;
  await submit(one, 4);
  clock.advanceTo(300);
  await pause(one, 1);
  await submit(one, 4);
  await submit(one, 4);
  clock.advanceTo(600);
  expect(states(one)).toEqual(["1 paused", "2 running", "3 queued"]);
  await answerOf(clock, frontEnd.setDrain(ROOT, {}));
  await resume(one, 1);
  runToEnd(clock);
  expect(states(one)).toEqual(["1 done", "2 done", "3 queued"]);
  await answerOf(clock, frontEnd.setDrain(ROOT, undefined));
  runToEnd(clock);
  expect(states(one)).toEqual(["1 done", "2 done", "3 done"]);
});

const COUNTS_UNITS = SPACE.filter((name) => name !== "connected-reservation");

test.each(COUNTS_UNITS)("%s: a job that has released its CPUs keeps its units", async (policy) => {
  const one = bench(policy, { runMs: () => 1000, config: { resources } });
  const { clock } = one;
  await submit(one, 4, { use: { gpu: 2 } });
  clock.advanceTo(300);
  await pause(one, 1, true);
  await submit(one, 1, { use: { gpu: 1 } });
  await submit(one, 1);
  clock.advanceTo(5000);
  expect(states(one)).toEqual(["1 paused", "2 queued", "3 done"]);
  await resume(one, 1);
  runToEnd(clock);
  expect(states(one)).toEqual(["1 done", "2 done", "3 done"]);
});

test("a job that has released its CPUs keeps those that stand for its memory", async () => {
  // 4 CPUs stand for 100 bytes of memory, so 60 bytes are 3 CPUs.
  const one = bench("fcfs", { runMs: () => 1000, memoryBytes: 100 });
  const { clock } = one;
  await submit(one, 4, { memoryBytes: 60 });
  clock.advanceTo(300);
  await pause(one, 1, true);
  await submit(one, 1);
  await submit(one, 1);
  clock.advanceTo(700);
  expect(states(one)).toEqual(["1 paused", "2 running", "3 queued"]);
  await resume(one, 1);
  runToEnd(clock);
  expect(states(one)).toEqual(["1 done", "2 done", "3 done"]);
});

test.each(["gang", "easy"])(
  "%s: a pause outlasts front end and connection, and so does a release",
  async (policy) => {
    const one = bench(policy, { runMs: () => 2000, cpus: 8 });
    const { clock, machine, store } = one;
    await submit(one, 2);
    await submit(one, 2);
    clock.advanceTo(500);
    await pause(one, 1);
    await pause(one, 2, true);
    clock.advanceTo(700);
    const before = [ran(one, 1), ran(one, 2)];
    machine.forgetListeners();
    clock.advanceTo(5000);
    const again = bench(policy, { clock, machine, store, cpus: 8 });
    machine.disconnect();
    machine.connect();
    clock.advanceTo(8000);
    expect(states(again)).toEqual(["1 paused", "2 paused"]);
    expect([ran(again, 1), ran(again, 2)]).toEqual(before);
    expect(again.frontEnd.job(ANNA, 2)).toMatchObject({ released: true });
    await resume(again, 1);
    await resume(again, 2);
    runToEnd(clock);
    expect(states(again)).toEqual(["1 done", "2 done"]);
    for (const job of [1, 2])
      expect(again.frontEnd.job(ANNA, job)).toMatchObject({ ranMs: 2000, attempt: 1 });
  },
);

test("the policy changes between both kinds of sharing while jobs are paused", async () => {
  const one = bench("easy", { runMs: () => 2000 });
  const { clock, frontEnd } = one;
  await submit(one, 3);
  clock.advanceTo(300);
  await pause(one, 1);
  await answerOf(clock, frontEnd.setPolicy(ROOT, "gang"));
  await submit(one, 4);
  clock.advanceTo(700);
  expect(states(one)).toEqual(["1 paused", "2 running"]);
  // Job 2 has all CPUs now, so the paused one has no room.
  await answerOf(clock, frontEnd.setPolicy(ROOT, "easy"));
  clock.advanceTo(1000);
  expect(states(one)).toEqual(["1 paused", "2 running"]);
  await resume(one, 1);
  runToEnd(clock);
  expect(states(one)).toEqual(["1 done", "2 done"]);
});

test("on a cluster, a gang comes back to its own CPUs, and cannot release them", async () => {
  const one = bench("buddy", { runMs: () => 2000, nodes: nodesOf(2, 2) });
  const { clock, frontEnd } = one;
  await submit(one, 2);
  await submit(one, 2);
  clock.advanceTo(500);
  const { nodes } = frontEnd.jobs(ROOT, {})[1];
  expect(await pause(one, 2, true)).toMatchObject([
    { message: expect.stringContaining("Cannot release the CPUs of job 2: its processes cannot move") },
  ]);
  await pause(one, 2);
  await submit(one, 2);
  clock.advanceTo(900);
  expect(states(one)).toEqual(["1 running", "2 paused", "3 running"]);
  await resume(one, 2);
  clock.advanceTo(1300);
  expect(frontEnd.job(ANNA, 2)).toMatchObject({ state: "running", nodes });
  expect(placed(one)).toContain(2);
  runToEnd(clock);
  expect(states(one)).toEqual(["1 done", "2 done", "3 done"]);
});

describe("what else happens to a paused job", () => {
  test.each(["gang", "easy"])("%s: it is cancelled, or requeued when a user asks for it", async (policy) => {
    const one = bench(policy, { runMs: () => 1000 });
    const { clock, frontEnd } = one;
    await submit(one, 1);
    await submit(one, 1, { retries: 1 });
    clock.advanceTo(300);
    await pause(one, 1);
    await pause(one, 2, true);
    await answerOf(clock, frontEnd.cancel(ANNA, 1));
    await answerOf(clock, frontEnd.requeue(ANNA, 2));
    clock.advanceTo(600);
    expect(states(one)).toEqual(["1 cancelled", "2 running"]);
    runToEnd(clock);
    expect(frontEnd.job(ANNA, 2)).toMatchObject({ state: "done", attempt: 2, ranMs: 1000 });
  });

  test("if its attempt is lost, its next one waits for a release", async () => {
    const one = bench("gang", { runMs: () => 1000 });
    const { clock, frontEnd, machine } = one;
    await submit(one, 1, { retries: 1 });
    clock.advanceTo(300);
    await pause(one, 1);
    machine.end({ job: 1, attempt: 1 }, "none", { lost: "gone" });
    clock.settle();
    expect(frontEnd.job(ANNA, 1)).toMatchObject({
      state: "held",
      reason: "it was paused when its attempt ended (lost: gone)",
    });
    await answerOf(clock, frontEnd.release(ANNA, 1));
    runToEnd(clock);
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ state: "done", attempt: 2 });
  });

  test("a drain does not keep it from being resumed", async () => {
    const one = bench("easy", { runMs: () => 1000 });
    const { clock, frontEnd } = one;
    await submit(one, 1);
    clock.advanceTo(300);
    await pause(one, 1);
    await answerOf(clock, frontEnd.setDrain(ROOT, {}));
    await resume(one, 1);
    runToEnd(clock);
    expect(states(one)).toEqual(["1 done"]);
  });

  test("a pause that could not be written is none", async () => {
    const one = bench("gang", { runMs: () => 1000 });
    const { clock, store } = one;
    await submit(one, 1);
    clock.advanceTo(300);
    const { commit } = store;
    store.commit = () => {
      throw new Error("disk full");
    };
    expect(await pause(one, 1)).toMatchObject({ refused: "unavailable" });
    store.commit = commit;
    clock.advanceTo(5000);
    expect(states(one)).toEqual(["1 done"]);
  });
});

test("only its user and administrators pause and resume a job, and only one that runs", async () => {
  const one = bench("fcfs", { runMs: () => 1000 });
  const { clock, frontEnd } = one;
  await submit(one, 4);
  await submit(one, 4);
  clock.advanceTo(200);
  const change = (action: "pause" | "resume" | "hold" | "release", job: number, caller = ANNA) =>
    answerOf(clock, frontEnd.change(caller, { action }, [job]));
  expect(await change("pause", 1, BEN)).toMatchObject([{ refused: "not-found" }]);
  expect(await change("pause", 2)).toMatchObject([
    {
      message:
        "Cannot pause job 2: it is queued; only running jobs can be paused; tutti hold keeps it waiting",
    },
  ]);
  expect(await change("resume", 2)).toMatchObject([
    { message: "Cannot resume job 2: it is queued; only paused jobs can be resumed" },
  ]);
  expect(await change("hold", 1)).toMatchObject([
    { message: "Cannot hold job 1: it is running; only waiting jobs can be held; tutti pause stops it" },
  ]);
  await change("hold", 2);
  expect(await change("pause", 2)).toMatchObject([
    { message: "Cannot pause job 2: it is held; only running jobs can be paused" },
  ]);
  expect(await change("resume", 2)).toMatchObject([
    {
      message:
        "Cannot resume job 2: it is held; only paused jobs can be resumed; tutti release lets it start",
    },
  ]);
  await change("release", 2);
  expect(await change("pause", 1, ROOT)).toMatchObject([{ state: "paused", reason: "paused by root" }]);
  expect(await change("pause", 1)).toMatchObject([{ state: "paused", reason: "paused by root" }]);
  expect(await change("release", 1)).toMatchObject([
    {
      message:
        "Cannot release job 1: it is paused; only held jobs can be released; tutti resume continues it",
    },
  ]);
  expect(await change("resume", 1)).toMatchObject([{ state: "running" }]);
  expect(await change("resume", 1)).toMatchObject([{ state: "running" }]);
  const kinds = one.store.eventsAfter(0, 999).map(({ event }) => event);
  expect(kinds.filter(({ kind }) => kind === "paused" || kind === "resumed")).toMatchObject([
    { kind: "paused", job: 1, data: { by: "root" } },
    { kind: "resumed", job: 1, data: { by: "anna" } },
  ]);
});

test("an executor that cannot pause refuses it", async () => {
  const capabilities = { canPause: "it is a job of Slurm", timeSharing: false };
  const one = bench("fcfs", { runMs: () => 1000, capabilities });
  await submit(one, 1);
  one.clock.advanceTo(200);
  expect(await pause(one, 1)).toMatchObject([
    { message: expect.stringContaining("Cannot pause job 1: it is a job of Slurm") },
  ]);
  expect(states(one)).toEqual(["1 running"]);
});
