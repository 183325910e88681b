/**
 * Tests lists, ranges, waits and batches with the real command line, on a real scheduler with more jobs than
 * fit into one page.
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fillStore } from "@tutti/live/daemon/store/fill-for-tests.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measureListing } from "../bench/listing.ts";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const { uid, username } = userInfo();
const ENDED = 1500;
const HELD = 1200;
let scheduler: LiveScheduler;

beforeAll(async () => {
  scheduler = new LiveScheduler();
  mkdirSync(scheduler.state, { mode: 0o700 });
  fillStore(join(scheduler.state, "tutti.db"), {
    ...{ uid, user: username, ended: ENDED, held: HELD },
    // The first twenty fail. The first five of them have even been forgotten.
    codeOf: (job) => (job <= 20 ? 3 : 0),
    isForgotten: (job) => job <= 5,
  });
  await scheduler.start();
});
afterAll(async () => {
  await scheduler.clear();
});

describe("ranges over old jobs", () => {
  const tutti = (...words: string[]) => startTutti(scheduler.socket, words).result;

  test("wait ends with 1 where jobs of the range have failed, however long ago", async () => {
    expect(await tutti("wait", "6-1500")).toMatchObject({
      status: 1,
      stderr: "15 failed, 1,480 done\n",
    });
    expect(await tutti("wait", "6-20")).toMatchObject({ status: 1 });
    expect(await tutti("wait", "20")).toMatchObject({ status: 1 });
    expect(await tutti("wait", "21-1500")).toMatchObject({ status: 0, stderr: "1,480 done\n" });
    const { stdout } = await tutti("wait", "15-22");
    expect(stdout.match(/failed with exit code 3/g)).toHaveLength(6);
    expect(stdout.match(/succeeded/g)).toHaveLength(2);
  });

  test("forgotten and unused numbers are reported and never taken for jobs that ended well", async () => {
    const forgotten = "jobs 1-5 are forgotten";
    const some = await tutti("wait", "1-5,21-30", "1-22");
    expect(some).toMatchObject({ status: 5, stdout: "" });
    expect(some.stderr).toContain(`Cannot find a job for "1-5,21-30": ${forgotten}`);
    const rest = await tutti("wait", "1-8", "21-30");
    expect(rest).toMatchObject({
      status: 1,
      stderr: `tutti: ${forgotten}, so it is unknown how they ended\n3 failed, 10 done\n`,
    });
    // Of more than ten jobs, only those that did not succeed have a line.
    expect(rest.stdout.trimEnd().split("\n")).toHaveLength(3);
    const later = await tutti("wait", "2701-2709");
    expect(later.status).toBe(5);
    expect(later.stderr).toContain("there are no jobs 2701-2709 yet");
  });

  test("show, jobs and patterns find them too", async () => {
    expect((await tutti("show", "40-60")).stdout.match(/^job \d+:/gm)).toHaveLength(21);
    const jobs = JSON.parse((await tutti("jobs", "--json", "40-60")).stdout);
    expect(jobs.jobs.map(({ job }: { job: number }) => job)).toEqual(
      Array.from({ length: 21 }, (_, i) => 40 + i),
    );
    const failed = await tutti("jobs", "--json", "state:failed");
    expect(JSON.parse(failed.stdout).jobs).toHaveLength(15);
    expect(JSON.parse((await tutti("jobs", "--json", "name:sim-7*")).stdout).jobs.length).toBe(
      // 7 and 70 to 79 of each hundred.
      11 * 27,
    );
    expect((await tutti("logs", "1-5")).status).toBe(5);
  });

  test("history, jobs and export give all in order, with a heading and no gap", async () => {
    const lines = (await tutti("jobs", "--ended", "--last", "1400")).stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(1401);
    expect(lines[0]).toMatch(/^ *job +name/);
    expect(lines.slice(1).map((line) => Number(line.trim().split(" ")[0]))).toEqual(
      Array.from({ length: 1400 }, (_, i) => 101 + i),
    );
    const json = JSON.parse((await tutti("jobs", "--ended", "--json", "--last", "1400")).stdout);
    expect([json.schema, json.jobs.length]).toEqual(["tutti.jobs/1", 1400]);
    const csv = (await tutti("export", "--format", "csv")).stdout.trimEnd().split("\n");
    expect(csv).toHaveLength(1 + ENDED + HELD - 5);
    const swf = (await tutti("export")).stdout;
    expect(swf).toContain(`; MaxJobs: ${ENDED - 5}\n`);
    expect(swf.split("\n").filter((line) => /^\d/.test(line))).toHaveLength(ENDED - 5);
    const table = (await tutti("jobs")).stdout;
    expect(table).toMatch(/and 1150 more; --first 1200 shows all\n$/);
    expect(await tutti("jobs", "19-21", "--columns", "exit_code,job")).toMatchObject({
      stdout: "exit code  job\n        3   19\n        3   20\n        0   21\n",
    });
    expect(await tutti("jobs", "--columns", "job", "--no-header", "--first", "2")).toMatchObject({
      stdout: "1501\n1502\n",
      stderr: "and 1198 more; --first 1200 shows all\n",
    });
    const numbers = await tutti("jobs", "--ended", "--columns", "job,state", "--no-header", "--last", "1400");
    expect(numbers.stdout).toBe(
      Array.from({ length: 1400 }, (_, i) => ` ${101 + i}`.slice(-4))
        .map((number) => `${number}  ✓ done\n`)
        .join(""),
    );
  });
});

test("on a terminal, wait shows of many jobs only those that did not succeed, and the sum", async () => {
  const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
  const shown = (jobs: string) =>
    promisify(execFile)("script", ["-qec", `${process.execPath} ${program} wait ${jobs}`, "/dev/null"], {
      env: { ...process.env, TUTTI_SOCKET: scheduler.socket, NO_COLOR: "1" },
    }).catch((error) => error);
  const many = (await shown("19-30")).stdout.split("\r\n");
  expect(many).toEqual([
    expect.stringMatching(/^job 19 .* failed with exit code 3/),
    expect.stringMatching(/^job 20 .* failed with exit code 3/),
    "2 failed, 10 done",
    "",
  ]);
  const few = (await shown("21-30")).stdout.split("\r\n");
  expect(few.slice(-2)).toEqual(["10 done", ""]);
  expect(few).toHaveLength(12);
});

describe("thousands of jobs", () => {
  test("are waited for through a restart, cancelled in one request, and each end is reported once", async () => {
    const waiting = startTutti(scheduler.socket, ["wait", "1501-2700"]);
    const cancel = startTutti(scheduler.socket, ["cancel", "2641-2700"]);
    expect(await cancel.result).toMatchObject({ status: 0, stdout: "60 jobs: 60 cancelled\n" });
    await until(() => waiting.stdout().split("\n").length === 61);
    await scheduler.killFrontEnd();
    await until(() => waiting.stderr() !== "");
    await scheduler.start();
    const { status, stdout } = await startTutti(scheduler.socket, ["cancel", "all"]).result;
    expect([status, stdout]).toEqual([0, `1,140 jobs: 1,140 cancelled\n`]);
    const all = await waiting.result;
    expect(all.status).toBe(1);
    expect(all.stderr).toBe(
      "tutti: the scheduler is gone; waiting until it is back (running jobs continue)\n1,200 cancelled\n",
    );
    const told = all.stdout
      .trimEnd()
      .split("\n")
      .map((line) => Number(/^job (\d+) .*was cancelled/.exec(line)?.[1]));
    expect(told.toSorted((a, b) => a - b)).toEqual(Array.from({ length: HELD }, (_, i) => 1501 + i));
    expect(await startTutti(scheduler.socket, ["wait", "2695-2709"]).result).toMatchObject({
      status: 1,
      stderr: "tutti: there are no jobs 2701-2709 yet, so they cannot be waited for\n6 cancelled\n",
    });
  });

  test("history stops at Ctrl-C, also when nobody reads what it writes", async () => {
    const { child, result } = startTutti(scheduler.socket, ["jobs", "--ended", "--json", "--last", "2000"]);
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    child.stdout!.pause();
    child.kill("SIGINT");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(child.signalCode === "SIGINT" || child.exitCode === 0).toBe(true);
    child.stdout!.resume();
    await result;
  });
});

test("the benchmark of long lists runs, and every verb shows all jobs", async () => {
  const { phases } = await measureListing({ ended: 1100, held: 60, cancelled: 50, restS: 0 });
  const lines = Object.fromEntries(phases.map(({ name, lines: count }) => [name, count]));
  expect(lines).toMatchObject({
    "jobs --ended --last 1100": 1101,
    "export --format csv": 1161,
    // All have succeeded.
    "wait 1-1100": 0,
    "cancel 1101-1150": 1,
  });
  expect(phases.every(({ frontEndMB, longestWaitMs }) => frontEndMB > 0 && longestWaitMs > 0)).toBe(true);
});
