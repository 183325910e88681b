/** Tests workflow files: their tasks as entries of one submit, what a resumed one runs, and wrong files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import type { SubmitOptions } from "./submit-options.ts";
import { readWorkflow } from "./workflow.ts";
import { workflowEntries } from "./workflow-jobs.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-workflow-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string | Buffer): string {
  const path = join(folder, "flow.toml");
  writeFileSync(path, text);
  return path;
}

const entriesOf = async (text: string, earlier: readonly Job[] = [], given: SubmitOptions = {}) =>
  workflowEntries((await readWorkflow(file(text), given)).tasks, earlier);

const FLOW = `
name = "train"

[defaults]
time = "10m"
cwd = "/"

[tasks.report]
command = "mail 'the report' {}"
after = ["any:fit"]
time = "1m"

[tasks.prepare]
command = ["./prepare", "a b"]
tasks = 2
hold = true
retries = 1
retry-on = ["75", "SIGBUS"]

[tasks.fit]
command = ["./fit", "{lr}", "{seed}"]
grid = { lr = [0.1, "0,01"], seed = "1..2" }
array = "%2"
after = "prepare"

[tasks.judge]
command = ["./judge"]
array = "1-4"
after = ["each:fit", "notok:prepare"]
`;

function job(number: number, fields: Partial<Job>): Job {
  return { job: number, state: "done", command: [], ...fields } as Job;
}

/** The jobs of a first run of FLOW, in the order of its entries. */
function firstRun(states: Readonly<Record<string, Job["state"]>>): Job[] {
  const fit = [
    { lr: "0.1", seed: "1" },
    { lr: "0.1", seed: "2" },
    { lr: "0,01", seed: "1" },
    { lr: "0,01", seed: "2" },
  ];
  const stateOf = (name: string) => states[name] ?? "cancelled";
  return [
    job(1, { name: "train/prepare", command: ["./prepare", "a b"], state: stateOf("prepare") }),
    ...fit.map((values, i) =>
      job(2 + i, {
        ...{ name: "train/fit", array: 2, arrayIndex: i + 1, values, state: stateOf(`fit${i + 1}`) },
        command: ["./fit", values.lr, values.seed],
      }),
    ),
    job(6, { name: "train/report", command: ["mail", "the report", "{}"], state: stateOf("report") }),
    ...fit.map((_, i) =>
      job(7 + i, {
        ...{ name: "train/judge", array: 7, arrayIndex: i + 1, state: stateOf(`judge${i + 1}`) },
        command: ["./judge"],
      }),
    ),
  ];
}

describe("a workflow", () => {
  test("is one request, in which each task comes after those for which it waits", async () => {
    expect(await entriesOf(FLOW)).toMatchObject([
      {
        ...{ name: "train/prepare", command: ["./prepare", "a b"], tasks: 2, held: true, cwd: "/" },
        ...{ retries: 1, retryOn: ["75", "SIGBUS"], limitMs: 600_000 },
      },
      {
        name: "train/fit",
        command: ["./fit", "{lr}", "{seed}"],
        values: { lr: ["0.1", "0.1", "0,01", "0,01"], seed: ["1", "2", "1", "2"] },
        array: "%2",
        after: [{ entry: 0, ok: true }],
      },
      {
        ...{ name: "train/report", command: ["mail", "the report", "{}"], limitMs: 60_000 },
        after: [{ entry: 1, ok: false }],
      },
      {
        ...{ name: "train/judge", array: "1-4" },
        after: [
          { entry: 0, ok: false, kind: "notok" },
          { entry: 1, ok: true, kind: "each" },
        ],
      },
    ]);
  });

  test("options of the command line win, also the name; --after holds for all tasks", async () => {
    const given = { name: "other", limitMs: 5000, after: [{ job: 9, ok: true }] };
    const entries = await entriesOf(FLOW, [], given);
    expect(entries.map(({ name, limitMs }) => [name, limitMs])).toEqual(
      ["prepare", "fit", "report", "judge"].map((task) => [`other/${task}`, 5000]),
    );
    expect(entries[0].after).toEqual([{ job: 9, ok: true }]);
    expect(entries[1].after).toEqual([
      { job: 9, ok: true },
      { entry: 0, ok: true },
    ]);
  });

  test("has lines as jobs, and the name of its file", async () => {
    writeFileSync(join(folder, "lines"), "a\n\nb\n");
    const text = `[tasks.convert]\ncommand = ["./convert", "{}"]\neach-line = "${join(folder, "lines")}"\n`;
    expect(await entriesOf(text)).toMatchObject([
      { name: "flow/convert", array: "1,3", values: { TUTTI_LINE: ["a", "b"] } },
    ]);
  });
});

