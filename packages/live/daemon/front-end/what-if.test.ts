/**
 * Tests what-if: forecasts come true when the job is submitted, callers learn only sums about other users'
 * jobs, and a hypothetical job is refused as its submit would be.
 */

import { Random } from "@tutti/kernel/core/random.ts";
import { type Answer, isRefusal } from "@tutti/protocol/refusal.ts";
import type { HypotheticalJob, SubmitJob } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import type { Caller, WhatIfQuestion } from "../contract/service.ts";
import { ANNA, answerOf, BEN, type Bench, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const START_MS = makeBench().clock.unixMs();

async function given<T extends object>(answer: Promise<Answer<T>>): Promise<T> {
  const result: Answer<T> = await answer;
  if (isRefusal(result)) throw new Error(JSON.stringify(result));
  return result as T;
}

const ask = ({ frontEnd }: Bench, question: WhatIfQuestion, caller: Caller = ANNA) =>
  given(frontEnd.whatIf(caller, question));

test("a dry run answers as a submit would, with the expected start, and submits nothing", async () => {
  const bench = makeBench({ config: { policy: "fcfs" }, runMs: () => 1e9 });
  const dryRun = (fields: Partial<SubmitJob>) => bench.frontEnd.dryRun(ANNA, [request(fields)]);
  await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks: 4, limitMs: 60_000 })]));
  // The first job has all CPUs until its limit of 60 s; then 10 s are the limit of the second.
  expect(await dryRun({ tasks: 2, limitMs: 10_000, array: "1-3" })).toMatchObject({
    jobs: 3,
    queue: "default",
    estimateMs: 10_000,
    forecast: { p50Ms: 60_000, endP50Ms: 70_000 },
  });
  expect(await dryRun({ after: [{ job: 1, ok: true }] })).toMatchObject({ waitsFor: [1] });
  // A singleton waits for jobs of its name and user only.
  const { name } = bench.frontEnd.job(ANNA, 1) as { name: string };
  expect(await dryRun({ name, singleton: true })).toMatchObject({ waitsFor: [1] });
  expect(await dryRun({ name: "other", singleton: true })).toMatchObject({ forecast: { p50Ms: 60_000 } });
  expect(await dryRun({ tasks: 5 })).toMatchObject({ refused: "too-large" });
  await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
  bench.clock.settle();
  expect(await dryRun({ after: [{ job: 1, ok: true }] })).toMatchObject({ never: "job 1 did not succeed" });
  expect(bench.frontEnd.latestEvent()).toBeGreaterThan(0);
  expect(bench.frontEnd.jobs(ROOT, {})).toHaveLength(1);
});

test("each change between two questions counts, although questions share what they can", async () => {
  const bench = makeBench({ config: { policy: "fcfs" }, runMs: () => 1e9 });
  const { clock, frontEnd } = bench;
  const submit = (limitMs: number) => answerOf(clock, frontEnd.submit(BEN, [request({ tasks: 4, limitMs })]));
  /** Start and end of a job of 10 s, in s from the beginning. */
  const asked = async (tasks: number) => {
    const { hypothetical = [] } = await ask(bench, { jobs: [{ tasks, limitMs: 10_000 }] });
    return hypothetical.map(({ p50Ms, endP50Ms }) => [
      (p50Ms! - START_MS) / 1000,
      (endP50Ms! - START_MS) / 1000,
    ]);
  };
  await submit(60_000);
  expect(await asked(2)).toEqual([[60, 70]]);
  expect(await asked(4)).toEqual([[60, 70]]);
  await submit(30_000);
  expect(await asked(2)).toEqual([[90, 100]]);
  clock.advanceTo(clock.nowMs() + 1000);
  expect(await asked(2)).toEqual([[90, 100]]);
  await answerOf(clock, frontEnd.cancel(ROOT, 2));
  clock.settle();
  expect(await asked(2)).toEqual([[60, 70]]);
  clock.advanceTo(clock.nowMs() + 10_000);
  expect(await asked(2)).toEqual([[60, 70]]);
});

