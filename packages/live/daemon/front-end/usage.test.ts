/** Sums over ended jobs, by hand: what they held is running time times CPUs. */
import { expect, test } from "vitest";
import type { Caller, UsageQuestion } from "../contract/service.ts";
import { ANNA, answerOf, BEN, makeBench, ROOT, request } from "./front-end-for-tests.ts";

/** All steps of the generator. */
function usage(bench: ReturnType<typeof makeBench>, caller: Caller, question: Partial<UsageQuestion> = {}) {
  const steps = bench.frontEnd.usage(caller, {
    by: { user: true, queue: false },
    fromMs: 0,
    toMs: 1e15,
    ...question,
  });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Four CPUs under FCFS, from 0 s: job 1 (Anna, 4 CPUs, 10 s) runs at once; job 2 (Ben, 2 CPUs) waits for 10
 * s, fails after 6 s, waits 10 s more for its retry and runs another 6 s; job 3 (Anna) is cancelled in the
 * queue.
 */
async function threeJobs() {
  const bench = makeBench({
    cpus: 4,
    policy: "fcfs",
    runMs: (job) => (job === 1 ? 10_000 : 6000),
    ends: (job, attempt) => ({
      code: job === 2 && attempt === 1 ? 75 : 0,
      ...(job === 1 ? { cpuMs: 30_000 } : attempt === 2 && { cpuMs: 3000 }),
    }),
  });
  const { clock, frontEnd } = bench;
  await answerOf(clock, frontEnd.submit(ANNA, [request({ tasks: 4 })]));
  const retried = request({ tasks: 2, retries: 1, retryOn: ["75"], retryDelayMs: 10_000 });
  await answerOf(clock, frontEnd.submit(BEN, [retried]));
  await answerOf(clock, frontEnd.submit(ANNA, [request({ tasks: 4 })]));
  await answerOf(clock, frontEnd.cancel(ANNA, 3));
  clock.advanceTo(60_000);
  return bench;
}

const JOB_1 = { done: 1, failed: 0, started: 1, waitMs: 0, heldMs: 40_000, countedMs: 40_000, cpuMs: 30_000 };
const JOB_2 = {
  ...{ user: "ben", done: 1, failed: 0, cancelled: 0, started: 1, waitMs: 10_000 },
  // Two attempts of 6 s on 2 CPUs; only the second one was counted.
  ...{ heldMs: 24_000, countedMs: 12_000, cpuMs: 3000 },
};

test("an administrator sees all users, a user only themselves, the largest first", async () => {
  const bench = await threeJobs();
  const annas = { user: "anna", ...JOB_1, cancelled: 1 };
  expect(usage(bench, ROOT).rows).toEqual([annas, JOB_2]);
  expect(usage(bench, ANNA).rows).toEqual([annas]);
  expect(usage(bench, BEN).rows).toEqual([JOB_2]);
  expect(bench.frontEnd.job(ROOT, 1)).toMatchObject({ usage: { cpuMs: 30_000 } });
});

test("by nothing there is one row, by queue one for each queue", async () => {
  const bench = await threeJobs();
  const all = {
    ...{ done: 2, failed: 0, cancelled: 1, started: 2, waitMs: 10_000 },
    ...{ heldMs: 64_000, countedMs: 52_000, cpuMs: 33_000 },
  };
  expect(usage(bench, ROOT, { by: { user: false, queue: false } }).rows).toEqual([all]);
  const byQueue = usage(bench, ROOT, { by: { user: true, queue: true } }).rows;
  expect(byQueue.map(({ user, queue }) => [user, queue])).toEqual([
    ["anna", "default"],
    ["ben", "default"],
  ]);
});

test("the time of the end decides: it may be equal to the first, but not to the last", async () => {
  const bench = await threeJobs();
  const first = bench.frontEnd.jobs(ROOT, {}).find(({ job }) => job === 1);
  const fromMs = first!.endedAtMs!;
  const names = (more: Partial<UsageQuestion>) => usage(bench, ROOT, more).rows.map(({ user }) => user);
  expect(names({ fromMs })).toEqual(["anna", "ben"]);
  expect(names({ fromMs: fromMs + 1 })).toEqual(["ben"]);
  expect(usage(bench, ROOT, { toMs: fromMs }).rows).toMatchObject([{ done: 0, cancelled: 1 }]);
});

test("totals since the start of the front end count each end and first start once", async () => {
  const { frontEnd } = await threeJobs();
  expect(frontEnd.totals).toMatchObject({
    ended: { done: 2, failed: 0, cancelled: 1 },
    starts: 2,
    waitMs: 10_000,
    ranMs: 22_000,
    cpuMs: 33_000,
  });
});
