/**
 * Asks a real scheduler about jobs that are not submitted, then submits them: forecasts must come true. All
 * jobs sleep, so they need next to no CPU time, and both tests can run at a time.
 */

import { Random } from "@tutti/kernel/core/random.ts";
import { SIZES, TRIES } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { HypotheticalJob, WhatIfAnswer } from "@tutti/protocol/schema.ts";
import { expect, test, vi } from "vitest";
import { LiveScheduler } from "./live-scheduler.ts";

/** If 80 % of intervals are right, fewer of ten or twenty happen by chance 1 time in 100 (binomial). */
const LEAST_WITHIN = SIZES.forecasts === 20 ? 12 : 5;

vi.setConfig({ testTimeout: 300_000 });

interface Result {
  readonly p10Ms: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly startedAtMs: number;
}

async function untilTrue(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Seeded queues of up to five jobs of 0.3 to 1.2 s, each with a question about one more. */
async function forecastsAndStarts(policy: string, drawRatio: (random: Random) => number): Promise<Result[]> {
  const live = new LiveScheduler();
  live.words.push("--policy", policy);
  await live.start();
  try {
    const random = new Random(20, policy);
    const submit = (job: Required<Pick<HypotheticalJob, "limitMs" | "tasks">>) =>
      live.submit(`exec sleep ${(job.limitMs * drawRatio(random)) / 1000}`, job);
    const cpus = (await live.status()).cpus;
    const draw = () => ({ limitMs: 300 + random.below(900), tasks: 1 + random.below(cpus) });
    const isIdle = async () => {
      const { counts } = await live.status();
      return counts.queued + counts.starting + counts.running + counts.ending === 0;
    };
    // So that the scheduler knows how long jobs run.
    for (let i = 0; i < 40; i++) await submit({ ...draw(), tasks: 1 });
    await untilTrue(isIdle);
    const results: Result[] = [];
    for (let scenario = 0; scenario < SIZES.forecasts; scenario++) {
      for (let left = 2 + random.below(4); left > 0; left--) await submit(draw());
      await new Promise((resolve) => setTimeout(resolve, random.below(300)));
      const job = draw();
      const body = { jobs: [job] };
      const answer = await live.client.ask<WhatIfAnswer>("/v1/whatif", { method: "POST", body });
      const { p10Ms = 0, p50Ms = 0, p90Ms = 0 } = answer.policies[0].hypothetical![0];
      const number = await submit(job);
      await untilTrue(async () => (await live.job(number)).startedAtMs !== undefined);
      const { startedAtMs = 0 } = await live.job(number);
      results.push({ p10Ms, p50Ms, p90Ms, startedAtMs });
      await untilTrue(isIdle);
    }
    return results;
  } finally {
    await live.clear();
  }
}

test.concurrent(`of ${SIZES.forecasts} jobs, at least ${LEAST_WITHIN} start in the interval of their forecast`, async () => {
  const results = await forecastsAndStarts("easy", (random) =>
    random.below(6) === 0 ? 0.9 : 0.1 + 0.8 * random.uniform() ** 2,
  );
  const within = results.filter(
    ({ p10Ms, p90Ms, startedAtMs }) => startedAtMs >= p10Ms && startedAtMs <= p90Ms,
  );
  expect(within.length).toBeGreaterThanOrEqual(LEAST_WITHIN);
});

test.concurrent(
  "if jobs run until their limits, all start within a second of the median under fcfs",
  TRIES,
  async () => {
    // Each is ended at its limit, so it takes what the scheduler expects.
    const results = await forecastsAndStarts("fcfs", () => 2);
    for (const { p50Ms, startedAtMs } of results) expect(Math.abs(startedAtMs - p50Ms)).toBeLessThan(1000);
  },
);
