/** Tests jobs that are retried after they failed: which ends count, how long they wait, who else waits. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import { Store } from "../store/store.ts";
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

const folder = mkdtempSync(join(tmpdir(), "tutti-retries-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fcfs = { config: { policy: "fcfs" } };
/** A job runs for a second, and its attempts end with these codes; then with 0. */
const failing = (...codes: readonly number[]): BenchOptions => ({
  ...fcfs,
  ends: (_, attempt) => ({ code: codes[attempt - 1] ?? 0 }),
});

async function submit(bench: Bench, fields: Partial<SubmitJob>, caller = ANNA): Promise<Job> {
  const answer = await answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0];
}

function jobOf({ frontEnd }: Bench, job: number): Job {
  const info = frontEnd.job(ROOT, job);
  if ("refused" in info) throw new Error(info.message);
  return info;
}

/** When the attempts of a job were decided. */
function startsOf({ frontEnd }: Bench, job: number): number[] {
  const events: DaemonEvent[] = [];
  frontEnd.listen(ROOT, 0, (event) => events.push(event));
  return events.filter((event) => event.kind === "starting" && event.job === job).map(({ atMs }) => atMs);
}

describe("which ends are retried", () => {
  // Each line: retryOn, how the first attempt ends, and whether there is a second one.
  test.each([
    [["fail"], { code: 1 }, true],
    [["fail"], { signal: "SIGSEGV" }, true],
    [["fail"], { code: 0 }, false],
    [["75"], { code: 75 }, true],
    [["75"], { code: 74 }, false],
    [["74", "SIGBUS"], { signal: "SIGBUS" }, true],
    [["SIGBUS"], { signal: "SIGKILL" }, false],
    [undefined, { code: 1 }, false],
  ] as const)("retryOn %j, an end %j: %s", async (retryOn, end, isRetried) => {
    const bench = makeBench({ ...fcfs, ends: () => end });
    const { job } = await submit(bench, { retries: 1, ...(retryOn && { retryOn }) });
    bench.clock.advanceTo(1000);
    expect(jobOf(bench, job).state === "queued").toBe(isRetried);
    runToEnd(bench.clock);
    expect(jobOf(bench, job)).toMatchObject({
      attempt: isRetried ? 2 : 1,
      state: "code" in end && end.code === 0 ? "done" : "failed",
    });
  });

  test("at a limit, only fail counts: the signal is Tutti's; a cancelled job is not retried", async () => {
    const bench = makeBench(fcfs);
    const words = [["SIGTERM"], ["fail"]] as const;
    const [bySignal, byAny] = await Promise.all(
      words.map((retryOn) => submit(bench, { retries: 1, retryOn, limitMs: 500 })),
    );
    for (const { job } of [bySignal, byAny]) {
      bench.machine.end({ job, attempt: 1 }, "time-limit", { signal: "SIGTERM" });
    }
    const cancelled = await submit(bench, { retries: 1, retryOn: ["fail"] });
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, cancelled.job));
    bench.clock.settle();
    expect([bySignal, byAny, cancelled].map(({ job }) => jobOf(bench, job).state)).toEqual([
      "failed",
      "queued",
      "cancelled",
    ]);
  });

  test("words without retries, and a wait without words, are refused", async () => {
    const bench = makeBench(fcfs);
    const ask = (fields: Partial<SubmitJob>) =>
      answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(fields)]));
    expect(await ask({ retryOn: ["fail"] })).toMatchObject({ refused: "invalid" });
    expect(await ask({ retries: 2, retryDelayMs: 1000 })).toMatchObject({ refused: "invalid" });
  });
});

