/** Tests which jobs and events are forgotten, which are never forgotten, and what users see of this. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { startFrontEnd } from "../main.ts";
import { Store } from "../store/store.ts";
import { ANNA, answerOf, BEN, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "tutti-retention-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));

function forgetAll({ frontEnd }: ReturnType<typeof makeBench>): number {
  let steps = 0;
  while (frontEnd.retention.step()) steps++;
  return steps;
}

describe("Retention", () => {
  test("forgets old ended jobs with all their data, and no job that has not ended", async () => {
    const bench = makeBench({ config: { policy: "fcfs", keepDays: 2 } });
    const { clock, frontEnd, machine, store } = bench;
    const script = { base64: Buffer.from("true").toString("base64"), word: 0 };
    await answerOf(clock, frontEnd.submit(ANNA, [request({ env: { OLD: "1" }, script })], "k"));
    await answerOf(clock, frontEnd.submit(ANNA, [request({ held: true, env: { NEW: "1" } })]));
    clock.advanceTo(DAY_MS);
    await answerOf(clock, frontEnd.submit(ANNA, [request({ env: { NEW: "1" } })]));
    clock.advanceTo(DAY_MS + 5000);
    expect(frontEnd.retention.step()).toBe(false);
    const [first] = machine.sent.flatMap((command) => (command.type === "launch" ? [command.spec] : []));
    expect(store.knowsAttempt(first, first.identity)).toBe(true);
    expect(frontEnd.status()).not.toHaveProperty("keptSinceMs");
    clock.advanceTo(2 * DAY_MS + 5000);
    expect(forgetAll(bench)).toBe(1);
    expect(frontEnd.jobs(ROOT, {}).map(({ job }) => job)).toEqual([2, 3]);
    expect(frontEnd.status()).toMatchObject({ counts: { held: 1, done: 1 }, keptSinceMs: 1000 });
    expect(store.knowsAttempt(first, first.identity)).toBe(false);
    expect(store.contents.environment(store.job(2)!.environment)).toEqual({ NEW: "1" });
    expect(store.eventsAfter(0, 100).every(({ event }) => event.atMs >= 5000)).toBe(true);
    expect([...frontEnd.exportSwf(ROOT)].join("")).toContain(
      "; Note: jobs that ended before 1970-01-01T00:00:01.000Z were forgotten",
    );
    // The key can be used for another job.
    const again = await answerOf(clock, frontEnd.submit(ANNA, [request()], "k"));
    expect(again).toMatchObject({ jobs: [{ job: 4 }] });
  });

  test("keeps the last ended jobs, for every number of jobs, ends and limits", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 130 }),
        fc.integer({ min: 1, max: 60 }),
        async (runMs, keepJobs) => {
          const bench = makeBench({
            config: { policy: "fcfs", keepJobs },
            runMs: (job) => runMs[job - 1],
          });
          const { clock, frontEnd, store } = bench;
          await answerOf(clock, frontEnd.submit(ANNA, [...runMs.map(() => request())]));
          clock.advanceTo(40_000);
          const before = frontEnd.jobs(ROOT, { last: 1000 });
          const ended = before.filter(({ endedAtMs }) => endedAtMs !== undefined);
          forgetAll(bench);
          const kept = [...ended]
            .sort((a, b) => a.endedAtMs! - b.endedAtMs! || a.job - b.job)
            .slice(-keepJobs)
            .map(({ job }) => job);
          const live = before.filter(({ endedAtMs }) => endedAtMs === undefined).map(({ job }) => job);
          expect(frontEnd.jobs(ROOT, { last: 1000 }).map(({ job }) => job)).toEqual(
            [...kept, ...live].sort((a, b) => a - b),
          );
          const { done } = frontEnd.status().counts;
          expect(done).toBe(kept.length);
          expect(store.kept.counts().find(({ state }) => state === "done")?.jobs ?? 0).toBe(kept.length);
          expect(store.kept.leftovers(0, 1000)).toHaveLength(ended.length - kept.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("numbers of jobs and events are never reused, even after a restart with nothing kept", async () => {
    const path = join(folder, "numbers.db");
    const bench = makeBench({ config: { policy: "fcfs", keepDays: 1 }, path });
    await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(), request()]));
    bench.clock.advanceTo(2 * DAY_MS);
    const latest = bench.store.latestEvent();
    forgetAll(bench);
    expect(bench.store.eventsAfter(0, 100)).toHaveLength(1);
    bench.kill();
    const { clock, machine } = bench;
    const after = makeBench({
      config: { policy: "fcfs", keepDays: 1 },
      clock,
      machine,
      store: new Store(path, 0),
    });
    const answer = await answerOf(clock, after.frontEnd.submit(ANNA, [request()]));
    expect(answer).toMatchObject({ jobs: [{ job: 3 }] });
    expect(after.store.eventsAfter(latest, 100)[0]?.event.sequence).toBe(latest + 1);
    expect(after.frontEnd.status().keptSinceMs).toBe(1000);
    after.kill();
  });

  test("a request for a forgotten job is answered so; a job may wait for any end of it", async () => {
    const bench = makeBench({ config: { policy: "fcfs", keepJobs: 1, keepDays: 7 } });
    const { clock, frontEnd } = bench;
    await answerOf(clock, frontEnd.submit(ANNA, [request(), request(), request({ held: true })]));
    clock.advanceTo(5000);
    forgetAll(bench);
    const forgotten = /forgotten \(ended jobs are kept for 7 days, at most 1 of them\)/;
    expect(frontEnd.job(BEN, 1)).toMatchObject({
      refused: "not-found",
      message: expect.stringMatching(forgotten),
    });
    expect(frontEnd.job(BEN, 2)).toMatchObject({ message: expect.stringMatching(/there is no such job/) });
    expect(frontEnd.job(ANNA, 9)).toMatchObject({ message: expect.stringMatching(/there is no such job/) });
    const waitFor = (job: number, ok: boolean) =>
      answerOf(clock, frontEnd.submit(ANNA, [request({ after: [{ job, ok }] })]));
    expect(await waitFor(1, true)).toMatchObject({
      refused: "invalid",
      message: expect.stringMatching(forgotten),
    });
    expect(await waitFor(9, false)).toMatchObject({ message: expect.stringMatching(/no such job/) });
    expect(await waitFor(1, false)).toMatchObject({ jobs: [{ job: 4, state: "queued" }] });
    clock.advanceTo(8000);
    expect(frontEnd.job(ANNA, 4)).toMatchObject({ state: "done" });
  });

  test("a forgotten job with many dependents is looked up once", async () => {
    const bench = makeBench({ config: { policy: "fcfs", keepJobs: 1 } });
    const { clock, frontEnd, store } = bench;
    await answerOf(clock, frontEnd.submit(ANNA, [request(), request()]));
    clock.advanceTo(5000);
    forgetAll(bench);
    const lookUp = vi.spyOn(store, "job");
    const after = Array.from({ length: 1000 }, () => ({ job: 1, ok: false }));
    const answer = await answerOf(clock, frontEnd.submit(ANNA, Array(20).fill(request({ after }))));
    expect(answer).toMatchObject({ jobs: { length: 20 } });
    expect(lookUp.mock.calls.length).toBeLessThan(5);
  });

  test("if the store refuses, the step is rolled back and repeated later", async () => {
    const bench = makeBench({ config: { policy: "fcfs", keepJobs: 1 } });
    const { clock, frontEnd, store } = bench;
    await answerOf(clock, frontEnd.submit(ANNA, [request(), request()]));
    clock.advanceTo(5000);
    const commit = vi.spyOn(store, "commit").mockImplementationOnce(() => {
      throw new Error("database or disk is full");
    });
    expect(frontEnd.retention.step()).toBe(false);
    expect(frontEnd.jobs(ROOT, {})).toHaveLength(2);
    expect(frontEnd.status().counts.done).toBe(2);
    commit.mockRestore();
    expect(frontEnd.retention.step()).toBe(true);
    expect(frontEnd.jobs(ROOT, {})).toHaveLength(1);
  });

  test("if the disk refuses after a folder was removed, nothing is disturbed, and the note is removed later", async () => {
    const bench = makeBench({ config: { policy: "fcfs", keepJobs: 1 } });
    const { clock, frontEnd, store } = bench;
    await answerOf(clock, frontEnd.submit(ANNA, [request(), request()]));
    clock.advanceTo(5000);
    forgetAll(bench);
    expect(store.kept.leftovers(0, 9)).toEqual([1]);
    const forget = vi.spyOn(store.kept, "forgetLeftovers").mockImplementation(() => {
      throw new Error("database or disk is full");
    });
    const pass = () => new Promise((resolve) => setImmediate(resolve));
    frontEnd.retention.start();
    clock.advanceTo(10_000);
    await vi.waitUntil(() => forget.mock.calls.length > 0, 120_000);
    await pass();
    expect(await answerOf(clock, frontEnd.submit(ANNA, [request()]))).toMatchObject({ jobs: [{ job: 3 }] });
    forget.mockRestore();
    clock.advanceTo(100_000);
    await vi.waitUntil(() => store.kept.leftovers(0, 9).length === 0, 120_000);
    frontEnd.stop();
  });

  test("folders are removed after the store has forgotten their jobs, even if the front end was killed in between", async () => {
    const state = join(folder, "state");
    const jobs = join(state, "jobs");
    const first = await startFrontEnd({ stateFolder: state, isShared: false });
    await first.stop();
    const store = new Store(join(state, "tutti.db"));
    for (const job of [1, 2, 3]) {
      mkdirSync(join(jobs, String(job), "1"), { recursive: true });
      writeFileSync(join(jobs, String(job), "stdout"), "some output");
    }
    // The state after a kill: job 1 is forgotten and half of its folder removed; job 3 exists.
    rmSync(join(jobs, "1", "stdout"));
    store.begin();
    const gone = { uid: 1001, state: "done", wasStarted: true, bytes: 0 } as const;
    store.kept.forgetJobs([{ job: 1, endedAtMs: 1, ...gone }]);
    store.kept.forgetJobs([{ job: 2, endedAtMs: 2, ...gone }]);
    store.commit();
    store.close();
    const second = await startFrontEnd({ stateFolder: state, isShared: false });
    await vi.waitUntil(() => !existsSync(join(jobs, "1")) && !existsSync(join(jobs, "2")), {
      timeout: 120_000,
    });
    expect(existsSync(join(jobs, "3", "stdout"))).toBe(true);
    await second.service.shutdown(ROOT, true);
    await second.stop();
  });
});
