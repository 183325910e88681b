/**
 * Computes the result of a cell of the kind `tasks`: simulates programs whose tasks block, on one machine
 * under gang scheduling.
 */

import { gang } from "@tutti/kernel/policies/gangs/gang.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import type { CellInputs } from "@tutti/lab/experiments/cell.ts";
import type { TasksOptions, TasksResult } from "../wings/tasks/contract.ts";
import { grades, idle } from "../wings/tasks/local-task-scheduler.ts";
import { simulateTasks } from "../wings/tasks/simulate.ts";
import { makeTaskPrograms, type ProgramsOptions } from "../wings/tasks/task-programs.ts";

interface TasksCell extends Pick<TasksOptions, "processors" | "slotMs" | "switchMs" | "ownReturns"> {
  readonly workload: string;
  readonly programs: ProgramsOptions;
  /** Weight of the local scheduler's grades; undefined: other tasks do not run in idle slots. */
  readonly alpha?: number | undefined;
  readonly recordAtS: readonly number[];
}

/** One entry per recorded time. */
export interface Series {
  readonly jobs: readonly number[];
  readonly idlePercent: readonly number[];
  /**
   * Why processors idle, as % of processor time at the last row: the slot's own task is in I/O, waits for a
   * message, or waits at a barrier; or the slot has no own task.
   */
  readonly idleBy: readonly [io: number, message: number, barrier: number, empty: number];
  readonly meanRows: number;
}

export async function runTasks(cell: TasksCell, inputs: CellInputs): Promise<Series> {
  const { workload, processors, slotMs, switchMs, ownReturns, alpha } = cell;
  const programs = inputs.once([workload, cell.programs], () => makeTaskPrograms(workload, cell.programs));
  return series(
    simulateTasks(programs, {
      processors,
      slotMs,
      switchMs,
      ownReturns,
      moldable: false,
      gang: makeChoice(gang, ["place=any"]),
      local:
        alpha === undefined
          ? { definition: idle, parameters: {} }
          : { definition: grades, parameters: { alpha, slots: 5 } },
      recordAtMs: cell.recordAtS.map((timeS) => 1000 * timeS),
    }),
    processors,
  );
}

function series({ totals, meanRows }: TasksResult, processors: number): Series {
  const last = totals[totals.length - 1];
  const percent = (partMs: number, timeMs: number) => (100 * partMs) / (processors * timeMs);
  return {
    jobs: totals.map((at) => at.jobsCompleted),
    idlePercent: totals.map((at) => percent(at.ioMs + at.messageMs + at.barrierMs + at.emptyMs, at.timeMs)),
    idleBy: [
      percent(last.ioMs, last.timeMs),
      percent(last.messageMs, last.timeMs),
      percent(last.barrierMs, last.timeMs),
      percent(last.emptyMs, last.timeMs),
    ],
    meanRows,
  };
}
