import type { Job } from "@tutti/protocol/answers.ts";
import { JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { elapsedMs, filterOf, inOrder, isShown, searchOf, waitedMs } from "./filter.ts";

const job = (number: number, more: Partial<Job> = {}): Job =>
  ({
    job: number,
    name: "sim",
    user: "ada",
    queue: "short",
    state: "queued",
    tasks: 1,
    priority: 0,
    ...more,
  }) as Job;
const shown = (query: Record<string, string>, jobs: readonly Job[]) =>
  jobs.filter((one) => isShown(filterOf(query), one)).map(({ job }) => job);

describe("filters", () => {
  const jobs = [
    job(1, { state: "running", name: "sim-a" }),
    job(2, { state: "held", user: "eva", queue: "long" }),
    job(12, { state: "done", name: "fit*", array: 11 }),
    job(13, { state: "failed", name: "*", array: 11 }),
  ];

  test("select by state, user, queue, name, number and array", () => {
    expect(shown({}, jobs)).toEqual([1, 2, 12, 13]);
    expect(shown({ state: "running,held" }, jobs)).toEqual([1, 2]);
    expect(shown({ user: "eva" }, jobs)).toEqual([2]);
    expect(shown({ queue: "short" }, jobs)).toEqual([1, 12, 13]);
    expect(shown({ name: "sim*a" }, jobs)).toEqual([1]);
    expect(shown({ name: "im" }, jobs)).toEqual([1, 2]);
    expect(shown({ number: "2-12" }, jobs)).toEqual([2, 12]);
    expect(shown({ array: "11", state: "failed" }, jobs)).toEqual([13]);
  });

  test("damaged parameters select nothing away", () => {
    expect(shown({ state: "flying", number: "9-1", array: "x" }, jobs)).toEqual([1, 2, 12, 13]);
  });

  test("the search field takes numbers and names", () => {
    expect(searchOf(" 3-9,12 ")).toEqual({ name: "", number: "3-9,12" });
    expect(searchOf("sim*")).toEqual({ name: "sim*", number: "" });
    expect(searchOf("9-3")).toEqual({ name: "9-3", number: "" });
  });
});

describe("times", () => {
  test("a waiting job waits until now, a cancelled one until its end, a started one until its start", () => {
    expect(waitedMs(job(1, { submittedAtMs: 100 }), 350)).toBe(250);
    expect(waitedMs(job(1, { submittedAtMs: 100, endedAtMs: 160 }), 350)).toBe(60);
    expect(waitedMs(job(1, { submittedAtMs: 100, startedAtMs: 130, endedAtMs: 160 }), 350)).toBe(30);
    expect(elapsedMs(job(1), 350)).toBeUndefined();
    expect(elapsedMs(job(1, { startedAtMs: 130 }), 350)).toBe(220);
    expect(elapsedMs(job(1, { startedAtMs: 130, endedAtMs: 160 }), 350)).toBe(30);
  });
});

describe("inOrder()", () => {
  test("puts running jobs first, then waiting ones, then ended ones with the last end first", () => {
    const jobs = [
      job(1, { state: "done", endedAtMs: 1_790_000_000_000 }),
      job(2, { state: "failed", endedAtMs: 1_790_000_000_001 }),
      job(3, { state: "held" }),
      job(4),
      job(5, { state: "running" }),
    ];
    expect(inOrder(jobs, undefined, 0).map(({ job }) => job)).toEqual([5, 3, 4, 2, 1]);
    expect(inOrder(jobs, "-constructor", 0).map(({ job }) => job)).toEqual([5, 3, 4, 2, 1]);
    expect(inOrder(jobs, "constructor", 0).map(({ job }) => job)).toEqual([5, 3, 4, 2, 1]);
    expect(inOrder(jobs, "-job", 0).map(({ job }) => job)).toEqual([5, 4, 3, 2, 1]);
  });

  test("jobs without a value come last, in both directions", () => {
    const jobs = [job(1, { limitMs: 5 }), job(2), job(3, { limitMs: 1 })];
    expect(inOrder(jobs, "limit", 0).map(({ job }) => job)).toEqual([3, 1, 2]);
    expect(inOrder(jobs, "-limit", 0).map(({ job }) => job)).toEqual([1, 3, 2]);
  });

  test("any order keeps every job, and neighbours are never the wrong way round", () => {
    const any = fc.record({
      name: fc.string({ maxLength: 3 }),
      state: fc.constantFrom<JobState>(...JOB_STATES),
      tasks: fc.integer({ min: 1, max: 4 }),
    });
    const columns = fc.constantFrom("name", "state", "cpus", "job");
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), columns, fc.boolean(), (fields, column, isFalling) => {
        const jobs = fields.map((more, i) => job(i + 1, more));
        const list = inOrder(jobs.toReversed(), `${isFalling ? "-" : ""}${column}`, 0);
        expect(new Set(list)).toEqual(new Set(jobs));
        const of = (one: Job) =>
          ({ name: one.name, state: JOB_STATES.indexOf(one.state), cpus: one.tasks, job: one.job })[column] ??
          "";
        for (const [i, b] of list.entries()) {
          if (i === 0) continue;
          const [x, y] = [of(list[i - 1]), of(b)];
          expect(x === y ? list[i - 1].job < b.job : isFalling ? x > y : x < y).toBe(true);
        }
      }),
    );
  });
});
