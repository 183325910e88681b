/** Tests arrays with values: what their jobs get, how they run again, and what is refused whole. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import {
  ANNA,
  answerOf,
  type Bench,
  type BenchOptions,
  makeBench,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-sweeps-"));
afterAll(() => rmSync(folder, { recursive: true }));

const bench = (options: BenchOptions = {}) => makeBench({ config: { policy: "fcfs" }, ...options });
const submit = (bench: Bench, ...jobs: Partial<SubmitJob>[]) =>
  answerOf(bench.clock, bench.frontEnd.submit(ANNA, jobs.map(request)));
const launchesOf = ({ machine }: Bench) =>
  machine.sent.flatMap((command) => (command.type === "launch" ? [command.spec] : []));

const SWEEP = {
  command: ["./train", "--lr={lr}", "{seed}", "{other}"],
  values: { lr: ["0.1", "0.01", "a'$(id)\n"], seed: ["1", "2", "3"] },
  env: { PATH: "/bin", seed: "mine" },
  stdout: "out/{lr}-%a-{nothing}.txt",
} satisfies Partial<SubmitJob>;

describe("an array with values", () => {
  test("gives each job its values, in its environment, its command and its files", async () => {
    const at = bench();
    expect(await submit(at, { ...SWEEP, array: "5-15:5%2", cwd: "/work" })).toMatchObject({
      jobs: [
        {
          ...{ job: 1, array: 1, arrayIndex: 5, values: { lr: "0.1", seed: "1" } },
          command: ["./train", "--lr=0.1", "1", "{other}"],
          stdout: "/work/out/0.1-5-{nothing}.txt",
        },
        { job: 2, array: 1, arrayIndex: 10, values: { lr: "0.01", seed: "2" } },
        // No shell reads a value.
        { job: 3, command: ["./train", "--lr=a'$(id)\n", "3", "{other}"] },
      ],
    });
    at.clock.settle();
    expect(at.frontEnd.jobs(ANNA, { states: ["running"] })).toHaveLength(2);
    runToEnd(at.clock);
    expect(launchesOf(at)).toMatchObject([
      { command: ["./train", "--lr=0.1", "1", "{other}"], env: { PATH: "/bin", lr: "0.1", seed: "1" } },
      { command: ["./train", "--lr=0.01", "2", "{other}"], env: { lr: "0.01", seed: "2" } },
      { env: { lr: "a'$(id)\n", TUTTI_ARRAY_INDEX: "15" } },
    ]);
  });

  test("has indices from 1 if it names none", async () => {
    const at = bench();
    const answer = await submit(at, { values: { x: ["a", "b"] } });
    expect(answer).toMatchObject({ jobs: [{ arrayIndex: 1 }, { arrayIndex: 2 }] });
    expect(await submit(at, { values: { x: ["a", "b"] }, array: "%1" })).toMatchObject({
      jobs: [{ arrayIndex: 1 }, { arrayIndex: 2 }],
    });
    expect(await submit(at, { values: { x: ["a"] } })).toMatchObject({ jobs: [{ job: 5, array: 5 }] });
  });

  test("slashes of values make no folders", async () => {
    const values = { TUTTI_LINE: ["../../etc/passwd"] };
    expect(await submit(bench(), { values, stdout: "out/{}.%a", cwd: "/work" })).toMatchObject({
      jobs: [{ stdout: "/work/out/.._.._etc_passwd.1" }],
    });
  });

  test("OMP_NUM_THREADS may be a variable", async () => {
    const at = bench();
    await submit(at, { values: { OMP_NUM_THREADS: ["2", "4"] }, threads: 4 });
    runToEnd(at.clock);
    expect(launchesOf(at).map(({ env }) => env.OMP_NUM_THREADS)).toEqual(["2", "4"]);
  });

  test("keeps its values in the store, and runs again with them", async () => {
    const path = join(folder, "again.db");
    const before = bench({ path, ends: (job) => ({ code: job === 2 ? 0 : 1 }) });
    await submit(before, SWEEP);
    runToEnd(before.clock);
    before.kill();
    const after = bench({ path, clock: before.clock });
    expect(after.frontEnd.jobs(ANNA, { states: ["failed"] })).toMatchObject([
      { job: 1, values: { lr: "0.1", seed: "1" }, command: ["./train", "--lr=0.1", "1", "{other}"] },
      { job: 3, values: { lr: "a'$(id)\n", seed: "3" } },
    ]);
    const answer = await answerOf(after.clock, after.frontEnd.rerun(ANNA, [1, 3]));
    expect(answer).toMatchObject({
      jobs: [
        { job: 4, array: 4, arrayIndex: 1, repeats: 1, values: { lr: "0.1", seed: "1" } },
        { job: 5, array: 4, arrayIndex: 3, repeats: 3, values: { lr: "a'$(id)\n", seed: "3" } },
      ],
    });
    runToEnd(after.clock);
    expect(launchesOf(after)).toMatchObject([
      { command: ["./train", "--lr=0.1", "1", "{other}"], env: { PATH: "/bin", seed: "1" } },
      { env: { PATH: "/bin", seed: "3" } },
    ]);
  });

  test("is refused whole if it cannot be carried out", async () => {
    const at = bench();
    const long = "x".repeat(131_071);
    const refusals: readonly (readonly [Partial<SubmitJob>, RegExp])[] = [
      [{ values: { a: ["1", "2"], b: ["1"] } }, /the variables have 2, 1 values, expected as many for each/],
      [
        { values: { a: ["1", "2"] }, array: "1-3" },
        /the array "1-3": it has 3 jobs, and each variable has 2 values/,
      ],
      [{ values: { a: [long] } }, /one string has more than 131071/],
      [{ values: { a: ["x", "y".repeat(70_000)] }, command: ["{a}{a}"] }, /one string has more than 131071/],
      [{ values: { a: ["y".repeat(60_000)] }, command: Array(20).fill("{a}") }, /more than 1000000 bytes/],
      // A body of 200 kB that would be 10 GB.
      [
        { values: { a: Array(10_000).fill("0123456789") }, command: Array(50_000).fill("{a}") },
        /these 10000 jobs: their commands, values, paths and dependencies have more than 67108864 bytes together/,
      ],
    ];
    for (const [job, message] of refusals) {
      expect(await submit(at, job)).toMatchObject({ message: expect.stringMatching(message) });
    }
    expect(at.frontEnd.jobs(ANNA, {})).toEqual([]);
    expect(await submit(at, {})).toMatchObject({ jobs: [{ job: 1 }] });
  });
});

describe("entries of one request", () => {
  test("wait for earlier ones: for all jobs of an array, or for the one with their index", async () => {
    const at = bench();
    const answer = await submit(
      at,
      { name: "prepare" },
      { name: "fit", values: { x: ["a", "b"] }, after: [{ entry: 0, ok: true }] },
      { name: "judge", array: "1-2", after: [{ entry: 1, ok: true, kind: "each" }] },
      {
        name: "report",
        after: [
          { entry: 1, ok: false },
          { entry: 0, ok: true },
        ],
      },
    );
    expect(answer).toMatchObject({
      jobs: [
        { job: 1, name: "prepare", after: [] },
        { job: 2, array: 2, after: [1] },
        { job: 3, array: 2, after: [1] },
        { job: 4, array: 4, after: [2] },
        { job: 5, array: 4, after: [3] },
        { job: 6, name: "report", after: [2, 3, 1] },
      ],
    });
    const runningAt = (ms: number) => {
      at.clock.advanceTo(ms);
      return at.frontEnd.jobs(ANNA, { states: ["running"] }).map(({ job }) => job);
    };
    // Each job runs for a second, and there are four CPUs.
    const startMs = at.clock.nowMs();
    expect([500, 1500, 2500].map((ms) => runningAt(startMs + ms))).toEqual([[1], [2, 3], [4, 5, 6]]);
  });

  test("are cancelled with the job for which they wait, at once if it is", async () => {
    const at = bench({ ends: (job) => ({ code: job === 1 ? 1 : 0 }) });
    await submit(
      at,
      {},
      { after: [{ entry: 0, ok: true }] },
      { after: [{ entry: 0, ok: false, kind: "notok" }] },
    );
    runToEnd(at.clock);
    expect(at.frontEnd.jobs(ANNA, {}).map(({ state }) => state)).toEqual(["failed", "cancelled", "done"]);
    const after = [{ job: 1, ok: true }];
    const answer = await submit(
      at,
      { after },
      { after: [{ entry: 0, ok: true }] },
      { after: [{ entry: 0, ok: false }] },
    );
    expect(answer).toMatchObject({
      jobs: [{ state: "cancelled" }, { state: "cancelled" }, { state: "queued" }],
    });
    runToEnd(at.clock);
    expect(at.frontEnd.jobs(ANNA, { states: ["done"] }).map(({ job }) => job)).toEqual([3, 6]);
  });

  test("a restarted front end knows what they wait for", async () => {
    const path = join(folder, "entries.db");
    const before = bench({ path });
    await submit(before, { array: "1-3", held: true }, { after: [{ entry: 0, ok: true }] });
    before.kill();
    const after = bench({ path, clock: before.clock });
    expect(after.frontEnd.job(ANNA, 4)).toMatchObject({ state: "queued", after: [1, 2, 3] });
    for (const job of [1, 2, 3]) await answerOf(after.clock, after.frontEnd.release(ANNA, job));
    runToEnd(after.clock);
    expect(after.frontEnd.job(ANNA, 4)).toMatchObject({ state: "done" });
  });

  test("are refused whole if one cannot be accepted", async () => {
    const at = bench();
    const refusals: readonly (readonly [readonly Partial<SubmitJob>[], RegExp])[] = [
      [
        [{ after: [{ entry: 0, ok: true }] }],
        /entry 0 of the request: job 0 of it .* can only wait for earlier ones/,
      ],
      [
        [{}, { after: [{ entry: 5, ok: true }] }],
        /entry 5 of the request: job 1 of it .*expected less than 1/,
      ],
      [
        [{}, { array: "1-2", after: [{ entry: 0, ok: true, kind: "each" }] }],
        /each job of entry 0 .*that has no index 1/,
      ],
      [
        [{ array: "1-2" }, { after: [{ entry: 0, ok: true, kind: "each" }] }],
        /each job of entry 0 .*no array/,
      ],
      [[{ array: "1-6000" }, { array: "1-6000" }], /more than 10000 jobs in one request/],
      [
        [{ array: "1-5000" }, { array: "1-5000", after: [{ entry: 0, ok: true }] }],
        /these 10000 jobs: .*dependencies have more than 67108864 bytes/,
      ],
      [[{}, { command: ["a"], tasks: 99 }], /Cannot run 99 tasks/],
    ];
    for (const [jobs, message] of refusals) {
      expect(await submit(at, ...jobs)).toMatchObject({ message: expect.stringMatching(message) });
    }
    expect(at.frontEnd.jobs(ANNA, {})).toEqual([]);
    const many = await submit(at, { array: "1-5000" }, { after: [{ entry: 0, ok: true }] });
    expect(many).toMatchObject({ jobs: expect.arrayContaining([expect.objectContaining({ job: 5001 })]) });
  });
});
