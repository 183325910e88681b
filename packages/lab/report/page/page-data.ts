/**
 * The result inside a page: a comparison without what no chart shows, and what a chart needs of its jobs. The
 * page stays small, however many jobs there are: curves have a limited number of steps, and if there are very
 * many jobs, the Gantt chart has those around the longest queue.
 */

import { withoutControls } from "@tutti/kernel/core/escape.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { sumOf } from "@tutti/kernel/metrics/compensated-sum.ts";
import { queueLength } from "@tutti/kernel/metrics/over-time.ts";
import { lastEndS } from "@tutti/kernel/metrics/window.ts";
import type { ComparedPolicy, Comparison } from "../../results/comparison.ts";
import type { MatrixRecord } from "../../results/matrix-record.ts";
import { type Boxes, boxesWithin, dealtBoxes, gangBoxes, type TimeSpan } from "./boxes.ts";
import { curvesOf, type RunCurves, withFewerSteps } from "./curves.ts";

/** Steps of a curve: with fewer, exactly all of them. */
const STEPS = 2000;
/** Jobs of all policies' Gantt charts together. */
const DRAWN_JOBS = 100_000;
/**
 * With more jobs than this, there is no Gantt chart: assigning processors to all of them is not worth a chart
 * of a hundredth.
 */
const MOST_JOBS = 2_000_000;

export interface PageData {
  /** Its jobs are those that are drawn; `count` is that of all. Schedules have no more than a chart needs. */
  readonly comparison: Comparison;
  readonly curves: readonly RunCurves[];
  readonly boxes: readonly (Boxes | undefined)[];
  readonly facts: JobFacts;
  /** The time of the boxes. Undefined: the whole run. */
  readonly drawn: TimeSpan | undefined;
}

/** What a page says of all jobs. */
interface JobFacts {
  readonly firstSubmitS: number;
  readonly submitPeriodS: number;
  readonly meanSize: number;
  readonly meanRunS: number;
}

export function factsOf({ count, submitS, size, runS }: Instance): JobFacts {
  const firstSubmitS = count === 0 ? 0 : submitS[0];
  return {
    firstSubmitS,
    submitPeriodS: count === 0 ? 0 : submitS[count - 1] - firstSubmitS,
    meanSize: sumOf(size) / count,
    meanRunS: sumOf(runS) / count,
  };
}

/** @param jobs of all Gantt charts together */
export function pageData(comparison: Comparison, jobs = DRAWN_JOBS): PageData {
  const { instance, policies } = comparison;
  const curves = policies.map(({ schedule, summary }) =>
    withFewerSteps(curvesOf(instance, schedule, summary), STEPS),
  );
  const drawable = policies.filter(hasPlaces);
  const hasGantt = drawable.length > 0 && instance.count > 0 && instance.count <= MOST_JOBS;
  const whole = wholeSpan(instance, policies);
  const span = hasGantt
    ? ganttSpan(
        instance,
        drawable.map(({ schedule }) => schedule),
        Math.floor(jobs / drawable.length),
      )
    : whole;
  const boxes = policies.map((policy) =>
    hasGantt && hasPlaces(policy) ? boxesWithin(allBoxes(instance, policy), span) : undefined,
  );
  const kept = keptJobs(policies, boxes);
  const placeOf = new Map(Array.from(kept, (job, place) => [job, place]));
  const place = (job: number) => placeOf.get(job)!;
  return {
    comparison: withJobs(comparison, kept, place),
    curves,
    boxes: boxes.map((own) => own && { ...own, job: own.job.map(place) }),
    facts: factsOf(instance),
    drawn: span.fromS > whole.fromS || span.toS < whole.toS ? span : undefined,
  };
}

/**
 * The data as JSON, with columns, and with the numbers that JSON does not have. Texts from outside Tutti are
 * made harmless.
 */
export function pageText(data: PageData): string {
  return JSON.stringify(data, (_key, value: unknown) => {
    if (typeof value === "string") return withoutControls(value);
    if (typeof value === "number" && !Number.isFinite(value)) return { $: String(value) };
    if (!ArrayBuffer.isView(value)) return value;
    const column = value as Float64Array | Int32Array;
    // As one text: a million values of their own would take seconds to read.
    return { $: column instanceof Int32Array ? "ints" : "doubles", of: column.join(",") };
  });
}

