/** Tests what jobs may wait for: a failure, the same index of another array, earlier jobs of a name. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import type { Caller } from "../contract/service.ts";
import { Store } from "../store/store.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-waits-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fcfs = { config: { policy: "fcfs" } };
const submit = (bench: Bench, fields: Partial<SubmitJob>, caller: Caller = ANNA) =>
  answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)]));
const states = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ state }) => state);
const starts = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ startedAtMs }) => startedAtMs);
const notok = (job: number) => ({ job, ok: false, kind: "notok" as const });
const each = (job: number) => ({ job, ok: true, kind: "each" as const });

describe("a job that waits for a failure", () => {
  test("runs if the other one fails or is cancelled, and is cancelled if it succeeds, with the reason", async () => {
    const bench = makeBench({ ...fcfs, ends: (job) => ({ code: job === 1 ? 3 : 0 }) });
    for (let i = 0; i < 3; i++) await submit(bench, {});
    for (const job of [1, 2, 3]) await submit(bench, { after: [notok(job)] });
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 3));
    runToEnd(bench.clock);
    expect(states(bench).slice(3)).toEqual(["done", "cancelled", "done"]);
    expect(bench.frontEnd.job(ANNA, 5)).toMatchObject({ reason: "job 2 succeeded" });
    // The same for jobs that have ended before.
    const late = await Promise.all([1, 2, 3].map((job) => submit(bench, { after: [notok(job)] })));
    expect(late).toMatchObject([
      { jobs: [{ state: "queued" }] },
      { jobs: [{ state: "cancelled", reason: "job 2 succeeded" }] },
      { jobs: [{ state: "queued" }] },
    ]);
  });

  test("is cancelled by the next front end if the other one succeeded just before a kill", async () => {
    const path = join(folder, "notok.db");
    const first = makeBench({ ...fcfs, path });
    const { clock, machine } = first;
    await submit(first, {});
    await submit(first, { after: [notok(1)] });
    const { commit } = first.store;
    first.store.commit = () => {
      commit.call(first.store);
      if (first.store.job(1)?.state === "done") first.kill();
    };
    clock.advanceTo(1000);
    const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
    runToEnd(clock);
    expect(states(second)).toEqual(["done", "cancelled"]);
    second.kill();
  });
});

describe("a job of an array that waits for the one with its index", () => {
  test("starts when that has succeeded, and alone is cancelled when it fails", async () => {
    const bench = makeBench({
      ...fcfs,
      cpus: 6,
      runMs: (job) => (job <= 3 ? job * 1000 : 500),
      ends: (job) => ({ code: job === 2 ? 1 : 0 }),
    });
    await submit(bench, { array: "10,20,30" });
    // Any job of the array names it; a subset of its indices is enough.
    expect(await submit(bench, { array: "10-30:10", after: [each(2)] })).toMatchObject({
      jobs: [{ after: [1] }, { after: [2] }, { after: [3] }],
    });
    await submit(bench, { array: "30", after: [each(1)] });
    runToEnd(bench.clock);
    expect(starts(bench)).toEqual([0, 0, 0, 1000, undefined, 3000, 3000]);
    expect(states(bench)).toEqual(["done", "failed", "done", "done", "cancelled", "done", "done"]);
    // After the ends, the decision is the same at once.
    expect(await submit(bench, { array: "10,20", after: [each(1)] })).toMatchObject({
      jobs: [{ state: "queued" }, { state: "cancelled", reason: "job 2 did not succeed" }],
    });
  });

  test("is refused without an array on both sides, and for an index that is not there", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, { array: "1-3" });
    await submit(bench, {});
    const ask = (fields: Partial<SubmitJob>) => submit(bench, fields);
    expect(await ask({ after: [each(1)] })).toMatchObject({
      message: expect.stringContaining("is not an array"),
    });
    expect(await ask({ array: "1", after: [each(4)] })).toMatchObject({
      message: expect.stringContaining("it belongs to no array"),
    });
    expect(await ask({ array: "3-4", after: [each(1)] })).toMatchObject({
      refused: "invalid",
      message:
        "Cannot wait for index 4 of array 1: that array has no job with this index; expected some of 1, 2, 3",
    });
  });
});

describe("a singleton", () => {
  test("runs when all earlier jobs of its user with its name have ended, one after the other", async () => {
    const bench = makeBench({ ...fcfs, cpus: 8 });
    const nightly = { name: "nightly", singleton: true };
    await submit(bench, { name: "nightly" });
    await submit(bench, nightly);
    await submit(bench, nightly);
    await submit(bench, { name: "other", singleton: true });
    await submit(bench, nightly, BEN);
    expect(await bench.frontEnd.why(ANNA, 3)).toMatchObject({
      obstacles: [{ kind: "dependency", jobs: [1, 2] }],
    });
    runToEnd(bench.clock);
    expect(starts(bench)).toEqual([0, 1000, 2000, 0, 0]);
  });

  test("goes on when the one before is cancelled, also one that waits, and after a restart", async () => {
    const path = join(folder, "singleton.db");
    const first = makeBench({ ...fcfs, path });
    const { clock, machine } = first;
    await submit(first, { name: "a", held: true });
    for (let i = 0; i < 3; i++) await submit(first, { name: "a", singleton: true });
    await answerOf(clock, first.frontEnd.cancel(ANNA, 3));
    first.kill();
    const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
    clock.advanceTo(5000);
    await answerOf(clock, second.frontEnd.cancel(ANNA, 1));
    runToEnd(clock);
    expect(starts(second)).toEqual([undefined, 5000, undefined, 6000]);
    second.kill();
  });

  test("an array of singletons runs one job at a time", async () => {
    const bench = makeBench({ ...fcfs, cpus: 4 });
    await submit(bench, { name: "s", array: "0-4", singleton: true });
    runToEnd(bench.clock);
    expect(starts(bench)).toEqual([0, 1000, 2000, 3000, 4000]);
  });
});