describe("a resumed workflow", () => {
  test("runs only what has not succeeded, and waits only for that", async () => {
    const flow = FLOW.replace(', "notok:prepare"', "");
    const states = { prepare: "done", fit1: "done", fit2: "failed", fit3: "running", fit4: "done" } as const;
    expect(await entriesOf(flow, firstRun({ ...states, judge1: "done" }))).toMatchObject([
      {
        ...{ name: "train/fit", array: "2%2", values: { lr: ["0.1"], seed: ["2"] } },
        // What it waited for has succeeded.
      },
      {
        name: "train/report",
        after: [
          { entry: 0, ok: false },
          { job: 4, ok: false },
        ],
      },
      // The jobs that wait for another one of their index are arrays of their own.
      { name: "train/judge", array: "2", after: [{ entry: 0, ok: true, kind: "each" }] },
      { name: "train/judge", array: "3", after: [{ job: 4, ok: true, kind: "each" }] },
      { name: "train/judge", array: "4" },
    ]);
    const [fit, , ready] = await entriesOf(flow, firstRun(states));
    expect(fit).not.toHaveProperty("after");
    expect(ready).toMatchObject({ name: "train/judge", array: "1,4" });
    expect(ready).not.toHaveProperty("after");
  });

  test("runs nothing if all has succeeded, and all again if the first task has not", async () => {
    const all = ["prepare", "fit1", "fit2", "fit3", "fit4", "report", "judge1", "judge2", "judge3", "judge4"];
    const done = Object.fromEntries(all.map((name) => [name, "done" as const]));
    expect(await entriesOf(FLOW, firstRun(done))).toEqual([]);
    expect(await entriesOf(FLOW, firstRun({ prepare: "failed" }))).toEqual(await entriesOf(FLOW));
  });

  test("the last run of a job counts, and a changed command has not run", async () => {
    const text = '[tasks.a]\ncommand = ["true"]\ncwd = "/"\n';
    const run = (number: number, state: Job["state"]) =>
      job(number, { name: "flow/a", command: ["true"], state });
    expect(await entriesOf(text, [run(1, "done"), run(2, "failed")])).toHaveLength(1);
    expect(await entriesOf(text, [run(1, "failed"), run(2, "done")])).toEqual([]);
    expect(await entriesOf(text.replace("true", "false"), [run(1, "done")])).toHaveLength(1);
  });

  test("of a grid that has grown, only the new combinations run", async () => {
    const text = (seeds: string) =>
      `[tasks.a]\ncommand = ["./a", "{seed}", "${"x".repeat(3000)}"]\ngrid.seed = "${seeds}"\ncwd = "/"\n`;
    const before = (await entriesOf(text("2..3"))).flatMap(({ command, values }) =>
      values!.seed.map((seed, i) =>
        // As in a list of jobs: long commands are cut.
        job(i + 1, {
          ...{ name: "flow/a", array: 1, arrayIndex: i + 1, values: { seed } },
          command: [command[0], seed, `${"x".repeat(1000 - 6)}…`],
        }),
      ),
    );
    expect(await entriesOf(text("1..4"), before)).toMatchObject([
      { array: "1,4", values: { seed: ["1", "4"] } },
    ]);
  });

  test("who waits for a failure waits for the job that has succeeded, and is cancelled", async () => {
    const text =
      '[tasks.a]\ncommand = ["true"]\n[tasks.b]\ncommand = ["mail"]\nafter = ["notok:a"]\n[defaults]\ncwd = "/"\n';
    expect(await entriesOf(text, [job(3, { name: "flow/a", command: ["true"] })])).toMatchObject([
      { name: "flow/b", after: [{ job: 3, ok: false, kind: "notok" }] },
    ]);
  });
});

