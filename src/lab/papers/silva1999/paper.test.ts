import { describe, expect, test } from "vitest";
import { TaskChecker } from "../../../models/tasks/checker.ts";
import { grades, idle } from "../../../models/tasks/local-task-scheduler.ts";
import { simulateTasks } from "../../../models/tasks/simulate.ts";
import { makeTaskPrograms } from "../../../models/tasks/task-programs.ts";
import { tasks } from "../../../models/tasks/wing.ts";
import { parseWing } from "../../../models/wings.ts";
import { chooseAmong } from "../../../policies/choose.ts";
import { gang } from "../../../policies/gangs/gang.ts";
import { type Cell, cells, OPEN, runCell, type Series, STUDIES, type StudyName } from "./cells.ts";
import { judgeStatements, type WorkloadRuns } from "./claims.ts";
import { silva1999 } from "./paper.ts";
import { PUBLISHED, timesS, WORKLOADS } from "./published.ts";

/** A series with the same values in every row. */
function flat(jobs: number, idlePercent: number): Series {
  return {
    jobs: [jobs, jobs, jobs, jobs, jobs],
    idlePercent: [idlePercent, idlePercent, idlePercent, idlePercent, idlePercent],
    idleBy: [0, 0, 0, idlePercent],
    meanRows: 1,
  };
}

function runsOf(gangSeries: Series, concurrent: Series): WorkloadRuns {
  const pair = [{ gang: gangSeries, concurrent }];
  return { "I/O": pair, computation: pair, communication: pair, synchronisation: pair, mixed: pair };
}

const ONE_SEED: readonly Cell[] = [
  ...WORKLOADS.map((workload) => ({ kind: "tables", workload, seed: 1999 }) as const),
  { kind: "study", study: "blocking", seed: 1999 },
];

describe("silva1999", () => {
  test("runCell() is a pure function of the cell", () => {
    const cell: Cell = { kind: "tables", workload: "computation", seed: 1999 };
    expect(runCell(cell)).toEqual(runCell(cell));
    expect(runCell({ ...cell, seed: 2000 })).not.toEqual(runCell(cell));
  });

  test("cells() covers every workload and every study, with seeds from the given one on", () => {
    const all = cells(5);
    for (const workload of WORKLOADS) {
      const seeds = all.flatMap((cell) =>
        cell.kind === "tables" && cell.workload === workload ? [cell.seed] : [],
      );
      expect(seeds).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    }
    for (const study of Object.keys(STUDIES) as StudyName[]) {
      expect(all.filter((cell) => cell.kind === "study" && cell.study === study)).toHaveLength(4);
    }
  });

  test("the wing gives the paper's last row with the paper's settings", () => {
    const { parameters } = parseWing(`tasks:hours=${40_000 / 3600}:kind=I/O:compute=10`)!;
    const [{ gang, concurrent }] = runCell({ kind: "tables", workload: "I/O", seed: 5 });
    for (const [policy, series] of [["tasks-idle", gang] as const, ["tasks-grades", concurrent] as const]) {
      const run = tasks.simulate(parameters, chooseAmong(tasks.policies, policy), 5, true);
      const measures = new Map(run.measures.map(({ name, value }) => [name, value]));
      expect(measures.get("ended")).toBe(series.jobs.at(-1));
      expect(100 * measures.get("idle")!).toBeCloseTo(series.idlePercent.at(-1)!, 9);
      expect(measures.get("mean-rows")).toBe(series.meanRows);
    }
  });

  test("one seed gives the ten tables beside the published values, and the paper's direction", () => {
    const numbers = ONE_SEED.map(runCell);
    const { tables, statements, figures } = silva1999.collect(ONE_SEED, numbers, { seed: 1999 });
    for (const published of PUBLISHED) {
      const found = tables.find((table) => table.id === published.id);
      expect(found?.rows.map((row) => row.labels[0])).toEqual(timesS(published.workload).map(String));
      expect(found?.rows.map((row) => row.values.map((value) => value.published))).toEqual(
        published.rows.map(([, jobs, idlePercent]) => [jobs, idlePercent]),
      );
      for (const { values } of found?.rows ?? []) {
        for (const { published: printed, ours, reason } of values) {
          expect(reason !== undefined).toBe(Math.abs(ours / (printed as number) - 1) > 0.1);
        }
      }
    }
    const rows = statements.filter(({ statement }) => statement.includes("at every row from the second on"));
    expect(rows).toHaveLength(10);
    for (const { statement, holds } of rows) expect([statement, holds]).toEqual([statement, true]);
    // More I/O, more idle time under gang scheduling, far less of it under Concurrent Gang.
    const blocking = figures.find(({ title }) => title.includes("idle") && title.includes("Share"));
    const [gangIdle, concurrentIdle] = (blocking?.series ?? []).map(({ ours }) =>
      ours.map(([, percent]) => percent),
    );
    expect(gangIdle).toEqual([...gangIdle].sort((a, b) => a - b));
    for (const [i, percent] of gangIdle.entries()) expect(concurrentIdle[i]).toBeLessThan(percent / 2);
  });

  test("the paper's workloads break no rule of the checker", () => {
    for (const definition of [idle, grades]) {
      const untilMs = 1_500_000;
      const programs = makeTaskPrograms("mixed", {
        seed: 1999,
        untilMs,
        maxSize: 32,
        // Many short jobs, so that rows fill and jobs end within the short run.
        interarrivalFactor: OPEN.interarrivalFactor / 20,
        serviceFactor: OPEN.serviceFactor / 20,
        kinds: WORKLOADS.map((kind) => ({ kind, weight: 1 })),
        times: OPEN.times,
      });
      const options = {
        processors: 32,
        slotMs: OPEN.slotMs,
        switchMs: 100,
        ownReturns: true,
        gang: { definition: gang, parameters: { fit: "first" } },
        local: { definition, parameters: { alpha: 2, slots: 5 } },
        recordAtMs: [untilMs],
      };
      const checker = new TaskChecker(programs, options);
      const result = simulateTasks(programs, { ...options, observer: checker });
      checker.check(result);
      expect(result.maxRows).toBeGreaterThan(5);
      expect(result.totals[0].jobsCompleted).toBeGreaterThan(0);
    }
  });
});

describe("judgeStatements()", () => {
  const holding = (runs: WorkloadRuns) => judgeStatements(runs).map(({ holds }) => holds);

  test("idle time has to be lower, completions at least equal", () => {
    expect(holding(runsOf(flat(10, 50), flat(10, 49))).slice(0, 10)).toEqual(new Array(10).fill(true));
    expect(holding(runsOf(flat(10, 50), flat(10, 50))).slice(0, 5)).toEqual(new Array(5).fill(false));
    expect(holding(runsOf(flat(10, 50), flat(9, 49))).slice(5, 10)).toEqual(new Array(5).fill(false));
  });

  test("the first row is not compared", () => {
    const slow = { ...flat(10, 40), jobs: [0, 10, 10, 10, 10], idlePercent: [90, 40, 40, 40, 40] };
    expect(holding(runsOf(flat(10, 50), slow)).slice(0, 10)).toEqual(new Array(10).fill(true));
  });

  test("equivalent means within 10 % of completions", () => {
    expect(holding(runsOf(flat(10, 50), flat(10.9, 40)))[11]).toBe(true);
    expect(holding(runsOf(flat(10, 50), flat(12, 40)))[11]).toBe(false);
  });
});
