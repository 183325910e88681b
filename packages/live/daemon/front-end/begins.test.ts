/** Tests jobs that begin at a time: when they join the queue, what they wait for, and their forecasts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job, SubmitJob, WhyAnswer } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import { Store } from "../store/store.ts";
import { ANNA, answerOf, type Bench, makeBench, ROOT, request, runToEnd } from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-begins-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fcfs = { config: { policy: "fcfs" } };

async function submit(bench: Bench, fields: Partial<SubmitJob>): Promise<Job> {
  const answer = await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0];
}

const startsOf = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ startedAtMs }) => startedAtMs);

describe("a job with a begin", () => {
  test("joins the queue then, behind jobs that were submitted meanwhile; why and show say when", async () => {
    const bench = makeBench({ ...fcfs, cpus: 1 });
    const { job } = await submit(bench, { beginAtMs: 5500 });
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({
      state: "queued",
      beginAtMs: 5500,
      notBeforeMs: 5500,
    });
    expect(await bench.frontEnd.why(ANNA, job)).toMatchObject({ obstacles: [{ kind: "begin", atMs: 5500 }] });
    bench.clock.advanceTo(5000);
    for (let i = 0; i < 3; i++) await submit(bench, {});
    bench.clock.advanceTo(5600);
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "queued", eligibleAtMs: 5500 });
    expect(await bench.frontEnd.why(ANNA, job)).toMatchObject({ queuedBefore: 2, waitedMs: 100 });
    runToEnd(bench.clock);
    expect(startsOf(bench)).toEqual([8000, 5000, 6000, 7000]);
  });

  test("in the past starts at once; more than ten years ahead is refused", async () => {
    const bench = makeBench(fcfs);
    bench.clock.advanceTo(10_000);
    await submit(bench, { beginAtMs: 5000 });
    expect(startsOf(bench)).toEqual([10_000]);
    // Microseconds instead of milliseconds.
    const wrong = request({ beginAtMs: 1.8e15 });
    expect(await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [wrong]))).toMatchObject({
      refused: "invalid",
      message: expect.stringContaining("not microseconds"),
    });
  });

  test("also waits for its jobs, its array and its release", async () => {
    const bench = makeBench({ ...fcfs, runMs: (job) => (job === 1 ? 9000 : 1000) });
    const first = await submit(bench, {});
    await submit(bench, { beginAtMs: 4000, after: [{ job: first.job, ok: true }] });
    await submit(bench, { beginAtMs: 4000, array: "1-2%1" });
    const held = await submit(bench, { beginAtMs: 4000, held: true });
    bench.clock.advanceTo(7000);
    await answerOf(bench.clock, bench.frontEnd.release(ANNA, held.job));
    runToEnd(bench.clock);
    expect(startsOf(bench)).toEqual([0, 9000, 4000, 5000, 7000]);
  });

  test("goes by the wall clock, also if that is set, and survives a kill of the front end", async () => {
    const path = join(folder, "kill.db");
    const first = makeBench({ ...fcfs, path });
    const { clock, machine } = first;
    const { job } = await submit(first, { beginAtMs: 3_600_000 });
    clock.advanceTo(10_000);
    // Half an hour forward: it begins half an hour earlier, noticed within a minute.
    clock.unixOffsetMs = 1_800_000;
    first.kill();
    const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
    clock.advanceTo(1_000_000);
    clock.unixOffsetMs = 2_000_000;
    clock.advanceTo(1_599_000);
    expect(second.frontEnd.job(ANNA, job)).toMatchObject({ state: "queued" });
    clock.advanceTo(1_660_000);
    expect(second.frontEnd.job(ANNA, job)).toMatchObject({ state: "done" });
    second.kill();
  });

  test("2,000 jobs that begin together start in their order", async () => {
    const bench = makeBench({ ...fcfs, cpus: 100 });
    await submit(bench, { array: "0-1999", beginAtMs: 60_000 });
    runToEnd(bench.clock);
    expect(startsOf(bench)).toEqual(
      Array.from({ length: 2000 }, (_, i) => 60_000 + 1000 * Math.floor(i / 100)),
    );
  });
});

describe("forecasts", () => {
  test("a job arrives at its begin, behind and before others, and starts no earlier", async () => {
    const bench = makeBench({ ...fcfs, runMs: () => 1e9 });
    const limited = (limitMs: number, beginAtMs?: number) =>
      submit(bench, { tasks: 4, limitMs, ...(beginAtMs !== undefined && { beginAtMs }) });
    await limited(100_000);
    const early = await limited(10_000, 50_000);
    const late = await limited(10_000, 500_000);
    const last = await limited(10_000, 505_000);
    const startOf = async ({ job }: Job) => {
      const why = await bench.frontEnd.why(ANNA, job);
      return "forecast" in why ? why.forecast?.p50Ms : undefined;
    };
    expect([await startOf(early), await startOf(late), await startOf(last)]).toEqual([
      100_000, 500_000, 510_000,
    ]);
  });

  test("while the scheduler is drained, a job with a begin has no forecast either", async () => {
    const bench = makeBench(fcfs);
    const { job } = await submit(bench, { beginAtMs: 50_000 });
    const forecastOf = async () => ((await bench.frontEnd.why(ANNA, job)) as WhyAnswer).forecast?.p50Ms;
    expect(await forecastOf()).toBe(50_000);
    await answerOf(bench.clock, bench.frontEnd.setDrain(ROOT, {}));
    expect(await forecastOf()).toBeUndefined();
    await answerOf(bench.clock, bench.frontEnd.setDrain(ROOT, undefined));
    expect(await forecastOf()).toBe(50_000);
  });
});
