/** Makes tiny instances and schedules by hand for the tests of metrics and report. */
import type { Instance } from "../core/jobs.ts";
import type { OverrunRule } from "../core/rules.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import type { GangRecord, Schedule } from "../core/schedule.ts";

/**
 * One job: its submit time, run time, size, start (NaN: never), and its end if that is not start + run time.
 */
export interface JobLine {
  readonly submitS: number;
  readonly runS: number;
  readonly size: number;
  readonly startS: number;
  readonly endS?: number;
  readonly id?: number;
  /** Run time in the workload, if the instance's run time was cut. */
  readonly traceRunS?: number;
}

export interface HandMade {
  readonly instance: Instance;
  readonly schedule: Schedule;
}

/** Jobs in submit order; without numbers, they count from 1. */
export function handMade(
  processors: number,
  lines: readonly JobLine[],
  options: {
    readonly gang?: GangRecord;
    readonly overrun?: OverrunRule;
    readonly startsByRule?: readonly number[];
    readonly name?: string;
  } = {},
): HandMade {
  const column = (value: (line: JobLine, row: number) => number) => Float64Array.from(lines, value);
  const whole = (value: (line: JobLine, row: number) => number) => Int32Array.from(lines, value);
  const id = whole((line, row) => line.id ?? row + 1);
  const submitS = column((line) => line.submitS);
  const runS = column((line) => line.runS);
  const size = whole((line) => line.size);
  const traceRunS = column((line) => line.traceRunS ?? line.runS);
  const instance: Instance = {
    workload: {
      name: options.name ?? "hand-made",
      count: lines.length,
      jobs: { id, submitS, runS: traceRunS, size, estimateS: runS },
      processors,
      trace: undefined,
      header: [],
      diagnostics: [],
    },
    processors,
    rules: { ...DEFAULT_RULES, overrun: options.overrun ?? "raise" },
    count: lines.length,
    id,
    submitS,
    runS,
    size,
    estimateS: runS,
    workloadRow: undefined,
    diagnostics: [],
  };
  const schedule: Schedule = {
    startS: column((line) => line.startS),
    endS: column((line) => line.endS ?? line.startS + line.runS),
    instants: lines.length,
    startsByRule: options.startsByRule ?? [],
    gang: options.gang,
  };
  return { instance, schedule };
}

/** A plain first come, first served: turns any jobs into a schedule that fits the machine. */
export function firstComeFirstServed(
  processors: number,
  jobs: readonly { submitS: number; runS: number; size: number }[],
): HandMade {
  const sorted = [...jobs].sort((a, b) => a.submitS - b.submitS);
  const lines: JobLine[] = [];
  let notBeforeS = 0;
  for (const job of sorted) {
    let startS = Math.max(job.submitS, notBeforeS);
    const ends = lines.map((line) => line.startS + line.runS).sort((a, b) => a - b);
    const busyAt = (timeS: number) =>
      lines
        .filter((line) => line.startS <= timeS && timeS < line.startS + line.runS)
        .reduce((sum, line) => sum + line.size, 0);
    while (busyAt(startS) + job.size > processors) startS = ends.find((end) => end > startS)!;
    lines.push({ ...job, startS });
    notBeforeS = startS;
  }
  return handMade(processors, lines);
}
