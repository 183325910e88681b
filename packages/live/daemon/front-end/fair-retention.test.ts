/** Tests that a user's ended jobs and events are kept, whatever other users do. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Caller } from "../contract/service.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

const DAY_MS = 86_400_000;
const CARL: Caller = { uid: 1003, user: "carl", isAdministrator: false };

function forgetAll({ frontEnd }: Bench): void {
  while (frontEnd.retention.step());
}

function submit({ clock, frontEnd }: Bench, caller: Caller, count: number, fields = {}) {
  return answerOf(
    clock,
    frontEnd.submit(
      caller,
      Array.from({ length: count }, () => request(fields)),
    ),
  );
}

test("a user who floods the scheduler with arrays that are cancelled immediately costs others no results", async () => {
  const bench = makeBench({ config: { policy: "fcfs", keepJobs: 500 } });
  const { clock, machine, frontEnd } = bench;
  await submit(bench, BEN, 1, { name: "precious" });
  runToEnd(clock);
  await submit(bench, ANNA, 1);
  machine.end({ job: 2, attempt: 1 }, "none", { code: 1 });
  clock.settle();
  expect(frontEnd.job(ANNA, 2)).toMatchObject({ state: "failed" });
  const command = ["true"];
  for (let i = 0; i < 11; i++) {
    const array = request({ command, array: "0-999", after: [{ job: 2, ok: true }] });
    expect(await answerOf(clock, frontEnd.submit(ANNA, [array]))).toHaveProperty(
      "jobs.999.state",
      "cancelled",
    );
    forgetAll(bench);
  }
  expect(frontEnd.job(BEN, 1)).toMatchObject({ state: "done", name: "precious" });
  // She keeps her own started jobs, too: jobs that were never started are forgotten first.
  expect(frontEnd.job(ANNA, 2)).toMatchObject({ state: "failed" });
  const { done, failed, cancelled } = frontEnd.status().counts;
  expect([done, failed, cancelled]).toEqual([1, 1, 498]);
  expect(bench.store.kept.sinceMs(BEN.uid)).toBeUndefined();
  expect(frontEnd.status(BEN)).not.toHaveProperty("keptSinceMs");
  expect(frontEnd.status(ANNA)).toHaveProperty("keptSinceMs");
});

test("jobs that were never started take at most a tenth of the room from those that were", async () => {
  const bench = makeBench({ config: { policy: "fcfs", keepJobs: 100 } });
  const { clock, frontEnd } = bench;
  await submit(bench, BEN, 100);
  runToEnd(clock);
  await submit(bench, ANNA, 300, { held: true });
  for (let job = 101; job <= 400; job++) await answerOf(clock, frontEnd.cancel(ANNA, job));
  forgetAll(bench);
  expect(frontEnd.status().counts).toMatchObject({ done: 90, cancelled: 10 });
});

test("keepJobs is shared so that users with less than a fair share lose nothing; any users, ends and room", async () => {
  const users = [ANNA, BEN, CARL];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ user: fc.nat({ max: 2 }), starts: fc.boolean() }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 40 }),
      async (plan, keepJobs) => {
        const bench = makeBench({ config: { policy: "fcfs", keepJobs, keepDays: 9 } });
        const { clock, frontEnd } = bench;
        for (const { user, starts } of plan) {
          await submit(bench, users[user], 1, { held: !starts });
          runToEnd(clock);
        }
        for (const [i, { user, starts }] of plan.entries()) {
          if (!starts) await answerOf(clock, frontEnd.cancel(users[user], i + 1));
        }
        forgetAll(bench);
        const kept = new Set(frontEnd.jobs(ROOT, {}).map(({ job }) => job));
        const had = plan.map(({ user, starts }, i) => ({ kind: `${user} ${starts}`, starts, job: i + 1 }));
        const count = (kind: string) => had.filter((one) => one.kind === kind).length;
        const left = naiveShares(count, keepJobs);
        for (const [kind, most] of left) {
          const ofKind = had.filter((one) => one.kind === kind).map(({ job }) => job);
          const keptOfKind = ofKind.filter((job) => kept.has(job));
          // If the room cannot be divided evenly, the twin leaves one more.
          expect([most, most - 1]).toContain(keptOfKind.length);
          expect(keptOfKind).toEqual(keptOfKind.length === 0 ? [] : ofKind.slice(-keptOfKind.length));
          const share = kind.endsWith("true") ? Math.ceil(0.9 * keepJobs) : Math.floor(0.1 * keepJobs);
          if (ofKind.length <= Math.floor(share / users.length)) expect(keptOfKind).toEqual(ofKind);
        }
        expect(kept.size).toBeLessThanOrEqual(keepJobs);
        expect(frontEnd.status().counts).toMatchObject({
          done: had.filter(({ starts, job }) => starts && kept.has(job)).length,
          cancelled: had.filter(({ starts, job }) => !starts && kept.has(job)).length,
        });
        for (const user of users) {
          clock.advanceTo(clock.nowMs() + 10 * DAY_MS);
          forgetAll(bench);
          expect(frontEnd.jobs(user, {})).toEqual([]);
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** Naive twin: while there are too many jobs of a kind, forgets one of the user who has most of them. */
function naiveShares(count: (kind: string) => number, keepJobs: number): Map<string, number> {
  const left = new Map(
    [0, 1, 2]
      .flatMap((user) => [true, false].map((starts) => `${user} ${starts}`))
      .map((kind) => [kind, count(kind)]),
  );
  const sum = (kinds: string[]) => kinds.reduce((total, kind) => total + left.get(kind)!, 0);
  const started = [...left.keys()].filter((kind) => kind.endsWith("true"));
  const others = [...left.keys()].filter((kind) => kind.endsWith("false"));
  const cut = (kinds: string[], room: number) => {
    while (sum(kinds) > room) {
      const most = kinds.reduce((a, b) => (left.get(b)! > left.get(a)! ? b : a));
      left.set(most, left.get(most)! - 1);
    }
  };
  if (sum([...left.keys()]) <= keepJobs) return left;
  const reserved = Math.floor(keepJobs / 10);
  const forOthers = Math.max(keepJobs - sum(started), reserved);
  cut(started, keepJobs - Math.min(sum(others), reserved));
  cut(others, forOthers);
  return left;
}