describe("a wrong file is refused with the place", () => {
  const task = (more: string, name = "a") => `[tasks.${name}]\ncommand = ["true"]\n${more}\n`;
  test.each([
    [
      "a circle",
      task('after = "b"') + task('after = ["c"]', "b") + task('after = ["any:a"]', "c"),
      /in a circle: a → b → c → a; expected/,
    ],
    ["a task after itself", task('after = "a"'), /in a circle: a → a;/],
    [
      "a circle behind a task",
      task('after = "b"') + task('after = "c"', "b") + task('after = "b"', "c"),
      /: b → c → b;/,
    ],
    [
      "an unknown key of a task",
      task('gird = { x = "1..5" }'),
      /in task a, it has the unknown key "gird" \(did you mean "grid"\?\)/,
    ],
    [
      "an unknown key of the file",
      "[task.a]\ncommand = []\n",
      /the unknown key "task" \(did you mean "tasks"\?\), expected name, defaults, tasks/,
    ],
    [
      "an unknown default",
      `[defaults]\ntim = "1m"\n${task("")}`,
      /in defaults, it has the unknown key "tim" \(did you mean "time"\?\)/,
    ],
    [
      "an unknown task",
      task('after = "prepar"') + task("", "prepare"),
      /task a runs after "prepar" \(did you mean "prepare"\?\), expected a task of this file/,
    ],
    ["a wrong option", task('time = "soon"'), /in task a, .*--time "soon": expected a duration/],
    [
      "a wrong type",
      task("time = [[1]]"),
      /in task a, time cannot be used, expected what tutti submit --time takes/,
    ],
    [
      "no command",
      "[tasks.a]\n",
      /in task a, expected either command = \["\.\/a\.out", "input"\] or script = "job\.sh"/,
    ],
    ["two commands", task('script = "x"'), /expected either command/],
    ["an empty command", "[tasks.a]\ncommand = []\n", /its command cannot be used/],
    [
      "a script that is missing",
      '[tasks.a]\nscript = "/nowhere/job.sh"\n',
      /in task a, Cannot submit "\/nowhere\/job\.sh": there is no such file/,
    ],
    [
      "a grid of a million",
      task('grid = { x = "1..1000", y = "1..1000" }'),
      /in task a, Cannot submit the grid: it has 1,000 × 1,000 = 1,000,000 jobs/,
    ],
    ["an empty grid", task("grid = {}"), /grid cannot be used/],
    ["no tasks", "name = 'x'\n", /it has no tasks, expected tables such as \[tasks\.prepare\]/],
    ["a bad name", task("", '"a/b"'), /the name of a task is "a\/b", expected letters/],
    ["a name twice", task("") + task(""), /Cannot read ".*flow\.toml", line 4, column/],
    ["TOML that was cut off", '[tasks.a]\ncommand = ["true', /line 2, column .*expected TOML/],
    ["NUL", '[tasks.a]\ncommand = ["a\0"]', /expected TOML/],
    ["Latin-1", Buffer.from([0x23, 0xe9]), /it is not UTF-8/],
    [
      "each: of one job",
      task('after = "each:b"') + task("", "b"),
      /each job of task a wait for one of task b: a is one job/,
    ],
    [
      "each: of another array",
      `${task('after = "each:b"\narray = "1-3"')}${task('array = "1-2"', "b")}`,
      /b has no index 3/,
    ],
  ])("%s", async (_, text, message) => {
    await expect(
      readWorkflow(file(text as string), { cwd: "/" }).then(({ tasks }) => workflowEntries(tasks)),
    ).rejects.toThrow(message);
  });

  test("a file with a byte order mark and the line ends of Windows is read", async () => {
    expect(await entriesOf(`\uFEFF${task('cwd = "/"')}`.replaceAll("\n", "\r\n"))).toHaveLength(1);
  });

  test("a chain of 5,000 tasks is put into order", async () => {
    const text = Array.from({ length: 5000 }, (_, i) =>
      task(i === 4999 ? "" : `after = "t${i + 1}"`, `t${i}`),
    );
    const entries = await entriesOf(`[defaults]\ncwd = "/"\nenv = "none"\n${text.join("")}`);
    expect(entries[0].name).toBe("flow/t4999");
    expect(entries[4999].after).toEqual([{ entry: 4998, ok: true }]);
  });
});
