/**
 * What a timeline shows. The component takes it from the live scheduler, from a simulated schedule or from a
 * question of what would happen:
 *
 *     <Timeline data={data} state={state} onState={(changes) => …} label="Schedule" jobHref={…} />
 *
 * A finished schedule has no `nowMs`; each of its jobs has `startMs` and `endMs`, and needs nothing else but
 * its CPUs as ranges. A job that waits has `expectedStart` and `expectedEnd`; one that runs has `startMs` and
 * `expectedEnd`. All times are in ms: since 1970 if `clock` is "calendar", since any beginning if it is
 * "elapsed". `state` is in the address of the page; see state.ts.
 */

import { visibleLine } from "@tutti/words/visible.ts";
import { gangColour, gangRgb } from "../page/gang-colours.ts";

/** Indices of neighbouring CPUs in the order of the machine; `end` is the first one after them. */
interface CpuRange {
  readonly first: number;
  readonly end: number;
}

/** A tenth of the simulated futures is before `p10Ms`, half of them before `p50Ms`, a tenth after `p90Ms`. */
export interface Interval {
  readonly p10Ms: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  /** The median says nothing. */
  readonly onlyRange?: true | undefined;
}

export interface TimelineJob {
  /** Its number; below 0 for a job that is not submitted. */
  readonly job: number;
  readonly name: string;
  readonly user?: string;
  readonly queue?: string;
  /** A word for people, such as running. */
  readonly state?: string;
  /** Number of CPUs. */
  readonly tasks: number;
  /** Its CPUs; empty if they are not known. */
  readonly cpus: readonly CpuRange[];
  /** Under time sharing: the row of the matrix that it has now, from 0. */
  readonly row?: number;
  readonly submittedMs?: number;
  readonly startMs?: number;
  readonly endMs?: number;
  /** Share of the time between start and end in which it ran; default 1. */
  readonly share?: number;
  readonly expectedStart?: Interval;
  readonly expectedEnd?: Interval;
  /** The start that the policy has promised. */
  readonly promisedMs?: number;
}

export type Rgb = readonly [number, number, number];

/** An instant that is set apart, such as a fault. */
interface Mark {
  readonly atMs: number;
  readonly label: string;
}

/** A stretch of time that is set apart, such as a reservation or an outage. */
interface Band {
  readonly fromMs: number;
  readonly toMs: number;
  readonly label: string;
}

export interface TimelineData {
  readonly jobs: readonly TimelineJob[];
  /** Number of CPUs of the machine. */
  readonly cpus: number;
  /** Name of a CPU by its index; default: the index. */
  readonly cpuName?: (index: number) => string;
  readonly clock: "calendar" | "elapsed";
  /** Red, green and blue of a job; default: those of its number. */
  readonly colour?: (job: TimelineJob) => Rgb;
  /** Left out if nothing runs or waits. */
  readonly nowMs?: number;
  readonly bands?: readonly Band[];
  /** In the order of time. */
  readonly marks?: readonly Mark[];
}

export function colourOf({ colour }: TimelineData, job: TimelineJob): Rgb {
  return colour?.(job) ?? gangRgb(gangColour(job.job));
}

/** The time in which a job is drawn: from its start, or the earliest expected one, to its latest end. */
interface Extent {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Undefined for a job that has no start and no forecast. */
export function extentOf(job: TimelineJob, nowMs = Number.NEGATIVE_INFINITY): Extent | undefined {
  const { startMs, endMs, expectedStart, expectedEnd } = job;
  const fromMs = startMs ?? expectedStart?.p10Ms;
  if (fromMs === undefined) return undefined;
  const lastMs = endMs ?? Math.max(startMs === undefined ? fromMs : nowMs, expectedEnd?.p90Ms ?? fromMs);
  return { fromMs, toMs: Math.max(fromMs, lastMs) };
}

/** Share of the simulated futures in which something has happened by a time; straight between quantiles. */
function happenedBy(ms: number, { p10Ms, p50Ms, p90Ms }: Interval): number {
  if (ms >= p90Ms) return 1;
  if (ms < p10Ms) return 0;
  if (ms < p50Ms) return 0.1 + (0.4 * (ms - p10Ms)) / (p50Ms - p10Ms);
  return 0.5 + (0.4 * (ms - p50Ms)) / (p90Ms - p50Ms);
}

/** How likely it is that the job runs at a time in the future. */
export function chanceOfRunning(ms: number, job: TimelineJob): number {
  const { startMs, endMs, expectedStart, expectedEnd } = job;
  const hasBegun =
    startMs === undefined
      ? expectedStart === undefined
        ? 0
        : happenedBy(ms, expectedStart)
      : Number(ms >= startMs);
  const hasEnded =
    endMs === undefined ? (expectedEnd === undefined ? 0 : happenedBy(ms, expectedEnd)) : Number(ms >= endMs);
  return Math.max(0, hasBegun - hasEnded);
}

/** Neighbouring indices as ranges. */
export function cpuRanges(indices: readonly number[]): CpuRange[] {
  const ranges: { first: number; end: number }[] = [];
  for (const index of [...indices].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.end === index) last.end++;
    else if (last === undefined || index >= last.end) ranges.push({ first: index, end: index + 1 });
  }
  return ranges;
}

/** Number and name; only the name of a job that is not submitted. */
export function jobTitle({ job, name }: Pick<TimelineJob, "job" | "name">): string {
  return job < 0 ? visibleLine(name) : `${job} ${visibleLine(name)}`.trimEnd();
}