test("commands of ended jobs are shared, too: a user with long commands loses only own jobs", async () => {
  const bench = makeBench({ config: { policy: "fcfs" }, retentionLimits: { bytes: 1_000_000 } });
  const { clock, frontEnd } = bench;
  await submit(bench, BEN, 20);
  await submit(bench, ANNA, 30, { command: ["true", "x".repeat(100_000)] });
  runToEnd(clock);
  forgetAll(bench);
  expect(frontEnd.jobs(BEN, {})).toHaveLength(20);
  expect(frontEnd.jobs(ANNA, {}).length).toBe(9);
});

test("events are shared: a flood of one user's events displaces neither other users' events nor those for all", async () => {
  const bench = makeBench({ config: { policy: "fcfs" }, retentionLimits: { events: 300 } });
  const { clock, frontEnd, store } = bench;
  await submit(bench, BEN, 3);
  runToEnd(clock);
  const eventsOf = (caller: Caller) => {
    const events: string[] = [];
    frontEnd.listen(caller, 0, ({ kind, sequence }) => events.push(`${sequence} ${kind}`))();
    return events;
  };
  const before = eventsOf(BEN);
  await submit(bench, ANNA, 1000, { held: true });
  for (let job = 4; job <= 1003; job++) await answerOf(clock, frontEnd.cancel(ANNA, job));
  const latest = store.latestEvent();
  forgetAll(bench);
  expect(eventsOf(BEN)).toEqual(before);
  expect(eventsOf(ROOT)).toHaveLength(300);
  expect(eventsOf(ROOT).at(-1)).toMatch(new RegExp(`^${latest} cancelled`));
  // Numbers continue after the last one, also after a restart.
  bench.frontEnd.stop();
  const after = makeBench({ store, clock, retentionLimits: { events: 300 } });
  await submit(after, ANNA, 1, { held: true });
  expect(after.store.latestEvent()).toBeGreaterThan(latest);
  forgetAll(after);
  const sequences = store.eventsAfter(0, 1000).map(({ event }) => event.sequence);
  expect(new Set(sequences).size).toBe(sequences.length);
  expect(sequences.length).toBeLessThanOrEqual(300);
});

test("too many ended jobs do not wait for the next round", async () => {
  const bench = makeBench({ config: { policy: "fcfs", keepJobs: 100 } });
  const { clock, frontEnd } = bench;
  frontEnd.retention.start();
  clock.advanceTo(5000);
  await submit(bench, ANNA, 1000, { held: true });
  for (let job = 1; job <= 1000; job++) await answerOf(clock, frontEnd.cancel(ANNA, job));
  clock.advanceTo(5700);
  expect(frontEnd.status().counts.cancelled).toBe(100);
  frontEnd.stop();
});
