/**
 * What `tutti usage --shares` and `tutti why` say, and what stays after a restart, a kill and a full disk.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Caller } from "../contract/service.ts";
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
} from "../front-end/front-end-for-tests.ts";

const CARL: Caller = { uid: 1003, user: "carl", isAdministrator: false };
const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "tutti-shares-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function benchOf(more: Partial<BenchOptions> = {}): Bench {
  const shares = { halfLifeDays: 1, users: { anna: 3, ben: 1 }, groups: {} };
  return makeBench({
    cpus: 2,
    runMs: () => 30_000,
    config: { policy: "fcfs:order=fair-share", shares },
    ...more,
  });
}

async function submit(bench: Bench, caller: Caller, count: number, tasks = 2): Promise<void> {
  const jobs = Array.from({ length: count }, () => request({ tasks, limitMs: 60_000 }));
  await answerOf(bench.clock, bench.frontEnd.submit(caller, jobs));
}

test("users see their own numbers and rank, administrators see all", async () => {
  const bench = benchOf();
  // 60 CPU seconds of ben's, and 15 s of a running job of anna's on 2 CPUs.
  await submit(bench, BEN, 1);
  bench.clock.advanceTo(30_000);
  await submit(bench, ANNA, 1);
  bench.clock.advanceTo(45_000);
  const all = bench.frontEnd.shares(ROOT);
  expect(all).toMatchObject({
    isUsed: true,
    policy: "fcfs:order=fair-share",
    ofUsers: 2,
    halfLifeMs: DAY_MS,
  });
  expect(all.users.map(({ user, rank, shares, share }) => [user, rank, shares, share])).toEqual([
    ["anna", 1, 3, 0.75],
    ["ben", 2, 1, 0.25],
  ]);
  const [anna, ben] = all.users;
  // Seconds are short, compared with a half-life of a day: 30 of 90 CPU seconds, and 60 of 90.
  expect(anna.usedCpuMs / 30_000).toBeCloseTo(1, 3);
  expect(ben.usedCpuMs / 60_000).toBeCloseTo(1, 3);
  expect(anna.factor).toBeCloseTo(2 ** (-(1 / 3) / 0.75), 3);
  expect(ben.factor).toBeCloseTo(2 ** (-(2 / 3) / 0.25), 3);
  expect(bench.frontEnd.shares(BEN)).toEqual({ ...all, rank: 2, users: [ben] });
  expect(bench.frontEnd.shares(ANNA)).toEqual({ ...all, rank: 1, users: [anna] });
  // Who has no share and no usage sees nothing of the others.
  expect(bench.frontEnd.shares(CARL)).toEqual({ ...all, users: [] });
  runToEnd(bench.clock);
});

test("a group's values are shown to administrators only", async () => {
  const shares = { halfLifeDays: 1, users: {}, groups: { maths: { shares: 2, users: { ben: 1, carl: 1 } } } };
  const bench = benchOf({ config: { policy: "easy", shares } });
  await submit(bench, BEN, 1);
  runToEnd(bench.clock);
  const all = bench.frontEnd.shares(ROOT);
  expect(all.isUsed).toBe(false);
  expect(all.groups).toMatchObject([{ group: "maths", shares: 2, share: 1, usage: 1, factor: 0.5 }]);
  // By the formula: carl bears half of what ben used, for half of the share.
  expect(all.users).toMatchObject([
    { user: "carl", group: "maths", usage: 0, effectiveUsage: 0.5, factor: 0.5 },
    { user: "ben", group: "maths", usage: 1, effectiveUsage: 1, factor: 0.25 },
  ]);
  const own = bench.frontEnd.shares(BEN);
  expect(own.groups).toBeUndefined();
  expect(own.users.map(({ user }) => user)).toEqual(["ben"]);
});

test("tutti why says how many jobs go first because of shares", async () => {
  const bench = benchOf();
  await submit(bench, BEN, 1);
  bench.clock.advanceTo(30_000);
  await submit(bench, BEN, 3);
  await submit(bench, ANNA, 2);
  // Job 2 of ben's runs; his jobs 3 and 4 were submitted before anna's jobs 5 and 6.
  expect(await bench.frontEnd.why(BEN, 4)).toMatchObject({
    queuedBefore: 3,
    obstacles: [{ kind: "cpus" }, { kind: "order", behind: [3] }, { kind: "shares", jobs: 2 }],
  });
  const why = await bench.frontEnd.why(ANNA, 5);
  expect(why).toMatchObject({ queuedBefore: 0, obstacles: [{ kind: "cpus" }] });
  runToEnd(bench.clock);
  const started = bench.frontEnd.jobs(ROOT, {}).toSorted((a, b) => a.startedAtMs! - b.startedAtMs!);
  expect(started.map(({ job }) => job)).toEqual([1, 2, 5, 6, 3, 4]);
});

test("a job can be held and released although people looked at usage since it was submitted", async () => {
  const bench = benchOf();
  await submit(bench, ANNA, 1, 1);
  await submit(bench, ANNA, 1);
  await submit(bench, BEN, 1);
  bench.clock.advanceTo(20_000);
  bench.frontEnd.shares(ROOT);
  await answerOf(bench.clock, bench.frontEnd.hold(ANNA, 2));
  bench.clock.advanceTo(40_000);
  await answerOf(bench.clock, bench.frontEnd.release(ANNA, 2));
  runToEnd(bench.clock);
  expect(bench.frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toEqual(["done", "done", "done"]);
});

test("usage survives a front end that is killed, and the end of the records of jobs", async () => {
  const path = join(folder, "killed.db");
  const config = { policy: "gang", slotMs: 1000 };
  const gangs = {
    path,
    slotted: true,
    config: { ...config, shares: { halfLifeDays: 1, users: { anna: 3, ben: 1 }, groups: {} } },
  };
  const first = benchOf(gangs);
  await submit(first, BEN, 1);
  first.clock.advanceTo(30_000);
  await submit(first, BEN, 1);
  first.clock.advanceTo(45_000);
  const before = first.frontEnd.shares(ROOT);
  expect(before.users.find(({ user }) => user === "ben")!.usedCpuMs / 90_000).toBeCloseTo(1, 3);
  first.kill();
  // One job has ended, and one runs on.
  const again = benchOf({ ...gangs, clock: first.clock, machine: first.machine });
  expect(again.frontEnd.shares(ROOT)).toEqual(before);
  again.clock.advanceTo(60_000);
  expect(again.frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toEqual(["done", "done"]);
  again.kill();
  // A day after 120 CPU seconds, 60 count.
  const last = benchOf({ ...gangs, clock: first.clock, machine: first.machine });
  last.clock.advanceTo(DAY_MS + 30_000);
  const [ben] = last.frontEnd.shares(BEN).users;
  expect(ben.usedCpuMs / 60_000).toBeCloseTo(1, 3);
});

test("a cycle that was rolled back charges nothing twice", async () => {
  const bench = benchOf({ path: join(folder, "full.db") });
  await submit(bench, BEN, 1);
  const { store } = bench;
  const commit = store.commit.bind(store);
  let isFull = true;
  store.commit = () => {
    if (isFull) throw new Error("the disk is full");
    commit();
  };
  bench.clock.advanceTo(30_500);
  isFull = false;
  runToEnd(bench.clock);
  expect(bench.frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toEqual(["done"]);
  expect(
    bench.frontEnd.shares(ROOT).users.find(({ user }) => user === "ben")!.usedCpuMs / 60_000,
  ).toBeCloseTo(1, 3);
});
