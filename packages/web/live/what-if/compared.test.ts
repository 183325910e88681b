import { expect, test } from "vitest";
import { compare } from "./compared.ts";

const times = (job: number, startMs: number, endMs: number) => ({
  ...{ job, p10Ms: startMs - 10, p50Ms: startMs, p90Ms: startMs + 10 },
  ...{ endP10Ms: endMs - 10, endP50Ms: endMs, endP90Ms: endMs + 10 },
});
const known = new Map([
  [1, { name: "runs", tasks: 2, submittedAtMs: 0, startedAtMs: 50 }],
  [2, { name: "waits", tasks: 1, submittedAtMs: 10 }],
]);
const end = (job: number, ms: number) => ({ job, endP10Ms: ms, endP50Ms: ms, endP90Ms: ms });

test("differences are those of starts, of ends for running jobs, the largest loss first", () => {
  const { differences, before, after } = compare(
    {
      policy: "easy",
      running: [end(1, 300)],
      jobs: [times(2, 250, 400), times(3, 100, 120)],
      hypothetical: [
        { queue: "q", estimateMs: 100, ...times(0, 500, 600) },
        { queue: "q", estimateMs: 100, noForecast: "cpus" },
      ],
      base: {
        policy: "fcfs",
        running: [end(1, 280)],
        jobs: [times(2, 200, 300), times(3, 150, 170), times(4, 700, 800)],
      },
    },
    known,
    90,
  );
  expect(differences.map(({ job, changeMs }) => [job, changeMs])).toEqual([
    [4, undefined],
    [2, 50],
    [1, 20],
    [3, -50],
  ]);
  expect(before.jobs.map(({ job, startMs, expectedStart }) => [job, startMs, expectedStart?.p50Ms])).toEqual([
    [1, 50, undefined],
    [2, undefined, 200],
    [3, undefined, 150],
    [4, undefined, 700],
  ]);
  expect(after.jobs.map(({ job, name, expectedEnd }) => [job, name, expectedEnd?.p50Ms])).toEqual([
    [1, "runs", 300],
    [2, "waits", 400],
    [3, "", 120],
    [-1, "your job", 600],
  ]);
});

test("without a base, nothing differs", () => {
  const { differences } = compare({ policy: "easy", running: [], jobs: [times(2, 250, 400)] }, known, 90);
  expect(differences.map(({ changeMs }) => changeMs)).toEqual([0]);
});
