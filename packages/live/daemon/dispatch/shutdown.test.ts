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
  clock.advanceTo(clock.nowMs() + 4000);
  expect(sent()).toEqual([]);
  machine.connect();
  await answered(answer);
  expect(sent()).toEqual([{ type: "shutdown", killJobs: true }]);
});

test("it does not wait for long for one that cannot come", async () => {
  const { frontEnd, answered } = await running();
  const { answer, tookMs } = await answered(frontEnd.shutdown(ROOT, true));
  expect(answer).toEqual({ stopping: true });
  expect(tookMs).toBeLessThan(6000);
});
