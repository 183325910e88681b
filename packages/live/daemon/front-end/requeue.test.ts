/** Tests that a requeue which was accepted holds, whatever happens to the attempt. */
import { expect, test } from "vitest";
import { ANNA, answerOf, type Bench, makeBench, request } from "./front-end-for-tests.ts";

const fcfs = { config: { policy: "fcfs" } };

async function submit({ clock, frontEnd }: Bench, fields: Parameters<typeof request>[0]) {
  return (await answerOf(clock, frontEnd.submit(ANNA, [request(fields)]))) as {
    readonly jobs: readonly { readonly job: number }[];
  };
}

// A script that requeues itself ends at once, perhaps before the conductor hears of it; at a limit, also.
test.each([
  ["none", { code: 0 }],
  ["none", { code: 3 }],
  ["none", { signal: "SIGTERM" }],
  ["time-limit", { signal: "SIGTERM" }],
  ["memory-limit", { signal: "SIGKILL" }],
  ["requeued", { signal: "SIGTERM" }],
] as const)("a requeued job starts again, although its attempt ended with %s %j", async (reason, end) => {
  const bench = makeBench(fcfs);
  const [{ job }] = (await submit(bench, { retries: 1 })).jobs;
  const [next] = (await submit(bench, { after: [{ job, ok: true }] })).jobs;
  bench.machine.isDeaf = true;
  await answerOf(bench.clock, bench.frontEnd.requeue(ANNA, job));
  bench.machine.end({ job, attempt: 1 }, reason, end);
  bench.clock.settle();
  expect(bench.machine.launched).toEqual(["1/1", "1/2"]);
  expect(bench.frontEnd.job(ANNA, next.job)).toMatchObject({ state: "queued" });
});

test("a job that is requeued and held waits until it is released", async () => {
  const bench = makeBench(fcfs);
  const [{ job }] = (await submit(bench, { retries: 1 })).jobs;
  await answerOf(bench.clock, bench.frontEnd.change(ANNA, { action: "requeue", hold: true }, [job]));
  bench.clock.settle();
  const held = bench.frontEnd.job(ANNA, job);
  expect(held).toMatchObject({ state: "held", reason: expect.stringContaining("(requeued)") });
  expect(held).not.toHaveProperty("pausedAtMs");
  expect(bench.machine.launched).toEqual(["1/1"]);
  await answerOf(bench.clock, bench.frontEnd.release(ANNA, job));
  bench.clock.settle();
  expect(bench.machine.launched).toEqual(["1/1", "1/2"]);
});
