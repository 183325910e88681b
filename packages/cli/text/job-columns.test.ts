import { renderTable } from "@tutti/lab/report/text/table.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import {
  addColumnOptions,
  COLUMN_NAMES,
  type ColumnOptions,
  chosenColumns,
  columnsOf,
} from "./job-columns.ts";
import { historyTable, JobLines, jobsTable } from "./job-text.ts";

const at = (hour: number, minute = 0) => new Date(2026, 0, 5, hour, minute).getTime();
const job = (number: number, more: Partial<Job> = {}): Job => ({
  job: number,
  name: "sim",
  user: "ada",
  queue: "default",
  state: "queued",
  tasks: 1,
  priority: 0,
  command: ["./sim", "a b"],
  cwd: "/home/ada",
  attempt: 0,
  submittedAtMs: at(8),
  ranMs: 0,
  stdout: "/home/ada/out",
  stderr: "/home/ada/err",
  cpus: [],
  after: [],
  ...more,
});

const RUNNING = job(9, {
  ...{ name: "train", tasks: 2, threads: 4, limitMs: 7_200_000, memoryBytes: 3 * 1024 ** 3 },
  ...{ state: "running", attempt: 1, startedAtMs: at(8, 10), ranMs: 83_000, cpus: [0, 1, 2, 3, 4, 5, 6, 7] },
  ...{ use: { gpu: 1 }, units: { gpu: ["0"] }, priority: -5 },
});
const WAITING = job(12, { array: 12, arrayIndex: 3, values: { lr: "0.1" }, after: [9, 10] });
const FAILED = job(100, {
  ...{ state: "failed", attempt: 2, startedAtMs: at(9), endedAtMs: at(9, 5), ranMs: 300_000, code: 3 },
  ...{ beginAtMs: at(9), usage: { cpuMs: 301_000, peakMemoryBytes: 512 * 1024 ** 2 } },
  ...{ stdout: "/home/ada/\u001b[2Jout" },
});
const JOBS = [RUNNING, WAITING, FAILED];

/** The lines of a table of the chosen columns. */
const lines = (columns: string, hasHeading = true, jobs: readonly Job[] = JOBS) =>
  jobsTable(jobs, "ada", { names: columns.split(","), hasHeading }).split("\n");

describe("jobsTable() with chosen columns", () => {
  test("has these columns in this order, and no others", () => {
    expect(lines("state,job,cpus,name")).toEqual([
      "state      job  CPUs  name",
      "▶ running    9     8  train",
      "· queued    12     1  sim[3]",
      "✗ failed   100     1  sim",
      "",
    ]);
  });

  test("shows what a job asks for", () => {
    expect(lines("job,array,array_index,values,tasks,threads,memory,use,priority,limit,after")).toEqual([
      "job  array  array index  values  tasks  threads  memory  use    priority    limit  after",
      "  9      –            –  –           2        4   3 GiB  gpu:1        -5  2:00:00  –",
      " 12     12            3  lr=0.1      1        1       –  –             0        –  9,10",
      "100      –            –  –           1        1       –  –             0        –  –",
      "",
    ]);
  });

  test("shows what a job has had and used", () => {
    expect(lines("job,units,attempt,waited,ran,cpu_time,peak_memory,exit_code,signal")).toEqual([
      "job  units  attempt   waited      ran  CPU time  peak memory  exit code  signal",
      "  9  gpu 0        1  0:10:00  0:01:23         –            –          –  –",
      " 12  –            0        –        –         –            –          –  –",
      "100  –            2  1:00:00  0:05:00   0:05:01      512 MiB          3  –",
      "",
    ]);
  });

  test("shows times, the command and files, without control characters", () => {
    expect(lines("begin,started,ended,submitted")).toEqual([
      "begin                started              ended                submitted",
      "–                    2026-01-05 08:10:00  –                    2026-01-05 08:00:00",
      "–                    –                    –                    2026-01-05 08:00:00",
      "2026-01-05 09:00:00  2026-01-05 09:00:00  2026-01-05 09:05:00  2026-01-05 08:00:00",
      "",
    ]);
    expect(lines("command,folder,user,queue,stdout", true, [FAILED])).toEqual([
      "command      folder     user  queue    stdout",
      "./sim 'a b'  /home/ada  ada   default  /home/ada/\\x1b[2Jout",
      "",
    ]);
  });

  test("says in the remark what the list without chosen columns says", () => {
    const jobs = JOBS.map((job) => (job.job === 9 ? { ...job, reason: "stopped: no room now" } : job));
    expect(lines("job,remark", true, jobs).slice(0, 4)).toEqual([
      "job  remark",
      "  9  stopped: no room now",
      " 12",
      "100  failed with exit code 3",
    ]);
  });

  test("without a heading, its words do not count for the widths", () => {
    expect(lines("job,exit_code", false)).toEqual(["  9  –", " 12  –", "100  3", ""]);
  });

  test("all columns that can be chosen have a text for every job", () => {
    for (const name of COLUMN_NAMES) expect(lines(name)).toHaveLength(5);
    expect(new Set(COLUMN_NAMES).size).toBe(COLUMN_NAMES.length);
  });

  test("no column is left out on a narrow terminal: long texts are shortened", () => {
    const long = job(1, { name: "n".repeat(40), command: ["c".repeat(40)] });
    const columns = chosenColumns({ names: ["name", "state", "command"], hasHeading: true });
    const rows = [columns.map(({ textOf }) => textOf(long))];
    expect(renderTable(columns, rows, { width: 42 })).toBe(
      `name            state     command\n${"n".repeat(13)}…  · queued  ${"c".repeat(15)}…\n`,
    );
  });
});

