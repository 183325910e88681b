/** Tests the limits of a live machine, through its front end on a fake machine. */

import { Random } from "@tutti/kernel/core/random.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { describe, expect, test } from "vitest";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

async function submit(bench: Bench, fields: Partial<SubmitJob> = {}): Promise<Job> {
  const answer = await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0];
}

function stateOf({ frontEnd }: Bench, job: number): string {
  const info = frontEnd.job(ROOT, job);
  return "refused" in info ? info.message : info.state;
}

describe("limits of the matrix", () => {
  test("gangs wait when the rows or the memory are used up", async () => {
    const rows = makeBench({ config: { policy: "gang", maxRows: 2 }, slotted: true });
    for (let i = 0; i < 3; i++) await submit(rows, { tasks: 4 });
    rows.clock.advanceTo(200);
    expect(rows.frontEnd.matrix().rows).toHaveLength(2);
    expect(stateOf(rows, 3)).toBe("queued");
    runToEnd(rows.clock);
    expect(stateOf(rows, 3)).toBe("done");

    const memory = makeBench({ config: { policy: "br" }, slotted: true, memoryBytes: 1000 });
    for (let i = 0; i < 3; i++) await submit(memory, { tasks: 1, memoryBytes: 400 });
    await submit(memory, { tasks: 1 });
    memory.clock.advanceTo(200);
    expect([1, 2, 3].map((job) => stateOf(memory, job))).toEqual(["running", "running", "queued"]);
    expect(await memory.frontEnd.why(ANNA, 3)).toMatchObject({
      obstacles: [{ kind: "memory", neededBytes: 400, freeBytes: 200 }],
    });
    // The running jobs have their memory for the hour that every job is expected to run. No job passes
    // the head of the queue.
    const hour = { p50Ms: 3_600_000 };
    expect(await memory.frontEnd.why(ANNA, 3)).toMatchObject({ forecast: hour });
    expect(await memory.frontEnd.why(ANNA, 4)).toMatchObject({ forecast: hour });
    expect(await memory.frontEnd.whatIf(ANNA, { policy: "gang" })).toMatchObject({
      jobs: [
        { job: 3, ...hour },
        { job: 4, ...hour },
      ],
    });
    expect(await memory.frontEnd.whatIf(ANNA, { policy: "fcfs" })).toMatchObject({
      jobs: [{ job: 3 }, { job: 4 }],
    });
    runToEnd(memory.clock);
    expect(stateOf(memory, 3)).toBe("done");
  });

  test.each([
    "gang",
    "gang:fit=best",
    "gang:extraSlots=kept",
    "gang:extraSlots=returned",
    "random",
    "random:extraSlots=returned",
    "buddy",
    "bc",
    "br",
    "brms",
    "brmms",
    "wlv",
    "wlv:extraSlots=returned",
    "wlv:array=ring",
  ])("%s: never too many rows or too much memory, first come, first served", async (policy) => {
    const random = new Random(7, policy);
    const bench = makeBench({
      config: { policy, maxRows: 3 },
      cpus: 8,
      slotted: true,
      memoryBytes: 1000,
      runMs: () => 100 * (1 + random.below(30)),
    });
    let maxRows = 0;
    const check = (): void => {
      const jobs = bench.frontEnd.jobs(ROOT, {});
      const present = jobs.filter(({ state }) => state === "starting" || state === "running");
      expect(present.reduce((sum, { memoryBytes = 0 }) => sum + memoryBytes, 0)).toBeLessThanOrEqual(1000);
      maxRows = Math.max(maxRows, bench.frontEnd.matrix().rows.length);
      const first = jobs.find(({ state }) => state === "queued")?.job ?? Number.POSITIVE_INFINITY;
      for (const { job } of present) expect(job).toBeLessThan(first);
    };
    for (let i = 0; i < 60; i++) {
      const memoryBytes = random.below(3) === 0 ? {} : { memoryBytes: 1 + random.below(600) };
      await submit(bench, { tasks: 1 + random.below(8), ...memoryBytes });
      if (i % 20 === 19) await answerOf(bench.clock, bench.frontEnd.cancel(ROOT, i - 3));
      bench.clock.advanceTo(bench.clock.nowMs() + random.below(400));
      check();
    }
    while (bench.clock.nextMs() < Number.POSITIVE_INFINITY) {
      bench.clock.advanceTo(bench.clock.nextMs());
      check();
    }
    expect(maxRows).toBe(3);
    expect(bench.frontEnd.jobs(ROOT, {}).filter(({ state }) => !isEnded(state))).toEqual([]);
  });

  test("under space sharing, a job with much memory gets the same share of processors", async () => {
    const bench = makeBench({ config: { policy: "first-fit" }, memoryBytes: 1000 });
    const { job } = await submit(bench, { tasks: 1, memoryBytes: 600 });
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ tasks: 1, cpus: [0, 1, 2] });
    await submit(bench, { tasks: 2 });
    expect(stateOf(bench, 2)).toBe("queued");
  });
});