describe("the wait before an attempt", () => {
  test("doubles from 10 s on; why and show say which attempt comes, and when", async () => {
    const bench = makeBench(failing(3, 4, 5));
    const { job } = await submit(bench, { retries: 3, retryOn: ["fail"] });
    bench.clock.advanceTo(1000);
    expect(jobOf(bench, job)).toMatchObject({
      state: "queued",
      attempt: 1,
      retries: 3,
      retryOn: ["fail"],
      notBeforeMs: 11_000,
      reason: "queued again: exit code 3",
    });
    expect(await bench.frontEnd.why(ANNA, job)).toMatchObject({
      obstacles: [{ kind: "begin", atMs: 11_000, attempt: 2, mostAttempts: 4, reason: "exit code 3" }],
    });
    runToEnd(bench.clock);
    // Attempts last 1 s each, with waits of 10, 20 and 40 s between them.
    expect(startsOf(bench, job)).toEqual([0, 11_000, 32_000, 73_000]);
    expect(jobOf(bench, job)).toMatchObject({ state: "done", attempt: 4, code: 0 });
  });

  test("doubles up to 6 minutes, and stays as it is if it is longer", async () => {
    const bench = makeBench({ ...fcfs, ends: () => ({ code: 1 }) });
    const short = await submit(bench, { retries: 4, retryOn: ["1"], retryDelayMs: 100_000 });
    const long = await submit(bench, { retries: 2, retryOn: ["1"], retryDelayMs: 400_000 });
    runToEnd(bench.clock);
    // Waits of 100, 200, 360 and 360 s.
    expect(startsOf(bench, short.job)).toEqual([0, 101_000, 302_000, 663_000, 1_024_000]);
    expect(startsOf(bench, long.job)).toEqual([0, 401_000, 802_000]);
    expect(jobOf(bench, short.job)).toMatchObject({ state: "failed", attempt: 5, reason: "exit code 1" });
  });

  test("one counter: a requeue uses up a retry, too", async () => {
    const bench = makeBench(failing(1, 1, 1));
    const { job } = await submit(bench, { retries: 1, retryOn: ["fail"] });
    await answerOf(bench.clock, bench.frontEnd.requeue(ANNA, job));
    runToEnd(bench.clock);
    expect(jobOf(bench, job)).toMatchObject({ state: "failed", attempt: 2 });
  });

  test("survives a kill of the front end, and goes on while there is none", async () => {
    const path = join(folder, "kill.db");
    const first = makeBench({ ...failing(1, 1), path });
    const { clock, machine } = first;
    const { job } = await submit(first, { retries: 3, retryOn: ["fail"] });
    clock.advanceTo(2000);
    first.kill();
    clock.advanceTo(5000);
    const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
    clock.settle();
    expect(jobOf(second, job)).toMatchObject({ state: "queued", attempt: 1, notBeforeMs: 11_000 });
    clock.advanceTo(11_500);
    expect(jobOf(second, job)).toMatchObject({ state: "running", attempt: 2 });
    second.kill();
    // The second attempt ends at 12 s, so that the third is due at 32 s; nobody is there.
    clock.advanceTo(40_000);
    const third = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
    clock.settle();
    expect(jobOf(third, job)).toMatchObject({ state: "running", attempt: 3 });
    runToEnd(clock);
    expect(jobOf(third, job)).toMatchObject({ state: "done", attempt: 3 });
    third.kill();
  });

  test("a job that waits for its attempt takes no place of its array, and comes last in the queue", async () => {
    const bench = makeBench({
      ...fcfs,
      cpus: 1,
      ends: (job, attempt) => ({ code: job === 1 && attempt === 1 ? 1 : 0 }),
    });
    await submit(bench, { array: "1-3%1", retries: 1, retryOn: ["fail"] });
    bench.clock.advanceTo(10_500);
    const later = [await submit(bench, {}), await submit(bench, {})];
    runToEnd(bench.clock);
    // Job 1 is due at 11 s, behind the two that were submitted before.
    expect([1, 2, 3].map((job) => startsOf(bench, job))).toEqual([[0, 12_500], [1000], [2000]]);
    expect(later.map(({ job }) => startsOf(bench, job))).toEqual([[10_500], [11_500]]);
  });

  test("can be held and cancelled, and a release in time does not shorten the wait", async () => {
    const bench = makeBench(failing(1, 1));
    const [held, cancelled] = await Promise.all([
      submit(bench, { retries: 1, retryOn: ["fail"] }),
      submit(bench, { retries: 1, retryOn: ["fail"] }),
    ]);
    bench.clock.advanceTo(2000);
    await answerOf(bench.clock, bench.frontEnd.hold(ANNA, held.job));
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, cancelled.job));
    await answerOf(bench.clock, bench.frontEnd.release(ANNA, held.job));
    runToEnd(bench.clock);
    expect(startsOf(bench, held.job)).toEqual([0, 11_000]);
    expect(startsOf(bench, cancelled.job)).toEqual([0]);
  });
});

test("a storm: 1,000 jobs that fail after 10 ms start no more often than their waits allow, and others get on", async () => {
  const RETRIES = 3;
  const bench = makeBench({
    ...fcfs,
    cpus: 4,
    runMs: (job) => (job <= 1000 ? 10 : 1000),
    ends: (job) => ({ code: job <= 1000 ? 1 : 0 }),
  });
  await submit(bench, { array: "1-1000", retries: RETRIES, retryOn: ["fail"], retryDelayMs: 1000 });
  bench.clock.advanceTo(6000);
  const other = await submit(bench, {}, BEN);
  runToEnd(bench.clock);
  // Waits of 1, 2 and 4 s after runs of 10 ms: no attempt may start earlier.
  const earliest = [0, 1010, 3020, 7030];
  for (const job of [1, 500, 1000]) {
    const starts = startsOf(bench, job);
    expect(starts).toHaveLength(1 + RETRIES);
    expect(starts.every((startMs, i) => startMs >= starts[0] + earliest[i])).toBe(true);
  }
  const [start] = startsOf(bench, other.job);
  // Behind at most the 1,000 jobs that are in the queue then: 10 ms each, on 4 CPUs.
  expect(start - 6000).toBeLessThanOrEqual(2500);
  expect(bench.machine.launched).toHaveLength(1000 * (1 + RETRIES) + 1);
});