test("a table of ended jobs has the chosen columns on every page", () => {
  const table = historyTable([job(7)], 1000, false, { names: ["job", "name"], hasHeading: true });
  expect([table.heading(), table.lines([job(7)]), table.lines([job(1000)]), table.foot()]).toEqual([
    " job  name\n",
    "   7  sim\n",
    "1000  sim\n",
    "",
  ]);
  const bare = historyTable([job(7)], 7, false, { names: ["name"], hasHeading: false });
  expect([bare.heading(), bare.lines([job(7)])]).toEqual(["", "sim\n"]);
});

test("with chosen columns, each waiting job of an array has its own line", () => {
  const array = [1, 2, 3].map((index) => job(index, { array: 1, arrayIndex: index }));
  const shown = (joinsArrays: boolean) => {
    const all = new JobLines(2, joinsArrays);
    for (const one of array) all.add(one);
    const { lines: some, more } = all.shown();
    return { numbers: some.map(({ job: number }) => number), more };
  };
  expect(shown(true)).toEqual({ numbers: [1], more: 0 });
  expect(shown(false)).toEqual({ numbers: [1, 2], more: 1 });
});

describe("--columns", () => {
  /** The columns that a command line chooses, or the message that refuses it. */
  const chosen = (...words: string[]) => {
    const command = addColumnOptions(new Command("jobs"), "print as JSON").exitOverride();
    command.configureOutput({ writeErr: () => {} });
    try {
      return columnsOf(command.parse(words, { from: "user" }).opts<ColumnOptions>());
    } catch (error) {
      return (error as Error).message;
    }
  };

  test("names headings, in small letters or not", () => {
    expect(chosen("--columns", "job,CPUs, exit code")).toEqual({
      names: ["job", "cpus", "exit_code"],
      hasHeading: true,
    });
    expect(chosen("--columns", "name", "--no-header")).toEqual({ names: ["name"], hasHeading: false });
    expect(chosen()).toBeUndefined();
  });

  test.each([
    ["job,nmae", 'there is no column "nmae" (did you mean "name"?), expected names of job, name, state,'],
    ["job,,name", 'there is no column "", expected names of job,'],
    ["", 'there is no column "", expected names of job,'],
    ["\u001b[2J", 'there is no column "\\x1b[2j", expected names of job,'],
    ["constructor", 'there is no column "constructor", expected names of job,'],
  ])("%j is refused with the names there are", (names, message) => {
    expect(chosen("--columns", names)).toContain(message);
  });

  test("is refused together with --json, and only chosen columns go without a heading", () => {
    expect(chosen("--columns", "job", "--json")).toMatch(/'--json' cannot be used with option '--columns/);
    expect(() => columnsOf({ header: false })).toThrow(UsageError);
  });
});
