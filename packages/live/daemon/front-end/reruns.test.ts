/** Tests jobs that run again after their end: what they have, how long it is kept, and whose they are. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
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

const folder = mkdtempSync(join(tmpdir(), "tutti-reruns-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fcfs = { config: { policy: "fcfs" } };
const submit = (bench: Bench, fields: Partial<SubmitJob>, caller: Caller = ANNA) =>
  answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)]));
const rerun = (bench: Bench, jobs: readonly number[], caller: Caller = ANNA, key?: string) =>
  answerOf(bench.clock, bench.frontEnd.rerun(caller, jobs, key));
const launchesOf = ({ machine }: Bench, job: number) =>
  machine.sent.flatMap((command) =>
    command.type === "launch" && command.spec.job === job ? [command.spec] : [],
  );
const script = (text: string) => ({ base64: Buffer.from(text).toString("base64"), word: 1 });

describe("a job that runs again", () => {
  test("has the same spec, environment, script and mask, and its own output file", async () => {
    const bench = makeBench(fcfs);
    const fields = {
      command: ["sh", "/home/a/job.sh", "x"],
      script: script("echo $1\n"),
      env: { PATH: "/bin", A: "1" },
      cwd: "/work",
      name: "sweep",
      tasks: 2,
      limitMs: 60_000,
      retries: 2,
      retryOn: ["75"],
      umask: "027",
      stdout: "out-%j.txt",
      priority: -5,
    };
    await submit(bench, fields);
    runToEnd(bench.clock);
    const events: DaemonEvent[] = [];
    bench.frontEnd.listen(ANNA, bench.frontEnd.latestEvent(), (event) => events.push(event));
    expect(await rerun(bench, [1])).toMatchObject({
      jobs: [
        {
          job: 2,
          repeats: 1,
          user: "anna",
          command: fields.command,
          name: "sweep",
          tasks: 2,
          limitMs: 60_000,
          retries: 2,
          retryOn: ["75"],
          priority: -5,
          stdout: "/work/out-2.txt",
        },
      ],
    });
    expect(events[0]).toMatchObject({ kind: "submitted", job: 2, data: { repeats: 1 } });
    const [first] = launchesOf(bench, 1);
    const [second] = launchesOf(bench, 2);
    expect(second).toMatchObject({ env: { PATH: "/bin", A: "1" }, cwd: "/work", umask: first.umask });
    const { script: id } = bench.store.job(2)!;
    expect(Buffer.from(bench.store.contents.script(id!)!).toString()).toBe("echo $1\n");
    // Once more, of the repetition.
    runToEnd(bench.clock);
    expect(await rerun(bench, [2])).toMatchObject({
      jobs: [{ job: 3, repeats: 2, stdout: "/work/out-3.txt" }],
    });
  });

  test("is in the queue that was named, or in one that is chosen again", async () => {
    const queueClass = (name: string, processors: number) => ({
      queueClass: { name, processors, processes: processors, threads: 1 },
    });
    const queues = [queueClass("small", 1), queueClass("large", 4)];
    const bench = makeBench({ config: { policy: "fcfs", queues: queues as never } });
    await submit(bench, { queue: "large" });
    await submit(bench, {});
    runToEnd(bench.clock);
    expect(await rerun(bench, [1, 2])).toMatchObject({ jobs: [{ queue: "large" }, { queue: "small" }] });
  });

  test("of an array, only the selected ones run, as an array with their indices and its limit", async () => {
    const bench = makeBench({ ...fcfs, ends: (job) => ({ code: [2, 5].includes(job) ? 1 : 0 }) });
    await submit(bench, { array: "10-60:10%1" });
    await submit(bench, { name: "single" });
    runToEnd(bench.clock);
    expect(await rerun(bench, [2, 5, 7])).toMatchObject({
      jobs: [
        { job: 8, array: 8, arrayIndex: 20, repeats: 2 },
        { job: 9, array: 8, arrayIndex: 50, repeats: 5 },
        { job: 10, name: "single", repeats: 7 },
      ],
    });
    bench.clock.settle();
    expect(bench.frontEnd.jobs(ANNA, { states: ["running"] }).map(({ job }) => job)).toEqual([8, 10]);
    expect(launchesOf(bench, 8)[0].env).toMatchObject({ TUTTI_ARRAY_INDEX: "20", TUTTI_ARRAY_JOB_ID: "8" });
  });

  test("one that has not ended, or of another user, refuses the whole request; a key makes it harmless", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, {});
    await submit(bench, { held: true });
    bench.clock.advanceTo(2000);
    expect(await rerun(bench, [1, 2])).toMatchObject({
      refused: "wrong-state",
      message: expect.stringContaining("Cannot run job 2 again: it is held"),
    });
    expect(await rerun(bench, [1], BEN)).toMatchObject({ refused: "not-found" });
    expect(await rerun(bench, [1], ANNA, "k")).toMatchObject({ jobs: [{ job: 3 }] });
    expect(await rerun(bench, [1], ANNA, "k")).toMatchObject({ jobs: [{ job: 3 }] });
  });

  test("an administrator's request makes a job of the first one's user, never of root", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, {});
    runToEnd(bench.clock);
    expect(await rerun(bench, [1], ROOT)).toMatchObject({ jobs: [{ job: 2, user: "anna" }] });
    expect(bench.frontEnd.ownerOf(ROOT, 2)).toBe(ANNA.uid);
  });

  test("a job that was cancelled since another one failed can run again, and no longer waits for it", async () => {
    const bench = makeBench({ ...fcfs, ends: (job) => ({ code: job === 1 ? 1 : 0 }) });
    await submit(bench, {});
    await submit(bench, { after: [{ job: 1, ok: true }], env: { B: "2" } });
    bench.clock.advanceTo(1500);
    await submit(bench, { after: [{ job: 1, ok: true }], env: { C: "3" } });
    expect(await rerun(bench, [2, 3])).toMatchObject({ jobs: [{ after: [] }, { after: [] }] });
    runToEnd(bench.clock);
    expect([launchesOf(bench, 4)[0].env, launchesOf(bench, 5)[0].env]).toMatchObject([
      { B: "2" },
      { C: "3" },
    ]);
  });
});

describe("what is kept of ended jobs", () => {
  /** A megabyte each. */
  const large = (i: number) => ({
    command: ["sh", "x"],
    script: script(`${i} ${"#".repeat(2 ** 20 - 100)}`),
  });

  test("is at most 8 MiB per user: the first ends lose theirs, also after a restart, and nobody else's", async () => {
    const path = join(folder, "kept.db");
    const first = makeBench({ ...fcfs, path });
    const { clock, machine } = first;
    await submit(first, large(0), BEN);
    for (let i = 1; i <= 6; i++) await submit(first, large(i));
    runToEnd(clock);
    first.kill();
    const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
    for (let i = 7; i <= 9; i++) await submit(second, large(i));
    runToEnd(clock);
    // Jobs 2 to 10 are Anna's: eight scripts and their environment fit.
    expect(await rerun(second, [2])).toMatchObject({
      refused: "wrong-state",
      message: expect.stringContaining("no longer kept"),
    });
    const { contents } = second.store;
    expect(contents.find(contents.ofScript(large(1).script.base64))).toBeUndefined();
    for (const job of [3, 10]) expect(await rerun(second, [job])).toHaveProperty("jobs.length", 1);
    expect(await rerun(second, [1], BEN)).toHaveProperty("jobs.length", 1);
    second.kill();
  });

  test("goes when the job is forgotten", async () => {
    const bench = makeBench({ config: { policy: "fcfs", keepDays: 1 } });
    const { contents } = bench.store;
    await submit(bench, { env: { OLD: "1" } });
    runToEnd(bench.clock);
    bench.clock.advanceTo(2 * 86_400_000);
    while (bench.frontEnd.retention.step());
    expect(contents.find(contents.ofEnvironment({ OLD: "1" }))).toBeUndefined();
  });

  test("a cycle that the disk refuses changes nothing of it", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, { env: { A: "1" }, held: true });
    const { commit } = bench.store;
    bench.store.commit = () => {
      bench.store.commit = commit;
      throw new Error("database or disk is full");
    };
    expect(await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1))).toMatchObject({
      refused: "unavailable",
    });
    expect(await rerun(bench, [1])).toMatchObject({ refused: "wrong-state" });
    bench.clock.advanceTo(5000);
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
    expect(await rerun(bench, [1])).toMatchObject({ jobs: [{ job: 2 }] });
  });
});
