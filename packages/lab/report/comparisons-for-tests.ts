/**
 * Makes a small comparison for the tests of the report: a space-sharing policy and optionally a gang policy.
 */
import type { GangRecord } from "@tutti/kernel/core/schedule.ts";
import { handMade } from "@tutti/kernel/metrics/schedules-for-tests.ts";
import { summarise } from "@tutti/kernel/metrics/summary.ts";
import type { ComparedPolicy, Comparison } from "../results/comparison.ts";
import { rankingCells, rankingColumns } from "./ranking.ts";

const JOBS = [
  { id: 11, submitS: 0, runS: 10, size: 2 },
  { id: 12, submitS: 0, runS: 20, size: 2 },
  { id: 13, submitS: 5, runS: 5, size: 4 },
  { id: 14, submitS: 6, runS: 0, size: 1 },
  { id: 15, submitS: 10, runS: 30, size: 1 },
];

/**
 * Starts of the five jobs above on 4 processors: in order of arrival, and with jobs 14 and 15 ahead of 13.
 */
const IN_ORDER = [0, 0, 20, 25, 25]; // waits 0, 0, 15, 19, 15
const BACKFILLED = [0, 0, 40, 10, 10]; // waits 0, 0, 35, 4, 0

const GANG: GangRecord = {
  slotS: 5,
  switchS: 0,
  rowsAtS: Float64Array.of(0, 10, 30),
  rows: Int32Array.of(1, 3, 2),
  maxRows: 3,
  activeProcessorSlots: 12,
  slots: 10,
  unifications: 0,
  moves: 0,
  migrations: 0,
  migrationS: 0,
};

/**
 * Two policies; the second is time sharing if `gang` is set.
 * Mean waits: (0 + 0 + 15 + 19 + 15)/5 = 9.8 s and (0 + 0 + 35 + 4 + 0)/5 = 7.8 s.
 */
export function comparison(
  options: {
    readonly name?: string;
    readonly labels?: readonly [string, string];
    readonly gang?: boolean;
  } = {},
): Comparison {
  const { name = "five-jobs.swf", labels = ["fcfs", "easy"], gang = false } = options;
  const made = (starts: readonly number[], isGang: boolean) =>
    handMade(
      4,
      JOBS.map((job, i) => ({ ...job, startS: starts[i] })),
      { name, startsByRule: [5], ...(isGang ? { gang: GANG } : {}) },
    );
  const policies = [IN_ORDER, BACKFILLED].map((starts, i): ComparedPolicy => {
    const { instance, schedule } = made(starts, gang && i === 1);
    return {
      label: labels[i],
      title: `Policy ${i}`,
      rules: ["one decision per instant"],
      summary: summarise(instance, schedule),
      schedule,
      scheduleHash: `hash-${i}`,
      replications: undefined,
    };
  });
  return {
    instance: made(IN_ORDER, false).instance,
    workloadHash: "workload-hash",
    seed: undefined,
    rules: ["overrun=raise: no job is killed"],
    made: { version: "1.2.3", revision: "abc" },
    command: undefined,
    policies,
  };
}

/** Labels of the policies that are marked as the best in a column of the ranking table. */
export function bestOf(policies: readonly ComparedPolicy[], title: string): string[] {
  const column = rankingColumns(policies).find((one) => one.title === title);
  if (column === undefined) throw new Error(`There is no column "${title}"`);
  return rankingCells(column, policies).flatMap(({ isBest }, i) => (isBest ? [policies[i].label] : []));
}
