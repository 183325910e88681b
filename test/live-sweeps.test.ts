/** Tests sweeps with the real command line, scheduler and jobs, also while the front end is killed. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JobsAnswer } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
let scheduler: LiveScheduler;

beforeAll(async () => {
  scheduler = new LiveScheduler();
  await scheduler.start();
});
afterAll(() => scheduler.clear());

const tutti = (...words: string[]) => startTutti(scheduler.socket, words, { cwd: scheduler.folder }).result;
const file = (name: string, content: string): string => {
  writeFileSync(join(scheduler.folder, name), content);
  return name;
};
const read = (name: string) => readFileSync(join(scheduler.folder, name), "utf8");
const listed = async () => (await scheduler.client.ask<JobsAnswer>("/v1/jobs?after=0")).jobs;

describe("submit --each-line", () => {
  test("runs a job for each line, and no shell reads the line", async () => {
    const hostile = ["a b", "$(touch pwned) `touch pwned`; touch pwned", "'\"\\", "-n * {} é"];
    file("lines", `${hostile.join("\n")}\n`);
    const command = ["sh", "-c", 'printf "%s|%s|%s" "$1" "$TUTTI_LINE" "$TUTTI_ARRAY_INDEX"', "sh", "{}"];
    const { stdout } = await tutti(
      "submit",
      "--parsable",
      "--each-line",
      "lines",
      "-o",
      "out.%a",
      "--",
      ...command,
    );
    expect(await tutti("wait", stdout.trim())).toMatchObject({ status: 0 });
    for (const [i, line] of hostile.entries()) expect(read(`out.${i + 1}`)).toBe(`${line}|${line}|${i + 1}`);
    expect(readdirSync(scheduler.folder)).not.toContain("pwned");
  });

  test("reads standard input, takes only some lines, and passes them to a script", async () => {
    file("job.sh", '#!/bin/sh\n#TUTTI -o in.%a\necho "$1 $TUTTI_LINE"\n');
    const child = spawn(
      process.execPath,
      [program, "submit", "--parsable", "--each-line", "-", "-a", "2,4-5%1", "job.sh", "<{}>"],
      { cwd: scheduler.folder, env: { ...process.env, TUTTI_SOCKET: scheduler.socket } },
    );
    child.stdin.end("a\nb\nc\nd\ne\nf\n");
    let output = "";
    for await (const piece of child.stdout) output += piece;
    expect(await tutti("wait", output.trim())).toMatchObject({ status: 0, stderr: "3 done\n" });
    expect(["in.2", "in.4", "in.5"].map(read)).toEqual(["<b> b\n", "<d> d\n", "<e> e\n"]);
  });

  test("hostile files are refused whole, with the place", async () => {
    const before = (await listed()).length;
    file("lines", "a\nb\0\n");
    const refuse = (...words: string[]) => tutti("submit", "--each-line", "lines", ...words, "--", "true");
    expect(await refuse()).toMatchObject({
      status: 66,
      stderr: expect.stringMatching(/^tutti: Cannot use line 2 of "lines": it contains a NUL character/),
    });
    expect(await refuse("-a", "1,9")).toMatchObject({
      status: 66,
      stderr: expect.stringContaining('Cannot submit line 9 of "lines": it is empty or beyond the end'),
    });
    file("lines", "\n\r\n");
    expect(await refuse()).toMatchObject({
      stderr: expect.stringContaining('Cannot submit the lines of "lines": there are none'),
    });
    expect(await listed()).toHaveLength(before);
  });
});

describe("submit --grid", () => {
  test("runs a job for each combination, which show, cancel and rerun know as one array", async () => {
    const words = ["--grid", "lr=0.1,0.01", "seed=1..2", "-o", "grid-{lr}-{seed}", "--"];
    const command = ["sh", "-c", 'echo "$0 $1 $lr $seed"; [ $seed = 1 ]', "{lr}", "{seed}"];
    const { stdout } = await tutti("submit", "--parsable", ...words, ...command);
    expect(await tutti("wait", stdout.trim())).toMatchObject({ status: 1 });
    expect(["0.1-1", "0.1-2", "0.01-1", "0.01-2"].map((name) => read(`grid-${name}`))).toEqual([
      "0.1 1 0.1 1\n",
      "0.1 2 0.1 2\n",
      "0.01 1 0.01 1\n",
      "0.01 2 0.01 2\n",
    ]);
    const last = stdout.trim().split("-")[1];
    expect(await tutti("show", last)).toMatchObject({
      stdout: expect.stringMatching(/values +lr=0.01 seed=2/),
    });
    const again = await tutti("rerun", "--json", stdout.trim());
    expect(JSON.parse(again.stdout).jobs.map(({ values }: { values: object }) => values)).toEqual([
      { lr: "0.1", seed: "1" },
      { lr: "0.1", seed: "2" },
      { lr: "0.01", seed: "1" },
      { lr: "0.01", seed: "2" },
    ]);
  });

  test("of a million is refused with the limit, and with --each-line it is refused", async () => {
    expect(await tutti("submit", "--grid", "a=1..1000", "b=1..1000", "--", "true")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/1,000 × 1,000 = 1,000,000 jobs, expected at most 10,000/),
    });
    expect(await tutti("submit", "--grid", "a=1", "--each-line", "lines", "--", "true")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/Cannot combine --each-line with --grid/),
    });
  });
});

describe("submit --from-json", () => {
  test("runs the jobs of a file, with options of the command line, and refuses a file whole", async () => {
    const jobs = [1, 2].map((i) => ({
      command: ["sh", "-c", `echo $0 $N > json.${i}`, `job${i}`],
      env: { N: `${i}` },
    }));
    file("jobs.jsonl", jobs.map((job) => JSON.stringify(job)).join("\n"));
    const { stdout } = await tutti("submit", "--parsable", "--from-json", "jobs.jsonl", "-J", "both");
    expect(await tutti("wait", stdout.trim())).toMatchObject({ status: 0, stderr: "2 done\n" });
    expect(["json.1", "json.2"].map(read)).toEqual(["job1 1\n", "job2 2\n"]);
    expect((await tutti("jobs", "name:both", "--json")).stdout).toContain('"name": "both"');
    file("jobs.jsonl", `${JSON.stringify(jobs[0])}\n${JSON.stringify({ ...jobs[1], taks: 1 })}\n`);
    expect(await tutti("submit", "--from-json", "jobs.jsonl")).toMatchObject({
      status: 66,
      stderr: expect.stringMatching(
        /^tutti: Cannot use line 2 of "jobs.jsonl": .*\(did you mean "tasks"\?\)/,
      ),
    });
  });
});

test("a workflow runs in the order of its tasks; after a failure, --resume runs only what has not succeeded", async () => {
  file(
    "flow.toml",
    `
[tasks.collect]
command = ["sh", "-c", "cat part.* > all"]
after = "fit"

[tasks.prepare]
command = ["sh", "-c", "echo x >> prepared"]

[tasks.fit]
command = ["sh", "-c", "test -s prepared && echo $seed >> ran && if [ $seed = 2 ]; then cat missing; fi > part.{seed}"]
grid = { seed = "1..3" }
after = "prepare"
`,
  );
  expect(await tutti("submit", "flow.toml")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("5 jobs"),
  });
  expect(await tutti("wait", "name:flow/*")).toMatchObject({ status: 1 });
  const states = async () =>
    (await listed())
      .filter(({ name }) => name.startsWith("flow/"))
      .map(({ name, state }) => `${name} ${state}`);
  expect(await states()).toEqual([
    "flow/prepare done",
    "flow/fit done",
    "flow/fit failed",
    "flow/fit done",
    "flow/collect cancelled",
  ]);
  file("missing", "found\n");
  expect(await tutti("submit", "flow.toml", "now")).toMatchObject({ status: 2 });
  expect(await tutti("submit", "flow.toml", "--resume")).toMatchObject({
    stdout: expect.stringContaining("2 jobs"),
  });
  await tutti("wait", "name:flow/*");
  expect((await states()).slice(5)).toEqual(["flow/fit done", "flow/collect done"]);
  expect([read("prepared"), read("all")]).toEqual(["x\n", "found\n"]);
  expect(read("ran").split("\n").sort()).toEqual(["", "1", "2", "2", "3"]);
  expect(await tutti("submit", "--resume", "flow.toml")).toMatchObject({
    ...{ status: 0, stdout: "" },
    stderr: "tutti: nothing to resume: all jobs of flow have succeeded, wait or run\n",
  });
});

test("a sweep is there whole or not at all when the front end is killed, and once when it is sent again", async () => {
  const jobs = 2000;
  const values = { x: Array.from({ length: jobs }, (_, i) => String(i)) };
  const job = { command: ["true"], cwd: scheduler.folder, env: {}, values, held: true };
  for (let round = 0; round < 2; round++) {
    const { values: _, ...single } = job;
    const last = { ...single, name: `round-${round}`, after: [{ entry: 0, ok: true }] };
    const body = { jobs: [{ ...job, name: `round-${round}` }, last], key: `round-${round}` };
    const send = () => scheduler.client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body });
    const sent = send().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 30 + 120 * round));
    await scheduler.killFrontEnd();
    await sent;
    await scheduler.start();
    const ask = () => scheduler.client.ask<JobsAnswer>(`/v1/jobs?name=round-${round}`);
    expect([0, jobs + 1]).toContain((await ask()).jobs.length);
    const { jobs: answered } = await send();
    const { jobs: kept } = await ask();
    expect(kept.map(({ job, array, values }) => ({ job, array, values }))).toEqual(
      answered.map(({ job, array, values }) => ({ job, array, values })),
    );
    const array = kept.slice(0, jobs);
    expect(array.map((one) => one.values?.x)).toEqual(values.x);
    expect(new Set(array.map(({ array }) => array)).size).toBe(1);
    expect(kept[jobs].after).toEqual(array.map(({ job }) => job));
    await tutti("cancel", "name:round-*");
  }
});
