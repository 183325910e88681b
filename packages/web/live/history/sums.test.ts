import type { Job } from "@tutti/protocol/answers.ts";
import { expect, test } from "vitest";
import { boundedSlowdown, sumsBy, waitS } from "./sums.ts";

const job = (number: number, more: Partial<Job>): Job =>
  ({ job: number, user: "ada", state: "done", tasks: 1, submittedAtMs: 0, ranMs: 0, ...more }) as Job;

/**
 *   job  user  CPUs  submitted  started  ended  ran    wait  response  bounded slowdown (10 s)
 *    1   ada    2      0 s       10 s    110 s  100 s  10 s   110 s     1.1
 *    2   ada    4      0 s       30 s     34 s    2 s  30 s    34 s     3.4
 *    3   eva   36      0 s        0 s    200 s  100 s   0 s   200 s     2     (half of the slots)
 *    4   ada    1      0 s        –       5 s     –     –      –        –
 */
const JOBS = [
  job(1, { tasks: 2, startedAtMs: 10_000, endedAtMs: 110_000, ranMs: 100_000 }),
  job(2, { tasks: 4, startedAtMs: 30_000, endedAtMs: 34_000, ranMs: 2000, state: "failed" }),
  job(3, { tasks: 36, user: "eva", startedAtMs: 0, endedAtMs: 200_000, ranMs: 100_000 }),
  job(4, { endedAtMs: 5000, state: "cancelled" }),
];

test("waits and slowdowns of single jobs", () => {
  expect(JOBS.map(waitS)).toEqual([10, 30, 0, Number.NaN]);
  expect(JOBS.map(boundedSlowdown)).toEqual([1.1, 3.4, 2, Number.NaN]);
});

test("sums, the most CPU time first", () => {
  const [eva, ada] = sumsBy(JOBS, ({ user }) => user);
  expect(eva).toEqual({
    ...{ key: "eva", jobs: 1, done: 1, failed: 0, cancelled: 0 },
    ...{ cpuS: 3600, medianWaitS: 0, p90WaitS: 0 },
  });
  expect(ada).toMatchObject({ key: "ada", jobs: 3, done: 1, failed: 1, cancelled: 1 });
  // 2 · 100 s + 4 · 2 s; quantiles by linear interpolation between 10 and 30.
  expect(ada.cpuS).toBe(208);
  expect([ada.medianWaitS, ada.p90WaitS]).toEqual([20, 28]);
  expect(sumsBy([], ({ user }) => user)).toEqual([]);
});
