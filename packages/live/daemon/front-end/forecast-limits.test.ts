/** Tests forecasts on a machine with limits, in states that are worked out by hand. Nothing has ended yet. */

import { isRefusal } from "@tutti/protocol/refusal.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { whySentences } from "@tutti/words/why.ts";
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import type { Caller } from "../contract/service.ts";
import { ANNA, answerOf, BEN, type Bench, makeBench, request } from "./front-end-for-tests.ts";

const { config } = readConfig('policy = "fcfs"\n[limits]\nrunningCpus = 8', "test.toml");

async function submit(bench: Bench, caller: Caller, fields: Partial<SubmitJob>): Promise<number> {
  const answer = await answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)]));
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer.jobs[0].job;
}

/** The median start in s; without ended jobs, the median takes the time limits. */
async function startS(bench: Bench, caller: Caller, job: number): Promise<number | undefined> {
  const why = await answerOf(bench.clock, bench.frontEnd.why(caller, job));
  if (isRefusal(why)) throw new Error(why.message);
  const { p50Ms } = why.forecast ?? {};
  return p50Ms === undefined ? undefined : Math.round(p50Ms / 1000);
}

test.each(["fcfs", "easy", "wlv"])(
  "%s: a job that waits for a limit is expected when there is room",
  async (policy) => {
    const bench = makeBench({
      config: { ...config, policy },
      cpus: 16,
      runMs: () => 1_000_000,
      slotted: policy === "wlv",
    });
    await submit(bench, ANNA, { tasks: 6, limitMs: 100_000 });
    const limited = await submit(bench, ANNA, { tasks: 4, limitMs: 100_000 });
    const behind = await submit(bench, ANNA, { tasks: 8, limitMs: 50_000 });
    await submit(bench, BEN, { tasks: 8, limitMs: 50_000 });
    const bens = await submit(bench, BEN, { tasks: 6, limitMs: 30_000 });
    // Each job waits for all earlier ones of its user, though processors are idle.
    expect(await startS(bench, ANNA, limited)).toBe(100);
    expect(await startS(bench, ANNA, behind)).toBe(200);
    expect(await startS(bench, BEN, bens)).toBe(50);
    const why = await answerOf(bench.clock, bench.frontEnd.why(ANNA, limited));
    if (isRefusal(why)) throw new Error(why.message);
    const text = whySentences(
      { schema: "tutti.why/1", ...why },
      bench.frontEnd.job(ANNA, limited) as Job,
    ).join(" ");
    expect(text).toContain("Expected to start");
    expect(text).not.toContain("no forecast");
    const question = { policy, jobs: [request({ tasks: 2, limitMs: 20_000 })] };
    const asked = await answerOf(bench.clock, bench.frontEnd.whatIf(BEN, question));
    if (isRefusal(asked)) throw new Error(asked.message);
    expect(asked).not.toHaveProperty("uncounted");
    // Then there is room for 2 CPUs more.
    expect(Math.round(asked.hypothetical![0].p50Ms! / 1000)).toBe(50);
  },
);

test("jobs that wait for a quota have no forecast, and forecasts say how many they are", async () => {
  const { config } = readConfig('policy = "fcfs"\n[limits.users.anna]\ncpuHours = 1', "test.toml");
  const bench = makeBench({ config, cpus: 4, runMs: () => 3600_000 });
  await submit(bench, ANNA, { tasks: 2, limitMs: 3700_000 });
  bench.clock.advanceTo(1_900_000);
  const waiting = await submit(bench, ANNA, { tasks: 1, limitMs: 10_000 });
  expect(await startS(bench, ANNA, waiting)).toBeUndefined();
  const asked = await answerOf(bench.clock, bench.frontEnd.whatIf(BEN, { policy: "easy" }));
  expect(asked).toMatchObject({ uncounted: 1 });
});
