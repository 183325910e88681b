/**
 * Chooses the part of a schedule that a Gantt chart shows: a span around the longest queue that has no more
 * jobs than a reader can look at. The span is the same for every policy.
 */
import type { Instance } from "../../core/jobs.ts";
import { asGiven, type Schedule } from "../../core/schedule.ts";
import { queueLength } from "../../metrics/over-time.ts";
import { dealProcessors } from "../../metrics/processors.ts";
import type { MatrixRecord } from "../../results/matrix-record.ts";

/** Start and end of jobs, or of the stretches of time in which they ran. */
type Times = Pick<Schedule, "startS" | "endS">;

export interface TimeSpan {
  readonly fromS: number;
  readonly toS: number;
}

/** The jobs in a span and their processors, as plain arrays that can be written as JSON. */
export interface GanttChart {
  readonly id: number[];
  readonly submitS: number[];
  readonly startS: number[];
  readonly endS: number[];
  readonly size: number[];
  /** Index of the job in the columns above, per box. */
  readonly boxJob: number[];
  readonly boxFirst: number[];
  readonly boxSize: number[];
  /** Row of the matrix at the job's first placement, per box; null for space sharing. */
  readonly boxRow: number[] | null;
}

/**
 * A span around the longest queue of the first schedule in which no schedule has more than `jobs` jobs. It is
 * the whole run if that has few enough jobs.
 */
export function ganttSpan(instance: Instance, schedules: readonly Schedule[], jobs: number): TimeSpan {
  const fromS = instance.count === 0 ? 0 : instance.submitS[0];
  let toS = fromS;
  for (const { endS } of schedules) for (const end of endS) if (end > toS) toS = end;
  const maxJobs = (span: TimeSpan) =>
    schedules.reduce((max, schedule) => Math.max(max, jobsWithin(schedule, span)), 0);
  const whole = { fromS, toS };
  if (instance.count <= jobs || maxJobs(whole) <= jobs) return whole;
  const centreS = longestQueueAtS(instance, schedules[0]);
  let lengthS = (toS - fromS) * Math.min(1, (4 * jobs) / instance.count);
  for (;;) {
    const beginS = Math.max(fromS, Math.min(centreS - lengthS / 2, toS - lengthS));
    const span = { fromS: beginS, toS: beginS + lengthS };
    if (maxJobs(span) <= jobs || lengthS < 1) return span;
    lengthS *= 0.8;
  }
}

/**
 * The boxes of a space-sharing schedule within the span, in order of arrival; then the later stretches of
 * jobs that were stopped.
 */
export function ganttChart(asked: Instance, schedule: Schedule, span: TimeSpan): GanttChart {
  const instance = asGiven(asked, schedule);
  const runs = dealProcessors(instance, schedule);
  const chart = emptyChart(null);
  const { stretches } = runs;
  for (let row = 0; row < stretches.size.length; row++) {
    if (!overlaps(stretches, row, span)) continue;
    const at = addJob(chart, instance, stretches, row, stretches.jobOf(row));
    for (let run = runs.offset[row]; run < runs.offset[row + 1]; run++)
      addBox(chart, at, runs.first[run], runs.size[run]);
  }
  return chart;
}

/**
 * The boxes of gangs, on the processors and in the row of their first placement, in the order of placement.
 */
export function gangChart(
  asked: Instance,
  schedule: Schedule,
  { boxJob, boxFirst, boxSize, boxRow }: MatrixRecord,
  span: TimeSpan,
): GanttChart {
  const instance = asGiven(asked, schedule);
  const rows: number[] = [];
  const chart = emptyChart(rows);
  let last = -1;
  for (let box = 0; box < boxJob.length; box++) {
    const job = boxJob[box];
    if (!overlaps(schedule, job, span)) continue;
    if (job !== last) addJob(chart, instance, schedule, job);
    last = job;
    addBox(chart, chart.id.length - 1, boxFirst[box], boxSize[box]);
    rows.push(boxRow[box]);
  }
  return chart;
}

function emptyChart(boxRow: number[] | null): GanttChart {
  return {
    id: [],
    submitS: [],
    startS: [],
    endS: [],
    size: [],
    boxJob: [],
    boxFirst: [],
    boxSize: [],
    boxRow,
  };
}

/** @returns the job's row in the chart */
function addJob(chart: GanttChart, instance: Instance, times: Times, row: number, job = row): number {
  chart.submitS.push(instance.submitS[job]);
  chart.startS.push(times.startS[row]);
  chart.endS.push(times.endS[row]);
  chart.size.push(instance.size[job]);
  return chart.id.push(instance.id[job]) - 1;
}

function addBox(chart: GanttChart, at: number, first: number, size: number): void {
  chart.boxJob.push(at);
  chart.boxFirst.push(first);
  chart.boxSize.push(size);
}

function jobsWithin(schedule: Schedule, span: TimeSpan): number {
  let jobs = 0;
  for (let job = 0; job < schedule.startS.length; job++) if (overlaps(schedule, job, span)) jobs++;
  return jobs;
}

function overlaps({ startS, endS }: Times, row: number, { fromS, toS }: TimeSpan): boolean {
  return startS[row] <= toS && endS[row] >= fromS;
}

function longestQueueAtS(instance: Instance, schedule: Schedule): number {
  const { atS, value } = queueLength(instance, schedule);
  let longest = 0;
  for (let i = 1; i < value.length; i++) if (value[i] > value[longest]) longest = i;
  return atS[longest] ?? instance.submitS[0];
}
