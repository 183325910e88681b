import type { TimelineAnswer } from "@tutti/protocol/forecasts.ts";
import { expect, test } from "vitest";
import { timelineData } from "./timeline-data.ts";

const answer = (more: Partial<TimelineAnswer>): TimelineAnswer => ({
  ...{ schema: "tutti.timeline/1", atMs: 1000, fromMs: 0, toMs: 5000, policy: "easy", sharing: "space" },
  ...{ cpus: [2, 3, 8, 9], rows: 1, jobs: [], others: [] },
  ...more,
});
const job = {
  ...{ job: 7, name: "sim", user: "eva", queue: "short", state: "running" as const, tasks: 3 },
  ...{ submittedAtMs: 100, startedAtMs: 200, ranMs: 400 },
};

test("CPUs are places in the order of the machine, whatever their numbers are", () => {
  const { jobs, cpus, cpuName } = timelineData(answer({ jobs: [{ ...job, cpus: [3, 8, 2] }] }), 1200);
  expect(cpus).toBe(4);
  expect(jobs[0].cpus).toEqual([{ first: 0, end: 3 }]);
  expect([0, 3].map((index) => cpuName?.(index))).toEqual(["2", "9"]);
});

test("equal numbers on two nodes are different CPUs; what is not named is on this machine", () => {
  const nodes = [
    { node: "localhost", cpus: [0, 1] },
    { node: "b", cpus: [0, 1] },
  ];
  const jobs = [
    { ...job, cpus: [1], nodes: [{ node: "b", cpus: [1] }] },
    { ...job, job: 8, cpus: [1] },
    { ...job, job: 9, cpus: [5] },
  ];
  const data = timelineData(answer({ cpus: [0, 1, 0, 1], nodes, jobs }), 1200);
  expect(data.jobs.map(({ cpus }) => cpus)).toEqual([[{ first: 3, end: 4 }], [{ first: 1, end: 2 }], []]);
  expect(data.cpuName?.(3)).toBe("b:1");
});

test("a job that shares its CPUs counts the share in which it ran", () => {
  const ended = { ...job, job: 8, cpus: [2], state: "done" as const, endedAtMs: 1000 };
  const { jobs } = timelineData(answer({ jobs: [{ ...job, cpus: [2], rows: [1] }, ended] }), 1200);
  // 400 ms of the 800 ms from 200 to the time of the answer, or to the end.
  expect(jobs.map(({ share, row, endMs }) => [share, row, endMs])).toEqual([
    [0.5, 1, undefined],
    [0.5, undefined, 1000],
  ]);
});

test("windows are bands with their names; a name cannot hide in the picture", () => {
  const window = { fromMs: 3000, untilMs: 9000, by: "root", atMs: 0 };
  const { bands } = timelineData(answer({}), 1200, [{ ...window, name: "disk\n" }]);
  expect(bands).toEqual([{ fromMs: 3000, toMs: 9000, label: "disk\\n" }]);
  expect(timelineData(answer({}), 1200).bands).toEqual([]);
});

test("a job of another user is its CPUs and its time", () => {
  const others = [
    { job: 3, cpus: [8, 9], fromMs: 300 },
    { job: 4, cpus: [2], fromMs: 100, toMs: 250 },
  ];
  const { jobs } = timelineData(answer({ others }), 1200);
  expect(jobs).toEqual([
    { job: 3, name: "", state: "running", tasks: 2, cpus: [{ first: 2, end: 4 }], startMs: 300 },
    { job: 4, name: "", state: "ended", tasks: 1, cpus: [{ first: 0, end: 1 }], startMs: 100, endMs: 250 },
  ]);
});
