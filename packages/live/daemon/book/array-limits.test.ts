/**
 * Tests arrays with a limit of k: at most k of their jobs are in flight, and exactly k while others could
 * start.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { FakeMachine } from "../front-end/fake-machine-for-tests.ts";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-array-"));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true }));

/** The first runs for ten seconds, the others for one. */
const runMs = (job: number) => (job === 1 ? 10_000 : 1000);
const config = { policy: "fcfs" };

async function submitArray({ clock, frontEnd }: Bench, count: number, atOnce: number): Promise<void> {
  const array = request({ array: `0-${count - 1}%${atOnce}` });
  expect(await answerOf(clock, frontEnd.submit(ANNA, [array]))).not.toHaveProperty("refused");
}

function inState({ frontEnd }: Bench, ...states: readonly string[]): number[] {
  return frontEnd
    .jobs(ROOT, {})
    .filter(({ state }) => states.includes(state))
    .map(({ job }) => job);
}

/** Jobs that the limit of their array allows to start. */
function goes({ frontEnd }: Bench): number[] {
  return frontEnd
    .jobs(ROOT, {})
    .flatMap(({ job, reason = "" }) => (reason.startsWith("at most") ? [] : [job]));
}

const running = (bench: Bench) => inState(bench, "starting", "running", "ending");

describe("an array of which two may go at a time", () => {
  test("a long job does not hold back the others", async () => {
    const bench = makeBench({ config, runMs });
    await submitArray(bench, 6, 2);
    for (const [ms, jobs] of [
      [0, [1, 2]],
      [1000, [1, 3]],
      [2000, [1, 4]],
      [4000, [1, 6]],
      [5000, [1]],
    ] as const) {
      bench.clock.advanceTo(ms);
      expect(running(bench)).toEqual(jobs);
    }
  });

  test("a held or cancelled job makes room; a released job waits for its turn", async () => {
    const bench = makeBench({ config, runMs, cpus: 1 });
    const { clock, frontEnd } = bench;
    await submitArray(bench, 6, 2);
    expect(goes(bench)).toEqual([1, 2]);
    await answerOf(clock, frontEnd.hold(ANNA, 2));
    expect(goes(bench)).toEqual([1, 2, 3]);
    await answerOf(clock, frontEnd.cancel(ANNA, 3));
    expect(goes(bench)).toEqual([1, 2, 3, 4]);
    await answerOf(clock, frontEnd.release(ANNA, 2));
    expect(goes(bench)).toEqual([1, 3, 4]);
    expect(frontEnd.job(ANNA, 2)).toMatchObject({ reason: "at most 2 jobs of array 1 run at a time" });
    expect(await frontEnd.why(ANNA, 2)).toMatchObject({
      obstacles: [{ kind: "array", array: 1, atOnce: 2 }],
    });
    runToEnd(clock);
    expect(bench.machine.launched).toEqual(["1/1", "4/1", "5/1", "6/1", "2/1"]);
  });

  test("the whole array waits for a job that it depends on", async () => {
    const bench = makeBench({ config, runMs: () => 1000 });
    const { clock, frontEnd } = bench;
    await answerOf(clock, frontEnd.submit(ANNA, [request()]));
    const after = [{ job: 1, ok: true }];
    await answerOf(clock, frontEnd.submit(ANNA, [request({ array: "0-2%2", after })]));
    expect(running(bench)).toEqual([1]);
    clock.advanceTo(1000);
    expect(running(bench)).toEqual([2, 3]);
    clock.advanceTo(2000);
    expect(running(bench)).toEqual([4]);
  });

  test("a cycle that could not be written releases no job", async () => {
    const bench = makeBench({ config, runMs, cpus: 1 });
    await submitArray(bench, 4, 2);
    const { store } = bench;
    const commit = store.commit.bind(store);
    store.commit = () => {
      throw new Error("database or disk is full");
    };
    expect(await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 2))).toMatchObject({
      refused: "unavailable",
    });
    expect(goes(bench)).toEqual([1, 2]);
    store.commit = commit;
    runToEnd(bench.clock);
    expect(bench.machine.launched).toEqual(["1/1", "2/1", "3/1", "4/1"]);
  });
});

describe("whatever is held, released, cancelled, requeued, given another priority or killed", () => {
  const JOBS = 8;
  const MOST = 3;
  const step = fc.oneof(
    fc.record({
      kind: fc.constantFrom(
        "cancel" as const,
        "hold" as const,
        "release" as const,
        "requeue" as const,
        "lower" as const,
      ),
      job: fc.integer({ min: 1, max: JOBS }),
    }),
    fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 1500 }) }),
    fc.record({ kind: fc.constant("kill" as const) }),
  );

  test("exactly as many jobs run as allowed, and all end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const clock = new FakeClock();
        const machine = new FakeMachine({ clock, runMs: (job) => 300 * (1 + (job % 4)) });
        const options = { config, clock, machine, cpus: JOBS, path: join(folder, `${files++}.db`) };
        let bench = makeBench(options);
        await submitArray(bench, JOBS, MOST);
        for (const one of steps) {
          const { frontEnd } = bench;
          if (one.kind === "pass") clock.advanceTo(clock.nowMs() + one.ms);
          else if (one.kind === "kill") {
            bench.kill();
            bench = makeBench(options);
          } else if (one.kind === "lower")
            await answerOf(clock, frontEnd.setPriority(ROOT, one.job, -one.job));
          else await answerOf(clock, frontEnd[one.kind](ROOT, one.job));
          clock.settle();
          // There are enough CPUs, so only the limit keeps jobs waiting.
          const waiting = inState(bench, "queued").length;
          const going = running(bench).length;
          expect(going).toBeLessThanOrEqual(MOST);
          if (waiting > 0) expect(going).toBe(MOST);
        }
        for (let job = 1; job <= JOBS; job++) await answerOf(clock, bench.frontEnd.release(ROOT, job));
        runToEnd(clock);
        expect(inState(bench, "done", "failed", "cancelled")).toHaveLength(JOBS);
        bench.kill();
      }),
      { numRuns: 150 },
    );
  });
});