export function readPageText(text: string): PageData {
  return JSON.parse(text, (_key, value) => {
    if (typeof value !== "object" || value === null || !("$" in value)) return value;
    if (!("of" in value)) return Number(value.$);
    const numbers: number[] = value.of === "" ? [] : value.of.split(",").map(Number);
    return value.$ === "ints" ? Int32Array.from(numbers) : Float64Array.from(numbers);
  });
}

/** Where gangs ran is known only if it was recorded. */
function hasPlaces({ schedule, matrix }: ComparedPolicy): boolean {
  return schedule.gang === undefined || matrix !== undefined;
}

function allBoxes(instance: Instance, { schedule, matrix }: ComparedPolicy): Boxes {
  return matrix === undefined ? dealtBoxes(instance, schedule) : gangBoxes(matrix, schedule);
}

function wholeSpan(instance: Instance, policies: readonly ComparedPolicy[]): TimeSpan {
  const fromS = instance.count === 0 ? 0 : instance.submitS[0];
  return { fromS, toS: Math.max(fromS, ...policies.map(({ schedule }) => lastEndS(instance, schedule))) };
}

/**
 * A span around the longest queue of the first schedule in which no schedule has more than `jobs` jobs. It is
 * the whole run if that has few enough jobs.
 */
export function ganttSpan(instance: Instance, schedules: readonly Schedule[], jobs: number): TimeSpan {
  const fromS = instance.submitS[0];
  const toS = Math.max(fromS, ...schedules.map((schedule) => lastEndS(instance, schedule)));
  const maxJobs = (span: TimeSpan) =>
    Math.max(...schedules.map(({ startS, endS }) => countWithin(startS, endS, span)));
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

function countWithin(startS: Float64Array, endS: Float64Array, { fromS, toS }: TimeSpan): number {
  let jobs = 0;
  for (let job = 0; job < startS.length; job++) if (startS[job] <= toS && endS[job] >= fromS) jobs++;
  return jobs;
}

function longestQueueAtS(instance: Instance, schedule: Schedule): number {
  const { atS, value } = queueLength(instance, schedule);
  let longest = 0;
  for (let i = 1; i < value.length; i++) if (value[i] > value[longest]) longest = i;
  return atS[longest] ?? instance.submitS[0];
}

/** Rows of the jobs in any box or in any picture of a matrix, ascending. */
function keptJobs(policies: readonly ComparedPolicy[], boxes: readonly (Boxes | undefined)[]): Int32Array {
  const jobs = new Set<number>();
  for (const own of boxes) for (const job of own?.job ?? []) jobs.add(job);
  for (const { matrix } of policies)
    for (const snapshot of matrix?.snapshots ?? []) for (const job of snapshot.job) jobs.add(job);
  return Int32Array.from(jobs).sort();
}

/**
 * The comparison with the columns of some of its jobs.
 * @param place of a job among those that are kept
 */
function withJobs(comparison: Comparison, kept: Int32Array, place: (job: number) => number): Comparison {
  const { instance, policies } = comparison;
  const { name, count, processors, diagnostics } = instance.workload;
  const doubles = (column: Float64Array) => Float64Array.from(kept, (job) => column[job]);
  const ints = (column: Int32Array) => Int32Array.from(kept, (job) => column[job]);
  const jobs = {
    id: ints(instance.id),
    submitS: doubles(instance.submitS),
    runS: new Float64Array(),
    size: ints(instance.size),
    estimateS: new Float64Array(),
  };
  return {
    ...comparison,
    instance: {
      workload: { name, count, jobs, processors, trace: undefined, header: [], diagnostics },
      processors: instance.processors,
      rules: instance.rules,
      count: instance.count,
      ...jobs,
      workloadRow: undefined,
      diagnostics: instance.diagnostics,
    },
    policies: policies.map(({ schedule, matrix, ...policy }) => ({
      ...policy,
      schedule: {
        startS: doubles(schedule.startS),
        endS: doubles(schedule.endS),
        instants: schedule.instants,
        startsByRule: schedule.startsByRule,
        given: schedule.given && { size: ints(schedule.given.size), runS: new Float64Array() },
        gang: undefined,
      },
      matrix: matrix && picturesOf(matrix, place),
    })),
  };
}

/** The pictures of a matrix; its boxes are in the Gantt chart. */
function picturesOf({ snapshots, busiest }: MatrixRecord, place: (job: number) => number): MatrixRecord {
  const none = new Int32Array();
  return {
    ...{ boxJob: none, boxFirst: none, boxSize: none, boxRow: none, busiest },
    snapshots: snapshots.map((snapshot) => ({ ...snapshot, job: snapshot.job.map(place) })),
  };
}
