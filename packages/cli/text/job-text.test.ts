import { limitText } from "@tutti/kernel/core/format.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { outcomeText } from "@tutti/words/jobs.ts";
import { elapsedText } from "@tutti/words/times.ts";
import { describe, expect, test } from "vitest";
import { historyTable, JobLines, jobsTable } from "./job-text.ts";
import { foldedToTerminal } from "./text.ts";

const job = (number: number, more: Partial<Job> = {}): Job =>
  ({
    job: number,
    name: "sim",
    user: "ada",
    queue: "default",
    state: "queued",
    tasks: 1,
    ranMs: 0,
    cpus: [],
    after: [],
    ...more,
  }) as Job;
const jobLines = (jobs: readonly Job[], most = 100) => {
  const lines = new JobLines(most);
  for (const one of jobs) lines.add(one);
  return lines.shown();
};
const inArray = (number: number, arrayIndex: number, more: Partial<Job> = {}) =>
  job(number, { array: 10, arrayIndex, ...more });

describe("JobLines", () => {
  const jobs = [
    job(9),
    inArray(10, 1, { state: "running", startedAtMs: 1, cpus: [3] }),
    ...[11, 12, 13].map((number) =>
      inArray(number, 5 * (number - 10), { reason: `waits for job ${number}` }),
    ),
    inArray(14, 20, { state: "held" }),
    inArray(16, 30, { state: "held" }),
    job(17, { state: "running", startedAtMs: 1, cpus: [0, 1], reason: "stopped: no room now" }),
  ];

  test("puts running jobs first, and the waiting jobs of an array into one line", () => {
    const { lines, more } = jobLines(jobs);
    expect(lines.map(({ job: first, upTo }) => [first, upTo?.job])).toEqual([
      [10, undefined],
      [17, undefined],
      [9, undefined],
      [11, 13],
      [14, undefined],
      [16, undefined],
    ]);
    expect(more).toBe(0);
    expect(jobLines(jobs, 4)).toMatchObject({ lines: lines.slice(0, 4), more: 2 });
  });

  test("are shown with their numbers, their indices and their count", () => {
    const table = jobsTable(jobLines(jobs).lines, jobs[0].user);
    expect(table).toMatch(/^ *10 +sim\[1\] +▶ running .*on CPU 3$/m);
    expect(table).toMatch(/^ *17 .*stopped: no room now$/m);
    expect(table).toMatch(/^11-13 +sim\[5…15\] +· queued +1 .*3 jobs of an array$/m);
    // With one queue and one user, there is nothing to distinguish.
    expect(table).not.toMatch(/queue |user/);
    expect(jobsTable([job(1), job(2, { queue: "short", user: "bob" })], "ada")).toMatch(/user +queue/);
  });
});

test("the user is shown unless all jobs are the caller's", () => {
  const foreign = [job(1), job(2)];
  expect(jobsTable(foreign, "ada")).not.toContain("user");
  expect(jobsTable(foreign, "root")).toMatch(/^ *1 +sim +· queued +ada/m);
});

test("a program that could not be started has no running time", () => {
  const ended = { state: "failed", startedAtMs: 5, ranMs: 10_000, endedAtMs: 6 } as const;
  const never = job(1, { ...ended, reason: 'lost: Cannot run "./nothere": no such command' });
  expect(jobsTable([never], "ada")).not.toContain("0:00:10");
  expect(jobsTable([job(1, ended)], "ada")).toContain("0:00:10");
  expect(outcomeText(never)).toBe('job 1 (sim) failed (Cannot run "./nothere": no such command)');
});

test("help is broken between words at the width of the terminal", () => {
  const text = "\nUsage: x\n  -o  a file for the output\nshort\n";
  expect(foldedToTerminal(text, 16)).toBe("\nUsage: x\n  -o  a file for\n  the output\nshort\n");
  expect(foldedToTerminal(text, undefined)).toBe(text);
});

describe("elapsedText()", () => {
  test.each([
    [0, "0:00:00"],
    [17, "0:00:00"],
    [999, "0:00:00"],
    [1000, "0:00:01"],
    [59_999, "0:00:59"],
    [5_025_000, "1:23:45"],
    [86_399_999, "23:59:59"],
    [86_400_000, "1-00:00:00"],
    [183_845_000, "2-03:04:05"],
  ])("%i ms are %s", (durationMs, text) => expect(elapsedText(durationMs)).toBe(text));

  test("all times of a list of jobs have this form", () => {
    const running = job(1, { state: "running", startedAtMs: 1, ranMs: 192_000, limitMs: 7_200_000 });
    expect(jobsTable([running], running.user)).toMatch(/▶ running +1 +0:03:12 +2:00:00/);
  });

  test("a job of milliseconds ran and waited 0:00:00, but its limit is not zero", () => {
    const brief = job(1, {
      state: "done",
      submittedAtMs: 1000,
      startedAtMs: 1003,
      endedAtMs: 1020,
      ranMs: 17,
      limitMs: 500,
    });
    expect(jobsTable([brief], brief.user)).toMatch(/✓ done +1 +0:00:00 +0:00:01/);
    const history = historyTable([brief], 1, false);
    expect(history.lines([brief])).toMatch(/✓ done +1 +\S+ \S+ +0:00:00 +0:00:00/);
  });
});

describe("limitText()", () => {
  test.each([
    [600_001, "10 min 0.001 s"],
    [90_000, "1 min 30 s"],
    [3_600_000, "1 h"],
    [93_784_000, "1 d 2 h 3 min 4 s"],
    [500, "0.50 s"],
  ])("%i ms is %s", (limitMs, text) => expect(limitText(limitMs)).toBe(text));
});

describe("outcomeText()", () => {
  test.each([
    [{ state: "failed", signal: "SIGKILL", reason: "ended by SIGKILL" }, "was ended by SIGKILL"],
    [{ state: "failed", signal: "SIGTERM", reason: "time limit" }, "was ended by SIGTERM (time limit)"],
    [{ state: "cancelled", reason: "cancelled" }, "was cancelled"],
    [{ state: "cancelled", reason: "cancelled by ada" }, "was cancelled by ada"],
    [{ state: "cancelled", reason: "job 2 did not succeed" }, "was cancelled (job 2 did not succeed)"],
    [{ state: "failed", code: 3, reason: "exit code 3" }, "failed with exit code 3"],
    [
      { state: "failed", reason: 'lost: Cannot run "x": no such command' },
      'failed (Cannot run "x": no such command)',
    ],
    [
      { state: "failed", reason: 'lost: Task 0: On h1: Cannot change to the folder "/x"' },
      'failed (Task 0: On h1: Cannot change to the folder "/x")',
    ],
    [{ state: "failed", reason: "lost: the machine was stopped" }, "failed (lost: the machine was stopped)"],
    [{ state: "done", code: 0, reason: "exit code 0" }, "succeeded"],
  ] as const)("%j", (more, text) => {
    expect(outcomeText(job(7, { ...more }))).toBe(`job 7 (sim) ${text}`);
  });

  test("names a job of an array as the lists do", () => {
    expect(outcomeText(inArray(12, 2, { state: "done" }))).toBe("job 12 (sim[2]) succeeded");
  });
});
