/** Checks the judge of runs with faults on signs of life made by hand, so that it can fail. */

import type { Job } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import { type Beat, type JobRun, judgeJobs, parseBeats } from "./beats.ts";

function beat(kind: Beat["kind"], atMs: number, more: Partial<Beat> = {}): Beat {
  return { kind, job: 7, attempt: 1, node: "n1", rank: "", atMs, ...more };
}

const WELL = [beat("begin", 100), beat("beat", 200), beat("end", 200)];
const DONE = { job: 7, state: "done", code: 0, attempt: 1, reason: "exit code 0" };

function run(
  beats: readonly Beat[],
  job: Partial<Job> = DONE as Partial<Job>,
  more: Partial<JobRun> = {},
): JobRun {
  return {
    name: "x",
    commands: 1,
    retries: 0,
    requeued: 0,
    code: 0,
    acknowledged: 7,
    job: job as Job,
    beats,
    ...more,
  };
}

const problems = (one: JobRun, absences: Parameters<typeof judgeJobs>[1] = []) =>
  judgeJobs([one], absences).problems;

test("lines are read, and one that is cut off is left out", () => {
  expect(parseBeats("begin 7 1 n2 - 100\nbeat 7 1 n2 3 200\nend 7 1")).toEqual([
    beat("begin", 100, { node: "n2" }),
    beat("beat", 200, { node: "n2", rank: "3" }),
  ]);
  expect(() => parseBeats("begun 7 1 n2 - 100\n")).toThrow(/Cannot read the beat/);
});

describe("good runs", () => {
  test("a job that ended as its command does", () => {
    expect(judgeJobs([run(WELL)], [])).toMatchObject({ acknowledged: 1, finished: 1, lost: 0, problems: [] });
    const shot = { job: 7, state: "failed", signal: "SIGKILL", attempt: 1 } as Job;
    const { code: _, ...rest } = run(WELL, shot);
    expect(judgeJobs([{ ...rest, signal: "SIGKILL" }], [])).toMatchObject({ finished: 1, problems: [] });
  });

  test("a lost attempt with its reason", () => {
    const lost = { job: 7, state: "failed", attempt: 1, reason: "lost: node n1 is down" } as Job;
    const { reasons, ...judgement } = judgeJobs([run(WELL.slice(0, 2), lost)], []);
    expect(judgement).toMatchObject({ failed: 1, finished: 0, lost: 0, ranTwice: 0, problems: [] });
    expect([...reasons]).toEqual([["lost: node n1 is down", 1]]);
  });

  test("an attempt that retries allow, after the first one was last alive", () => {
    const again = [beat("begin", 300, { attempt: 2 }), beat("end", 400, { attempt: 2 })];
    const one = run([...WELL.slice(0, 2), ...again], { ...DONE, attempt: 2 } as Job, { retries: 1 });
    expect(judgeJobs([one], [])).toMatchObject({ ranAgain: 1, ranTwice: 0, aliveTwice: 0, problems: [] });
  });

  test("an attempt after the end of a pilot", () => {
    const again = [beat("begin", 300, { attempt: 2 }), beat("end", 400, { attempt: 2 })];
    const job = { ...DONE, attempt: 2 } as Job;
    const one = run([...WELL.slice(0, 2), ...again], job, { requeued: 1 });
    expect(judgeJobs([one], [])).toMatchObject({ ranAgain: 1, ranTwice: 0, problems: [] });
    expect(judgeJobs([{ ...one, requeued: 0 }], [])).toMatchObject({ ranAgain: 0, ranTwice: 1 });
  });

  test("a job whose pilots have ended as often as it may start again, or more", () => {
    const reason = "the allocation ended again, after at most 1 restart: ask for more";
    const job = (attempt: number) => ({ job: 7, state: "failed", attempt, reason }) as Job;
    expect(judgeJobs([run(WELL.slice(0, 2), job(2))], [])).toMatchObject({ failed: 1, problems: [] });
    expect(problems(run(WELL.slice(0, 2), job(1)))).toHaveLength(1);
  });

  test("a job that was never acknowledged nor accepted", () => {
    const { acknowledged: _, job: __, ...none } = run([]);
    expect(judgeJobs([none], [])).toMatchObject({ acknowledged: 0, lost: 0, problems: [] });
    expect(problems({ ...none, beats: WELL })).toHaveLength(1);
  });
});

describe("faults that it finds", () => {
  test("a job that is unknown, has not ended, or has another number", () => {
    const { job: _, ...unknown } = run([]);
    const waiting = run([], { ...DONE, state: "queued" } as Job);
    const other = run(WELL, { ...DONE, job: 8 } as Job);
    expect(judgeJobs([unknown, waiting, other], []).lost).toBe(3);
  });

  test("a command that began twice in one attempt", () => {
    expect(judgeJobs([run([beat("begin", 90), ...WELL])], []).ranTwice).toBe(1);
    const ranks = ["0", "1", "1"].map((rank) => beat("begin", 100, { rank }));
    expect(judgeJobs([run(ranks, undefined, { commands: 3 })], []).ranTwice).toBe(1);
  });

  test("a second attempt that retries do not allow", () => {
    const again = [beat("begin", 300, { attempt: 2 }), beat("end", 400, { attempt: 2 })];
    const one = run([...WELL, ...again], { ...DONE, attempt: 2 } as Job);
    expect(judgeJobs([one], [])).toMatchObject({ ranTwice: 1 });
    expect(problems(one)).toHaveLength(1);
  });

  test("two attempts alive at once, unless the node of the first was away", () => {
    const again = [
      beat("begin", 150, { attempt: 2, node: "n2" }),
      beat("end", 400, { attempt: 2, node: "n2" }),
    ];
    const one = run([...WELL.slice(0, 2), ...again], { ...DONE, attempt: 2 } as Job, { retries: 1 });
    expect(judgeJobs([one], []).aliveTwice).toBe(1);
    expect(problems(one)).toEqual([
      expect.stringContaining("attempt 1 was alive on n1 50 ms after attempt 2 began"),
    ]);
    expect(problems(one, [{ node: "n1", fromMs: 120, toMs: 220 }])).toEqual([]);
    expect(problems(one, [{ node: "n2", fromMs: 120, toMs: 220 }])).toHaveLength(1);
    expect(problems(one, [{ node: "n1", fromMs: 120, toMs: 180 }])).toHaveLength(1);
  });

  test("a command that Slurm killed, as if that were its own end", () => {
    const job = {
      job: 7,
      state: "failed",
      signal: "SIGKILL",
      attempt: 1,
      reason: "ended by SIGKILL",
    };
    const one = run(WELL.slice(0, 2), job as Job);
    expect(judgeJobs([one], []).problems).toHaveLength(1);
  });

  test("an end that the command did not have, or without a reason", () => {
    expect(problems(run(WELL.slice(0, 2)))).toEqual([
      expect.stringContaining("1 of 1 commands began, 0 ended"),
    ]);
    expect(problems(run([]))).toHaveLength(1);
    expect(problems(run(WELL, { job: 7, state: "failed", attempt: 1 } as Job))).toHaveLength(1);
    expect(
      problems(run(WELL, { ...DONE, state: "failed", code: 3, reason: "exit code 3" } as Job)),
    ).toHaveLength(1);
    expect(problems(run(WELL, { ...DONE, state: "cancelled", reason: "cancelled" } as Job))).toHaveLength(1);
  });
});
