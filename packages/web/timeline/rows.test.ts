import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TimelineData, TimelineJob } from "./data.ts";
import { type Arrangement, arrange } from "./rows.ts";

const ended = (job: number, startMs: number, endMs: number, cpus: [number, number][]): TimelineJob => ({
  job,
  name: `j${job}`,
  queue: job % 2 === 0 ? "even" : "odd",
  tasks: cpus.reduce((sum, [first, end]) => sum + end - first, 0),
  cpus: cpus.map(([first, end]) => ({ first, end })),
  startMs,
  endMs,
});
const data = (cpus: number, jobs: readonly TimelineJob[], nowMs?: number): TimelineData => ({
  jobs,
  cpus,
  clock: "elapsed",
  ...(nowMs !== undefined && { nowMs }),
});
const barsOf = ({ bars }: Arrangement) =>
  Array.from({ length: bars.length }, (_, i) => [
    bars.job[i],
    bars.firstRow[i],
    bars.endRow[i],
    bars.fromMs[i],
    bars.toMs[i],
  ]);

describe("arrange()", () => {
  test("by CPU: a bar for each range, waiting jobs below", () => {
    const waiting = {
      job: 3,
      name: "w",
      tasks: 2,
      cpus: [],
      expectedStart: { p10Ms: 20, p50Ms: 25, p90Ms: 30 },
      expectedEnd: { p10Ms: 40, p50Ms: 45, p90Ms: 50 },
    };
    const arranged = arrange(
      data(
        4,
        [
          ended(1, 0, 10, [[0, 2]]),
          ended(2, 10, 12, [
            [1, 2],
            [3, 4],
          ]),
          waiting,
        ],
        15,
      ),
      "cpus",
    );
    expect(barsOf(arranged)).toEqual([
      [0, 0, 2, 0, 10],
      [1, 1, 2, 10, 12],
      [1, 3, 4, 10, 12],
      [2, 4, 5, 20, 50],
    ]);
    expect(arranged.rows).toBe(5);
    expect(arranged.groups).toEqual([
      { title: "CPUs", firstRow: 0, endRow: 4, firstCpu: 0 },
      { title: "waiting", firstRow: 4, endRow: 5 },
    ]);
  });

  test("by CPU under time sharing: the row of the matrix decides, then the first free copy", () => {
    const running = (job: number, row: number): TimelineJob => ({
      job,
      name: "",
      tasks: 2,
      cpus: [{ first: 0, end: 2 }],
      row,
      startMs: 10,
    });
    const arranged = arrange(data(2, [running(1, 1), running(2, 0), ended(3, 0, 10, [[0, 1]])], 20), "cpus");
    expect(arranged.groups.map(({ title }) => title)).toEqual(["row 1", "row 2"]);
    expect(barsOf(arranged)).toEqual([
      [2, 0, 1, 0, 10],
      [1, 0, 2, 10, 20],
      [0, 2, 4, 10, 20],
    ]);
  });

  test("by CPU: bars of a row never overlap, whatever overlaps in time", () => {
    const job = fc.record({
      startMs: fc.integer({ min: 0, max: 100 }),
      lengthMs: fc.integer({ min: 1, max: 40 }),
      first: fc.integer({ min: 0, max: 7 }),
      width: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(fc.array(job, { maxLength: 40 }), (drafts) => {
        const jobs = drafts.map(({ startMs, lengthMs, first, width }, i) =>
          ended(i + 1, startMs, startMs + lengthMs, [[first, Math.min(8, first + width)]]),
        );
        for (const kind of ["cpus", "queues"] as const) {
          const { bars, rows } = arrange(data(8, jobs), kind);
          for (let a = 0; a < bars.length; a++) {
            expect(bars.endRow[a]).toBeLessThanOrEqual(rows);
            for (let b = 0; b < a; b++) {
              const isSameRow = bars.firstRow[a] < bars.endRow[b] && bars.firstRow[b] < bars.endRow[a];
              const isSameTime = bars.fromMs[a] < bars.toMs[b] && bars.fromMs[b] < bars.toMs[a];
              expect(isSameRow && isSameTime).toBe(false);
            }
          }
          expect(new Set(bars.job).size).toBe(jobs.length);
        }
      }),
    );
  });

  test("by job: in the order of the beginnings, jobs without a forecast last", () => {
    const held = { job: 9, name: "held", tasks: 1, cpus: [] };
    const arranged = arrange(data(4, [held, ended(1, 5, 9, [[0, 1]]), ended(2, 1, 3, [[0, 1]])]), "jobs");
    expect(arranged.groups.map(({ title }) => title)).toEqual(["2 j2", "1 j1", "9 held"]);
    expect(barsOf(arranged)).toEqual([
      [2, 0, 1, 1, 3],
      [1, 1, 2, 5, 9],
    ]);
    expect(arranged.rows).toBe(3);
  });

  test("names of jobs and queues show characters that steer text", () => {
    const odd = { ...ended(1, 0, 9, [[0, 1]]), name: "a\u202egpj\u001b", queue: "q\u0007" };
    const notSubmitted = { ...ended(-1, 1, 9, [[1, 2]]), name: "b\n", queue: "q\u0007" };
    const titles = (kind: "jobs" | "queues") =>
      arrange(data(4, [odd, notSubmitted]), kind).groups.map(({ title }) => title);
    expect(titles("jobs")).toEqual(["1 a\\u202egpj\\x1b", "b\\n"]);
    expect(titles("queues")).toEqual(["q\\x07"]);
  });

  test("by queue: as few rows as the jobs of each queue need", () => {
    const jobs = [
      ended(1, 0, 10, [[0, 1]]),
      ended(3, 5, 9, [[1, 2]]),
      ended(5, 10, 20, [[0, 1]]),
      ended(2, 0, 4, [[2, 3]]),
    ];
    const arranged = arrange(data(4, jobs), "queues");
    expect(arranged.groups).toEqual([
      { title: "even", firstRow: 0, endRow: 1 },
      { title: "odd", firstRow: 1, endRow: 3 },
    ]);
    expect(barsOf(arranged)).toEqual([
      [3, 0, 1, 0, 4],
      [0, 1, 2, 0, 10],
      [1, 2, 3, 5, 9],
      [2, 1, 2, 10, 20],
    ]);
  });
});
