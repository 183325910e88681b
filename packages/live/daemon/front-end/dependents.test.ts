/** Tests what happens to any number of jobs that depend on a job that does not succeed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { ANNA, answerOf, type Bench, makeBench, request } from "./front-end-for-tests.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

type After = { readonly job: number; readonly ok: boolean };

async function submit({ frontEnd, clock }: Bench, after: readonly After[], held = false): Promise<number> {
  const answer = await answerOf(clock, frontEnd.submit(ANNA, [request({ after, held })]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0].job;
}

/** A held job, and a chain of jobs, each of which waits for the previous one to succeed. */
async function makeChain(bench: Bench, length: number): Promise<void> {
  let last = await submit(bench, [], true);
  for (let i = 1; i < length; i++) last = await submit(bench, [{ job: last, ok: true }]);
}

const stateOf = (bench: Bench, job: number) => (bench.frontEnd.job(ANNA, job) as Job).state;

test("a chain longer than the call stack is cancelled over several cycles", async () => {
  const bench = makeBench();
  const length = 6000;
  await makeChain(bench, length);
  let turns = 0;
  const commit = bench.store.commit.bind(bench.store);
  bench.store.commit = () => {
    turns++;
    commit();
  };
  expect(await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1))).toMatchObject({ state: "cancelled" });
  expect(bench.frontEnd.job(ANNA, length)).toMatchObject({
    state: "cancelled",
    reason: `job ${length - 1} did not succeed`,
  });
  expect(turns).toBeGreaterThanOrEqual(length / 500);
});

test("if the front end ends in between, no dependent starts, and the next front end goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-dependents-"));
  folders.push(folder);
  const path = join(folder, "tutti.db");
  const first = makeBench({ path });
  const length = 1500;
  await makeChain(first, length);
  // Another job waits for any end of one of the last jobs.
  const behind = await submit(first, [{ job: length, ok: false }]);
  const commit = first.store.commit.bind(first.store);
  first.store.commit = () => {
    commit();
    // The front end is killed before it can answer.
    throw new Error("killed");
  };
  void first.frontEnd.cancel(ANNA, 1);
  first.clock.settle();
  first.kill();
  const second = makeBench({ path, runMs: () => 10, connected: false });
  expect([1, 2, length].map((job) => stateOf(second, job))).toEqual(["cancelled", "cancelled", "queued"]);
  second.machine.connect();
  second.clock.settle();
  for (const job of [2, 500, 501, length]) expect([job, stateOf(second, job)]).toEqual([job, "cancelled"]);
  second.clock.advanceTo(60_000);
  expect(second.frontEnd.job(ANNA, behind)).toMatchObject({ state: "done" });
});

test("random graphs of dependencies end as a naive rule says", async () => {
  const graph = fc.array(fc.array(fc.tuple(fc.nat({ max: 1000 }), fc.boolean()), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(graph, fc.infiniteStream(fc.boolean()), async (afters, isWell) => {
      const bench = makeBench();
      const edges: After[][] = [];
      for (const [i, after] of afters.entries()) {
        const others = i === 0 ? [] : after.map(([n, ok]) => ({ job: 1 + (n % i), ok }));
        edges.push(others);
        await submit(bench, others, true);
      }
      const isCancelled = afters.map(() => false);
      for (let i = 0; i < afters.length; i++) {
        if (isWell.next().value) continue;
        await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, i + 1));
        isCancelled[i] = true;
      }
      for (const [i, after] of edges.entries()) {
        if (after.some(({ job, ok }) => ok && isCancelled[job - 1])) isCancelled[i] = true;
      }
      expect(afters.map((_, i) => stateOf(bench, i + 1) === "cancelled")).toEqual(isCancelled);
    }),
    { numRuns: 60 },
  );
});
