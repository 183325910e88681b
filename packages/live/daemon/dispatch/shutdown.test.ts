/** Tests that the end of the scheduler reaches a conductor that is not connected just then. */
import { expect, test } from "vitest";
import { ANNA, answerOf, makeBench, ROOT, request } from "../front-end/front-end-for-tests.ts";

async function running() {
  const bench = makeBench({ config: { policy: "fcfs" }, runMs: () => 3_600_000 });
  await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({})]));
  bench.clock.settle();
  bench.machine.disconnect();
  const sent = () => bench.machine.sent.filter(({ type }) => type === "shutdown");
  /** Lets time pass until there is an answer. */
  const answered = async <T>(answer: Promise<T>) => {
    let isThere = false;
    void answer.finally(() => {
      isThere = true;
    });
    const fromMs = bench.clock.nowMs();
    while (!isThere) {
      bench.clock.advanceTo(bench.clock.nowMs() + 100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { answer: await answer, tookMs: bench.clock.nowMs() - fromMs };
  };
  return { ...bench, sent, answered };
}

test("it waits for one that comes in a moment, and then ends its jobs", async () => {
  const { clock, frontEnd, machine, sent, answered } = await running();
  const answer = frontEnd.shutdown(ROOT, true);
  clock.advanceTo(clock.nowMs() + 29_000);
  expect(sent()).toEqual([]);
  machine.connect();
  await answered(answer);
  expect(sent()).toEqual([{ type: "shutdown", killJobs: true }]);
});

test("it does not wait for long for one that cannot come, and says whether jobs may still run", async () => {
  const told = await running();
  const { answer, tookMs } = await told.answered(told.frontEnd.shutdown(ROOT, false));
  expect(answer).toMatchObject({ message: expect.stringContaining("1 job is running") });
  expect(tookMs).toBeLessThan(6000);
  const killed = await running();
  const ended = await killed.answered(killed.frontEnd.shutdown(ROOT, true));
  expect(ended.answer).toEqual({
    stopping: true,
    warning: expect.stringMatching(
      /^Jobs may still run, because .*; the next tutti serve finds what still runs\.$/,
    ),
  });
  expect(ended.tookMs).toBeLessThan(31_000);
});

test("it names the jobs that do not end in time", async () => {
  const { frontEnd, machine, answered } = await running();
  machine.connect();
  const { answer } = await answered(frontEnd.shutdown(ROOT, true));
  expect(answer).toMatchObject({ warning: expect.stringMatching(/^1 job has not ended within 15 s; /) });
});
