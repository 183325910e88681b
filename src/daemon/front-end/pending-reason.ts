/** Determines why a job waits, as data without text. */
import { hasProcess, isEnded } from "../../protocol/states.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import type { Why } from "../contract/service.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";

interface WaitingContext extends Pick<FrontEndParts, "book" | "scheduler" | "clock"> {
  readonly executorTrouble: string | undefined;
  readonly forecast: Why["forecast"];
  /** Whether the caller may see the job. */
  readonly sees: (record: JobRecord) => boolean;
}

type Obstacle = Why["obstacles"][number];

/** Maximum number of earlier jobs that are listed. */
const NAMED = 10;

export function explainWaiting(record: JobRecord, context: WaitingContext): Why {
  const { book, scheduler, clock } = context;
  const before =
    record.state === "queued" ? book.eligible().filter((other) => servedBefore(other, record)) : [];
  const waits = record.state === "queued" || record.state === "held";
  const obstacles = waits ? obstaclesOf(record, before, context) : conductorObstacles(record, context);
  const forecast = record.state === "queued" ? context.forecast : undefined;
  return {
    job: record.job,
    state: record.state,
    waitedMs: (record.startedAtMs ?? record.endedAtMs ?? clock.unixMs()) - record.submittedAtMs,
    tasks: record.tasks,
    freeCpus: freeIn(scheduler),
    queuedBefore: before.length,
    obstacles,
    ...(record.queueReason !== undefined && { queueReason: record.queueReason }),
    ...(forecast !== undefined && { forecast }),
    ...(record.startedAtMs !== undefined && { share: shareOf(record, record.startedAtMs, context) }),
  };
}

/** The slots that a job has in each round, and the running time that it got. */
function shareOf(
  { job, state, ranMs, endedAtMs }: JobRecord,
  startedAtMs: number,
  { scheduler, clock }: WaitingContext,
): NonNullable<Why["share"]> {
  const { rows } = scheduler.layout();
  return {
    slots: rows.filter((placements) => placements.some((placement) => placement.job === job)).length,
    ofSlots: Math.max(1, rows.length),
    ranMs: isEnded(state) ? ranMs : scheduler.ranMs(job, clock.nowMs()),
    elapsedMs: Math.max(0, (endedAtMs ?? clock.unixMs()) - startedAtMs),
  };
}

/** A job with a process is stuck only while the conductor is away. */
function conductorObstacles(record: JobRecord, { executorTrouble }: WaitingContext): Obstacle[] {
  if (executorTrouble === undefined || !hasProcess(record.state)) return [];
  return [{ kind: "conductor", message: executorTrouble }];
}

function obstaclesOf(
  record: JobRecord,
  before: readonly JobRecord[],
  { book, scheduler, clock, executorTrouble, sees }: WaitingContext,
): Obstacle[] {
  const obstacles: Obstacle[] = [];
  const { state, reason } = record;
  if (state === "held") obstacles.push({ kind: "held", ...(reason !== undefined && { reason }) });
  const jobs = book.waitsFor(record);
  if (jobs.length > 0) obstacles.push({ kind: "dependency", jobs });
  const { array, arrayLimit } = record;
  if (array !== undefined && arrayLimit !== undefined && book.waitsForArray(record)) {
    obstacles.push({ kind: "array", array, atOnce: arrayLimit });
  }
  if (executorTrouble !== undefined) obstacles.push({ kind: "conductor", message: executorTrouble });
  if (obstacles.length > 0) return obstacles;
  const needed = scheduler.sizeOf(record);
  const free = freeIn(scheduler);
  const { maxRows, memoryBytes } = scheduler.options;
  const rows = scheduler.rowCount;
  if (needed > free && (scheduler.sharing === "space" || rows >= maxRows)) {
    obstacles.push({
      kind: "cpus",
      needed,
      free,
      rows,
      mostRows: scheduler.sharing === "space" ? 1 : maxRows,
    });
  }
  const freeBytes = memoryBytes - book.usedMemoryBytes();
  if (record.memoryBytes !== undefined && record.memoryBytes > freeBytes) {
    obstacles.push({ kind: "memory", neededBytes: record.memoryBytes, freeBytes });
  }
  if (before.length > 0) {
    obstacles.push({
      kind: "order",
      behind: before
        .filter(sees)
        .slice(0, NAMED)
        .map(({ job }) => job),
    });
    for (const { job } of before) {
      const promisedMs = scheduler.promisedMs(job);
      if (Number.isNaN(promisedMs)) continue;
      const startAtMs = clock.unixMs() + (promisedMs - clock.nowMs());
      obstacles.push({ kind: "reservation", holder: job, startAtMs });
      break;
    }
  }
  return obstacles;
}

/** Idle CPUs of the emptiest row; all CPUs if there is no row. */
function freeIn(scheduler: Scheduler): number {
  const { processors: total } = scheduler.options.nodes;
  const { rows } = scheduler.layout();
  if (rows.length === 0) return total;
  return Math.max(
    ...rows.map(
      (placements) => total - placements.reduce((sum, { processors }) => sum + processors.length, 0),
    ),
  );
}