describe("20 seeded scenarios", () => {
  const CPUS = 8;
  /** Many users ask for far more time than they need, some are cut off at their limit. */
  const drawRatio = (random: Random) => (random.below(6) === 0 ? 1 : 0.05 + 0.95 * random.uniform() ** 2);
  const drawJob = (random: Random) => ({
    limitMs: 1000 * (10 + random.below(600)),
    tasks: 1 + random.below(random.below(3) === 0 ? CPUS : 3),
  });

  /** Asks about a job behind a queue, submits it, and lets time pass until it starts. */
  async function forecastAndStart(seed: number, policy: string, isExact: boolean) {
    const random = new Random(seed, "what-if");
    const runMs: number[] = [0];
    const bench = makeBench({ cpus: CPUS, config: { policy }, runMs: (job) => runMs[job] });
    const { clock, frontEnd } = bench;
    const submit = async (job: Required<Pick<HypotheticalJob, "limitMs" | "tasks">>, caller = ANNA) => {
      runMs.push(isExact ? job.limitMs : Math.round(job.limitMs * drawRatio(random)));
      const { jobs } = await given(answerOf(clock, frontEnd.submit(caller, [request(job)])));
      return jobs[0].job;
    };
    for (let i = 0; i < 60; i++) await submit({ limitMs: 100_000, tasks: 1 });
    let nowMs = 3_000_000;
    clock.advanceTo(nowMs);
    for (let left = 8 + random.below(20); left > 0; left--) {
      nowMs += random.below(60_000);
      clock.advanceTo(nowMs);
      await submit(drawJob(random), random.below(2) === 0 ? ANNA : BEN);
    }
    nowMs += random.below(60_000);
    clock.advanceTo(nowMs);
    const job = drawJob(random);
    const { hypothetical } = await ask(bench, { jobs: [job] });
    const number = await submit(job);
    const startedAtMs = () => {
      const now = frontEnd.job(ANNA, number);
      return isRefusal(now) ? undefined : now.startedAtMs;
    };
    while (startedAtMs() === undefined) clock.advanceTo(clock.nextMs());
    const { p10Ms = 0, p50Ms = 0, p90Ms = 0 } = hypothetical![0];
    const result = { p10Ms, p50Ms, p90Ms, startedAtMs: startedAtMs()! };
    bench.kill();
    return result;
  }

  test.each(["fcfs", "easy", "conservative", "first-fit"])(
    "%s: with exact limits, the job starts at the median; otherwise at least 14 of 20 start in the interval",
    async (policy) => {
      let within = 0;
      let wide = 0;
      for (let seed = 0; seed < 20; seed++) {
        const exact = await forecastAndStart(seed, policy, true);
        expect(Math.abs(exact.startedAtMs - exact.p50Ms)).toBeLessThan(1);
        const { p10Ms, p90Ms, startedAtMs } = await forecastAndStart(seed, policy, false);
        // A forecast of now is made in the same ms as the start.
        if (startedAtMs >= p10Ms - 1 && startedAtMs <= p90Ms + 1) within++;
        if (p90Ms - p10Ms > 1000) wide++;
      }
      expect(within).toBeGreaterThanOrEqual(14);
      expect(wide).toBeGreaterThanOrEqual(12);
    },
  );
});

