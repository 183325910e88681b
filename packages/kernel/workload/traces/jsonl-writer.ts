/** Writes workload files: the counterpart of jsonl.ts. */
import type { ShareSettings } from "../../core/fair-share.ts";
import { UNKNOWN, type Workload } from "../../core/jobs.ts";
import type { LimitSettings } from "../../core/limits/job-limits.ts";
import type { WorkloadEvent } from "../../core/workload-events.ts";
import { WORKLOAD_SCHEMA } from "./jsonl-fields.ts";
import { SWF_STATUS } from "./swf-numbers.ts";

const LINES_PER_PIECE = 1024;
const STATES = new Map([...SWF_STATUS].map(([state, status]) => [status, state]));

/** The first line of a workload file. */
export interface WorkloadHead {
  readonly name: string;
  readonly processors?: number | undefined;
  /** Amounts by kind. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  readonly shares?: ShareSettings | undefined;
  readonly limits?: LimitSettings | undefined;
  /** Whether jobs may have waited for quotas of CPU time; left out: no. */
  readonly quotas?: true | undefined;
  /** The instant 0 of all times. */
  readonly startedAt?: string | undefined;
  readonly policy?: string | undefined;
  readonly slotS?: number | undefined;
}

export function headLine(head: WorkloadHead): string {
  return `${JSON.stringify({ schema: WORKLOAD_SCHEMA, ...head })}\n`;
}

export function eventLine({ event, atS, ...more }: WorkloadEvent): string {
  return `${JSON.stringify({ event, atS, ...more })}\n`;
}

/** The jobs and the events in order of time, in pieces. */
export function* writeJsonl(workload: Workload): Generator<string, void, undefined> {
  const { name, processors, resources = [], shares, limits, count, jobs } = workload;
  yield headLine({
    name,
    processors,
    resources:
      resources.length === 0
        ? undefined
        : Object.fromEntries(resources.map((kind) => [kind.name, kind.amount])),
    shares,
    limits,
  });
  const events = eventsOf(workload);
  let next = 0;
  let text = "";
  for (let row = 0; row < count; row++) {
    while (next < events.length && events[next].atS < jobs.submitS[row]) text += eventLine(events[next++]);
    text += `${JSON.stringify(jobEntry(workload, row))}\n`;
    if (row % LINES_PER_PIECE < LINES_PER_PIECE - 1) continue;
    yield text;
    text = "";
  }
  yield text + events.slice(next).map(eventLine).join("");
}

/** What the source says happened; of other sources, what follows from their interruptions. */
function eventsOf({ events, interruptions, jobs }: Workload): readonly WorkloadEvent[] {
  if (events !== undefined || interruptions === undefined) return events ?? [];
  const made: WorkloadEvent[] = [];
  for (const { first, processors, fromS, untilS, announcedS = fromS } of interruptions.outages) {
    if (untilS < Infinity) made.push({ event: "window", atS: announcedS, fromS, untilS, processors, first });
  }
  for (const { job, fromS, untilS } of interruptions.stops) {
    made.push({ event: "pause", atS: fromS, job: jobs.id[job], release: true });
    if (untilS < Infinity) made.push({ event: "resume", atS: untilS, job: jobs.id[job] });
  }
  return made.sort((a, b) => a.atS - b.atS);
}

function jobEntry(workload: Workload, row: number): object {
  const { jobs, shape, trace, demand = [], notes } = workload;
  const noted = notes?.[row] ?? {};
  const size = jobs.size[row];
  const estimateS = jobs.estimateS[row];
  const hasThreads = shape !== undefined && shape.processes[row] * shape.threads[row] === size;
  const use = demand.filter(({ amount }) => amount[row] > 0).map(({ kind, amount }) => [kind, amount[row]]);
  const hasLimit = typeof noted.limitS === "number" && noted.estimateS === undefined;
  return {
    job: jobs.id[row],
    ...timesOf(jobs.submitS[row], noted),
    tasks: hasThreads ? shape.processes[row] : size,
    ...(hasThreads && shape.threads[row] > 1 && { threads: shape.threads[row] }),
    ...sizesOf(workload, row, hasThreads ? shape.threads[row] : 1),
    runS: jobs.runS[row],
    ...traceOf(trace, row, size),
    ...noted,
    ...timesOf(jobs.submitS[row], noted),
    ...(estimateS !== UNKNOWN && { [noted.estimateS === undefined ? "limitS" : "estimateS"]: estimateS }),
    ...(hasLimit && estimateS === UNKNOWN && { limitS: undefined }),
    ...(use.length > 0 && { use: { ...Object.fromEntries(use), ...(noted.use as object | undefined) } }),
  };
}

/** The numbers of tasks on which a job can run, if it can run on several. */
function sizesOf({ molding, jobs }: Workload, row: number, threads: number): object {
  if (molding === undefined) return {};
  const size = jobs.size[row];
  const minTasks = Math.ceil(Math.min(molding.minSize[row], size) / threads);
  const maxTasks = Math.floor(Math.max(molding.maxSize[row], size) / threads);
  const own = size / threads;
  return minTasks < own || maxTasks > own
    ? { minTasks, maxTasks, serialShare: molding.serialShare[row] }
    : {};
}

/** Submit and begin as the source has them, unless the arrival was changed since. */
function timesOf(arrivalS: number, { submitS, beginS }: Readonly<Record<string, unknown>>): object {
  if (typeof submitS !== "number" || typeof beginS !== "number") return { submitS: arrivalS };
  return Math.max(submitS, beginS) === arrivalS
    ? { submitS, beginS }
    : { submitS: arrivalS, beginS: undefined };
}

/** What the columns of a trace say. */
function traceOf(trace: Workload["trace"], row: number, size: number): object {
  if (trace === undefined) return {};
  const { requestedMemoryKB, user, queue, status } = trace;
  const memoryKB = requestedMemoryKB[row];
  const state = STATES.get(status[row]);
  return {
    ...(memoryKB > 0 && { memoryBytes: Math.round(memoryKB * 1024 * size) }),
    ...(user[row] >= 0 && { user: String(user[row]) }),
    ...(queue[row] >= 0 && { queue: String(queue[row]) }),
    state,
  };
}
