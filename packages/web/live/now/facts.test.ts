import type { Event, Job, MatrixAnswer, StatusAnswer } from "@tutti/protocol/answers.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastHappenings, longestWaitMs, troublesOf } from "./facts.ts";

const job = (number: number, more: Partial<Job> = {}): Job => ({
  job: number,
  name: "sim",
  user: "ada",
  queue: "batch",
  state: "queued",
  tasks: 2,
  priority: 0,
  command: ["sim"],
  cwd: "/",
  attempt: 0,
  submittedAtMs: 1000,
  ranMs: 0,
  stdout: "",
  stderr: "",
  cpus: [],
  after: [],
  ...more,
});

const byNumber = (list: readonly Job[]) => new Map(list.map((one) => [one.job, one]));

const fine = { conductor: { connected: true, lateP99Ms: 10 } } as StatusAnswer;
const stray = { job: 7, attempt: 1, uid: 0, user: "ada", state: "running", command: [], cwd: "/" } as const;
const turning = { sharing: "time", slotMs: 100 } as MatrixAnswer;

describe("troublesOf()", () => {
  test("is silent if nothing is wrong", () => {
    expect(troublesOf(fine, turning)).toEqual([]);
    expect(troublesOf(fine, undefined)).toEqual([]);
  });

  test("names each trouble and what to do", () => {
    const starts = (status: Partial<StatusAnswer>, matrix = turning) =>
      troublesOf({ ...fine, ...status }, matrix).map((text) => text.split(/[:.]/)[0]);
    expect(starts({ trouble: "the disk is full" })).toEqual(["the disk is full"]);
    expect(starts({ conductor: { connected: false } })).toEqual(["The conductor is not connected"]);
    // On Slurm, while no job waits.
    expect(starts({ conductor: { connected: false, rests: "no job waits" }, nodes: [] })).toEqual([]);
    expect(starts({ conductor: { connected: true, silentMs: 4000 } })).toEqual([
      "The conductor has not answered for 4 s",
    ]);
    expect(starts({ conductor: { connected: true, lateP99Ms: 26 } })).toEqual([
      "One slot in a hundred begins at least 26 ms late, and a slot lasts 100 ms",
    ]);
    expect(
      starts({ conductor: { connected: true, lateP99Ms: 26 } }, { ...turning, sharing: "space" }),
    ).toEqual([]);
    expect(starts({ strays: [{ ...stray, folder: "/", ranMs: 0 }] })).toEqual([
      "1 attempt runs without a record in the store",
    ]);
  });
});

test("the longest wait is that of the queued job that came first", () => {
  const list = [
    job(1, { state: "running", submittedAtMs: 0 }),
    job(2, { submittedAtMs: 500 }),
    job(3, { submittedAtMs: 800 }),
    job(4, { state: "held", submittedAtMs: 0 }),
  ];
  expect(longestWaitMs(list, 3000)).toBe(2500);
  expect(longestWaitMs([job(1, { state: "running" })], 3000)).toBeUndefined();
});

describe("lastHappenings()", () => {
  const event = (atMs: number, kind: string): Event => ({ sequence: atMs, atMs, kind });

  test("takes jobs from the list of jobs, and everything else from events, newest first", () => {
    const ended = { state: "done", startedAtMs: 2000, endedAtMs: 5000, ranMs: 3000 } as const;
    const list = [job(1, ended), job(2, { submittedAtMs: 3000, name: "x\n" })];
    const events = [
      event(2000, "started"),
      { ...event(2500, "starting"), job: 1, user: "ada", data: { attempt: 1, cpus: "0,1" } },
      { ...event(4000, "policy"), data: { before: "fcfs", after: "gang", by: "root" } },
      event(4001, "matrix"),
      { ...event(4002, "held"), job: 2, user: "ada" },
      { ...event(4002, "released"), job: 2, user: "ada" },
      { ...event(4500, "priority"), job: 9, user: "ada", data: { before: 0, after: 3 } },
    ];
    const texts = lastHappenings(byNumber(list), events, 10).map(({ text }) => text);
    expect(texts).toEqual([
      "job 1 (sim) succeeded after 3 s",
      "priority of job 9 changed from 0 to 3",
      "job 2 (x\\n) was released",
      "job 2 (x\\n) was held",
      "root switched the policy from fcfs to gang",
      "job 2 (x\\n) of ada submitted",
      "job 1 (sim) started on 2 CPUs",
      "job 1 (sim) of ada submitted",
    ]);
  });

  test("a job that runs another one again says so", () => {
    const [{ text }] = lastHappenings(byNumber([job(9, { repeats: 4 })]), [], 10);
    expect(text).toBe("job 9 (sim) of ada submitted: it runs job 4 again");
  });

  test("a switch of the policy is one line, a restart under the same policy is one too", () => {
    const adopted = { policy: "gang", adopted: "the policy was switched" };
    const events = [
      { ...event(4000, "policy"), data: { before: "fcfs", after: "gang", by: "root" } },
      { ...event(4003, "policy"), data: adopted },
      { ...event(90_000, "policy"), data: { policy: "gang", adopted: "the scheduler came back" } },
    ];
    expect(lastHappenings(new Map(), events, 10).map(({ text }) => text)).toEqual([
      "policy gang continued with the current jobs: the scheduler came back",
      "root switched the policy from fcfs to gang",
    ]);
  });

  test("an array is one line, which leaves room for what else happened", () => {
    const array = Array.from({ length: 40 }, (_, i) => job(i + 2, { array: 2, arrayIndex: i + 1 }));
    const again = job(50, { array: 2, arrayIndex: 3, repeats: 4, submittedAtMs: 2000 });
    const texts = (list: readonly Job[]) =>
      lastHappenings(byNumber(list), [], 3).map(({ text, job: number }) => [number, text]);
    for (const list of [
      [job(1), ...array, again],
      [again, ...array.toReversed(), job(1)],
    ])
      expect(texts(list)).toEqual([
        [50, "job 50 (sim[3]) of ada submitted: it runs job 4 again"],
        [2, "jobs 2-41 (sim) of ada submitted"],
        [1, "job 1 (sim) of ada submitted"],
      ]);
    expect(texts(array.slice(7, 8))).toEqual([[9, "job 9 (sim[8]) of ada submitted"]]);
  });

  test("of jobs that were submitted at one instant, the last ones are the newest", () => {
    const array = Array.from({ length: 40 }, (_, i) => job(i + 1));
    const numbers = (list: readonly Job[]) => lastHappenings(byNumber(list), [], 3).map(({ job }) => job);
    expect(numbers(array)).toEqual([40, 39, 38]);
    expect(numbers(array.toReversed())).toEqual([40, 39, 38]);
  });

  test("keeps the newest, as sorting all does", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 80 }), fc.array(fc.nat(60)), (submits, times) => {
        const list = submits.map((submittedAtMs, i) => job(i + 1, { submittedAtMs }));
        const events = times.map((atMs) => event(atMs, "conductor"));
        const all = [...submits, ...times].sort((a, b) => b - a);
        expect(lastHappenings(byNumber(list), events, 5).map(({ atMs }) => atMs)).toEqual(all.slice(0, 5));
      }),
    );
  });
});