describe("a question", () => {
  /** One CPU under fcfs: Anna's job runs for a minute, then hers, Ben's and hers wait, a minute each. */
  async function queueOfFour(policy = "fcfs", cpus = 1): Promise<Bench> {
    const bench = makeBench({ cpus, config: { policy }, runMs: () => 60_000 });
    for (const caller of [ANNA, ANNA, BEN, ANNA]) {
      const job = request({ limitMs: 60_000, tasks: cpus });
      await given(answerOf(bench.clock, bench.frontEnd.submit(caller, [job])));
    }
    return bench;
  }
  /** Without history, jobs are expected to take their limits, but may end earlier. */
  const upTo = (s: number) => expect.toSatisfy((ms: number) => ms <= START_MS + s * 1000);
  const all = (startS: number, endS: number) => ({
    ...{ p10Ms: upTo(startS), p50Ms: START_MS + startS * 1000, p90Ms: START_MS + startS * 1000 },
    ...{ endP10Ms: upTo(endS), endP50Ms: START_MS + endS * 1000, endP90Ms: START_MS + endS * 1000 },
    onlyRange: true,
  });
  const end = (endS: number) => {
    const { p10Ms: _p10, p50Ms: _p50, p90Ms: _p90, ...rest } = all(0, endS);
    return rest;
  };
  const NONE = { earlier: 0, later: 0, mostEarlierMs: 0, mostLaterMs: 0 };

  test("about nothing has starts and ends, without a comparison", async () => {
    const answer = await ask(await queueOfFour(), {});
    expect(answer).toEqual({
      policy: "fcfs",
      jobs: [
        { job: 2, ...all(60, 120) },
        { job: 4, ...all(180, 240) },
      ],
      running: [{ job: 1, ...end(60) }],
    });
  });

  test("about a job: it is last of its priority, and delays only those behind it", async () => {
    const bench = await queueOfFour();
    const last = await ask(bench, { jobs: [{ limitMs: 30_000 }] });
    expect(last.hypothetical).toEqual([{ queue: "default", estimateMs: 30_000, ...all(240, 270) }]);
    expect(last.changes).toEqual({
      yours: { starts: NONE, ends: NONE, never: 0 },
      others: { starts: NONE, ends: NONE, never: 0 },
    });
    const first = await ask(bench, { jobs: [{ limitMs: 30_000, priority: 1 }, { priority: -1 }] }, ROOT);
    expect(first.hypothetical).toMatchObject([all(60, 90), { p50Ms: START_MS + 270_000 }]);
    expect(first.jobs.map(({ p50Ms }) => (p50Ms - START_MS) / 1000)).toEqual([90, 150, 210]);
    expect(first.base).toMatchObject({
      policy: "fcfs",
      jobs: [{ job: 2, ...all(60, 120) }, { job: 3 }, { job: 4 }],
      running: [{ job: 1 }],
    });
    const later = { ...NONE, later: 3, mostLaterMs: 30_000 };
    expect(first.changes!.yours).toEqual({ starts: later, ends: later, never: 0 });
  });

  test("changes nothing: the same jobs wait, with the same numbers, and the next job gets the next number", async () => {
    const bench = await queueOfFour();
    const before = JSON.stringify(bench.frontEnd.jobs(ROOT, {}));
    await ask(bench, { jobs: Array(16).fill({ limitMs: 1000 }), withoutCpus: 0, policy: "easy" });
    expect(JSON.stringify(bench.frontEnd.jobs(ROOT, {}))).toBe(before);
    const { jobs } = await given(answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request()])));
    expect(jobs[0].job).toBe(5);
  });

  test("of another user shows only sums: no number, name or time of a job that is not the caller's", async () => {
    const bench = await queueOfFour();
    const question = { policy: "fcfs:order=largest", jobs: [{ limitMs: 5000 }], withoutCpus: 0 };
    const answer = await ask(bench, question, BEN);
    expect(answer.jobs.map(({ job }) => job)).toEqual([3]);
    expect(answer.running).toEqual([]);
    expect(answer.base).toMatchObject({ jobs: [{ job: 3 }], running: [] });
    const ofRoot = await ask(bench, question, ROOT);
    expect(ofRoot.jobs).toHaveLength(3);
    expect(ofRoot.changes!.others.starts).toEqual(NONE);
  });

  test("with fewer CPUs: what no longer fits has no forecast, and who loses is counted", async () => {
    const bench = makeBench({ cpus: 4, config: { policy: "fcfs" }, runMs: () => 60_000 });
    for (const [caller, tasks] of [
      [ANNA, 2],
      [BEN, 2],
      [ANNA, 3],
      [BEN, 4],
    ] as const) {
      await given(
        answerOf(bench.clock, bench.frontEnd.submit(caller, [request({ limitMs: 60_000, tasks })])),
      );
    }
    const answer = await ask(bench, { withoutCpus: 1, jobs: [{ tasks: 4, limitMs: 1000 }, { tasks: 1 }] });
    // Of the two running jobs, Ben's stops: it has a higher number. Then Anna's third, then the new one.
    expect(answer.running).toEqual([{ job: 1, ...end(60) }]);
    expect(answer.jobs).toMatchObject([{ job: 3, p50Ms: START_MS + 120_000 + 2 ** -10 * 1000 }]);
    expect(answer.hypothetical).toMatchObject([{ noForecast: "cpus" }, { p50Ms: expect.any(Number) }]);
    expect(answer.changes!.yours.starts).toMatchObject({ later: 1 });
    // Ben's running job ends later, and his job of four CPUs never starts.
    expect(answer.changes!.others).toMatchObject({ starts: NONE, ends: { later: 1 }, never: 1 });
  });

  test("is refused as the submit would be", async () => {
    const bench = await queueOfFour("fcfs", 4);
    const refused = async (question: WhatIfQuestion) => await bench.frontEnd.whatIf(ANNA, question);
    const submitted = (job: HypotheticalJob) =>
      answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(job)]));
    for (const job of [{ tasks: 5 }, { queue: "night" }, { priority: 1 }, { memoryBytes: 2 ** 62 }]) {
      const wanted = await submitted(job);
      if (job.memoryBytes === undefined) expect(isRefusal(wanted)).toBe(true);
      if (isRefusal(wanted)) expect(await refused({ jobs: [{}, job] })).toEqual(wanted);
    }
    expect(await refused({ withoutCpus: 4 })).toMatchObject({
      refused: "invalid",
      message: "Cannot take 4 CPUs away: the scheduler has 4, expected at most 3",
    });
    expect(await refused({ policy: "nonsense" })).toMatchObject({ refused: "invalid" });
  });

  test.each([
    ["memory", { memoryBytes: 6 }, { memoryBytes: 2 }, { memoryBytes: 3 }],
    ["units", { use: { gpu: 3 } }, { use: { gpu: 1 } }, { use: { gpu: 2 } }],
  ])("about jobs that must wait for %s forecasts when it is free", async (_, held, fits, waits) => {
    // The first job holds 6 bytes or 3 of 4 units for its limit of a minute; the queue is first come, first
    // served. So the second starts at once, the third when the first has ended, and the fourth behind it.
    const resources = [{ name: "gpu", units: ["0", "1", "2", "3"], isShared: false, variables: [] }];
    const bench = makeBench({ cpus: 4, memoryBytes: 8, config: { policy: "gang", resources } });
    const minute = { limitMs: 60_000 };
    await given(answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ ...held, ...minute })])));
    const jobs = [{ ...fits, ...minute }, { ...waits, ...minute }, minute];
    const { hypothetical = [] } = await ask(bench, { jobs });
    const startsS = hypothetical.map((forecast) => Math.round((forecast.p50Ms ?? Number.NaN) / 1000));
    expect(startsS).toEqual([0, 60, 60]);
  });
});
