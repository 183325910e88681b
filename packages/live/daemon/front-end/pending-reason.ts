/** Determines why a job waits, as data without text. */

import { processorsOf } from "@tutti/protocol/job-size.ts";
import { ofKind } from "@tutti/protocol/resources.ts";
import { hasProcess, isEnded } from "@tutti/protocol/states.ts";
import type { JobBook } from "../book/job-book.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import type { Why } from "../contract/service.ts";
import { restartsAtEnd } from "../dispatch/outcome.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { LiveMachine } from "../scheduling/live-machine.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";
import { freeUnits } from "../scheduling/units.ts";
import { isFairShare } from "../shares/shares-answer.ts";

interface WaitingContext extends Pick<FrontEndParts, "book" | "scheduler" | "shares" | "clock" | "executor"> {
  readonly executorTrouble: string | undefined;
  /** What follows processors that are taken away. */
  readonly next: string | undefined;
  readonly forecast: Why["forecast"];
  /** Whether the caller may see the job. */
  readonly sees: (record: JobRecord) => boolean;
}

type Obstacle = Why["obstacles"][number];

/** Maximum number of earlier jobs that are listed. */
const NAMED = 10;

export function explainWaiting(record: JobRecord, context: WaitingContext): Why {
  const { scheduler, clock } = context;
  const arrivedAtMs = record.eligibleAtMs ?? record.submittedAtMs;
  const { before, byShares } =
    record.state === "queued" ? earlierOf(record, context) : { before: [], byShares: 0 };
  const waits = record.state === "queued" || record.state === "held";
  const obstacles: Obstacle[] = waits
    ? [...obstaclesOf(record, before, context), ...sharesObstacle(byShares)]
    : conductorObstacles(record, context);
  const forecast = record.state === "queued" ? context.forecast : undefined;
  return {
    job: record.job,
    state: record.state,
    waitedMs: Math.max(0, (record.startedAtMs ?? record.endedAtMs ?? clock.unixMs()) - arrivedAtMs),
    tasks: record.tasks,
    freeCpus: freeIn(scheduler),
    queuedBefore: before.length,
    obstacles,
    queueReason: record.queueReason,
    forecast,
    ...(record.startedAtMs !== undefined && { share: shareOf(record, record.startedAtMs, context) }),
  };
}

/** Jobs that the queue has before this one, and how many of them because of the shares of their users. */
function earlierOf(record: JobRecord, { book, scheduler, shares }: WaitingContext) {
  const eligible = book.eligible();
  const inOrder = (other: JobRecord) => servedBefore(other, record);
  if (!isFairShare(scheduler.parameters)) return { before: eligible.filter(inOrder), byShares: 0 };
  shares.update();
  const level = shares.levelOf(record.user);
  const levels = new Map(eligible.map(({ user }) => [user, shares.levelOf(user)]));
  const before = eligible.filter((other) => {
    const theirs = levels.get(other.user)!;
    return theirs < level || (theirs === level && inOrder(other));
  });
  return { before, byShares: before.filter(({ user }) => levels.get(user)! < level).length };
}

function sharesObstacle(jobs: number): Obstacle[] {
  return jobs === 0 ? [] : [{ kind: "shares", jobs }];
}

/** The slots that a job has in each round, and the running time that it got. */
function shareOf(record: JobRecord, startedAtMs: number, context: WaitingContext): NonNullable<Why["share"]> {
  const { rows } = context.scheduler.layout();
  const isIts = ({ job }: { readonly job: number }) => job === record.job;
  return {
    slots: rows.filter((placements) => placements.some(isIts)).length,
    ofSlots: Math.max(1, rows.length),
    ranMs: ranMsOf(record, context),
    elapsedMs: Math.max(0, (record.endedAtMs ?? context.clock.unixMs()) - startedAtMs),
  };
}

/**
 * A job with a process is stuck only while a conductor is away, or if it cannot be launched yet. Where it
 * runs is no obstacle, but said in the same place.
 */
function conductorObstacles(record: JobRecord, context: WaitingContext): Obstacle[] {
  const { executorTrouble, executor, scheduler } = context;
  if (!hasProcess(record.state)) return [];
  const hindrance = executor.hindrance?.(record);
  if (hindrance?.kind === "nodes") {
    const { kind, message, sinceMs } = hindrance;
    return [{ kind, message, sinceMs }];
  }
  if (executorTrouble !== undefined) return [{ kind: "conductor", message: executorTrouble }];
  if (hindrance !== undefined && record.state === "starting") return [hindrance];
  if (isStopped(record, scheduler)) return [{ kind: "stopped" }, ...endOf(record, context)];
  const message = executor.runsAs?.(record);
  return [
    ...(message === undefined ? [] : [{ kind: "executor" as const, message }]),
    ...endOf(record, context),
  ];
}

/** Whether the job has started, and the matrix has no room for it now, such as after a change of policy. */
export function isStopped({ job, state }: JobRecord, scheduler: Scheduler): boolean {
  return state === "running" && !scheduler.isPlaced(job);
}

/** The running time so far. Of a gang whose nodes do not answer, nobody knows more than they said last. */
export function ranMsOf(
  record: JobRecord,
  { scheduler, clock, executor }: Pick<WaitingContext, "scheduler" | "clock" | "executor">,
): number {
  if (isEnded(record.state)) return record.ranMs;
  const hindrance = hasProcess(record.state) ? executor.hindrance?.(record) : undefined;
  return hindrance?.kind === "nodes" ? hindrance.ranMs : scheduler.ranMs(record.job, clock.nowMs());
}

/** That a running job is stopped at the end of the CPUs, if it needs its whole limit. */
function endOf(record: JobRecord, { scheduler, clock }: WaitingContext): Obstacle[] {
  const { end } = scheduler.machine.partWith(record.nodes);
  const { limitMs } = record;
  const nowMs = clock.nowMs();
  const leftMs = (limitMs ?? Number.POSITIVE_INFINITY) - scheduler.ranMs(record.job, nowMs);
  if (record.state === "ending" || end === undefined || leftMs <= end.stopAtMs - nowMs) return [];
  const stopAtMs = clock.unixMs() + (end.stopAtMs - nowMs);
  return [{ kind: "drain", stopAtMs, limitMs, restarts: restartsAtEnd(record) }];
}

function obstaclesOf(
  record: JobRecord,
  before: readonly JobRecord[],
  { book, scheduler, shares, clock, executorTrouble, next, sees }: WaitingContext,
): Obstacle[] {
  const obstacles: Obstacle[] = [];
  const { state, reason } = record;
  if (state === "held") obstacles.push({ kind: "held", reason });
  if (waitsForTime(record)) obstacles.push(beginOf(record, record.notBeforeMs));
  const jobs = book.waitsFor(record);
  if (jobs.length > 0) obstacles.push({ kind: "dependency", jobs });
  const { array, arrayLimit } = record;
  if (array !== undefined && arrayLimit !== undefined && book.waitsForArray(record)) {
    obstacles.push({ kind: "array", array, atOnce: arrayLimit });
  }
  for (const limit of shares.quotas.reachedBy(record))
    obstacles.push({ kind: "quota", ...shares.quotas.explain(limit) });
  if (book.waitsForLimit(record)) obstacles.push(...limitObstacles(record, book, sees));
  if (executorTrouble !== undefined) obstacles.push({ kind: "conductor", message: executorTrouble });
  const obstacle = scheduler.obstacle(record, clock.nowMs());
  if (obstacle?.kind === "drain") {
    const stopAtMs = clock.unixMs() + (obstacle.stopAtMs - clock.nowMs());
    obstacles.push({ ...obstacle, stopAtMs, next });
  } else if (obstacle?.kind === "capacity") {
    obstacles.push({ ...obstacle, next });
  } else if (obstacle !== undefined) obstacles.push(obstacle);
  if (obstacles.length > 0) return obstacles;
  const needed = scheduler.sizeOf(record);
  const free = freeIn(scheduler);
  const { maxRows } = scheduler.options;
  const { memoryBytes, givesWholeNodes: isWhole, nodes } = scheduler.machine;
  const unit = isWhole ? nodes.width : 1;
  const rows = scheduler.rowCount;
  if (needed > free && (scheduler.sharing === "space" || rows >= maxRows)) {
    obstacles.push({
      kind: "cpus",
      needed: needed / unit,
      free: Math.floor(free / unit),
      rows,
      mostRows: scheduler.sharing === "space" ? 1 : maxRows,
      ...(isWhole && { nodes: true }),
    });
  }
  obstacles.push(...unitObstacles(record, [...book.withProcess()], scheduler, sees));
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

/** The limit that keeps the job waiting, and how much of it jobs use that the caller sees. */
function limitObstacles(record: JobRecord, book: JobBook, sees: WaitingContext["sees"]): Obstacle[] {
  const waits = book.limits.waitsFor(record);
  if (waits === undefined) return [];
  const { limit, keptFor } = waits;
  const using = [...book.all()].filter((other) => book.limits.uses(other, limit));
  const seen = using.filter(sees);
  const amountOf = (jobs: readonly JobRecord[], counts: "cpus" | "jobs") =>
    counts === "jobs" ? jobs.length : jobs.reduce((sum, job) => sum + processorsOf(job), 0);
  const earlier = keptFor === undefined ? undefined : book.live(keptFor);
  const needsCpus = processorsOf(record);
  const isFull = (counts: "cpus" | "jobs", needed: number, most: number) =>
    amountOf(using, counts) + needed > most;
  // A limit whose room is kept may have room for this job.
  const counts =
    isFull("cpus", needsCpus, limit.maxCpus) || !Number.isFinite(limit.maxJobs) ? "cpus" : "jobs";
  return [
    {
      kind: "limit",
      of: limit.of,
      name: limit.name,
      counts,
      most: counts === "cpus" ? limit.maxCpus : limit.maxJobs,
      needed: counts === "cpus" ? needsCpus : 1,
      running: amountOf(
        seen.filter(({ state }) => hasProcess(state)),
        counts,
      ),
      next: amountOf(
        seen.filter(({ state }) => !hasProcess(state)),
        counts,
      ),
      ...(seen.length < using.length && { others: true as const }),
      ...(keptFor !== undefined && { isKept: true as const }),
      ...(earlier !== undefined && sees(earlier) && { keptFor: earlier.job }),
    },
  ];
}

function waitsForTime(record: JobRecord): record is JobRecord & { readonly notBeforeMs: number } {
  return record.notBeforeMs !== undefined;
}

/** The begin of a job, or of its next attempt. */
function beginOf(record: JobRecord, atMs: number): Obstacle {
  const { attempt, retries, uncharged = 0, reason } = record;
  if (attempt === 0) return { kind: "begin", atMs };
  return {
    kind: "begin",
    atMs,
    attempt: attempt + 1,
    mostAttempts: 1 + retries + uncharged,
    reason: reason?.replace(/^queued again: /, ""),
  };
}

/** Kinds of which too few units are free, and who holds the others. */
function unitObstacles(
  record: JobRecord,
  holders: readonly JobRecord[],
  { machine }: Scheduler,
  sees: WaitingContext["sees"],
): Obstacle[] {
  return machine.counted.flatMap((resource) => {
    const needed = ofKind(record.use, resource.name) ?? 0;
    const free = freeUnits(resource, holders).length;
    if (needed <= free) return [];
    const held = holders.flatMap((holder) => {
      const units = ofKind(holder.units, resource.name)?.length ?? 0;
      return units === 0 ? [] : [{ holder, units }];
    });
    const seen = held.filter(({ holder }) => sees(holder));
    const others = held.reduce((sum, { holder, units }) => sum + (sees(holder) ? 0 : units), 0);
    return [
      {
        kind: "units" as const,
        resource: resource.name,
        needed,
        free,
        holders: seen.slice(0, NAMED).map(({ holder, units }) => ({ job: holder.job, units })),
        others,
      },
    ];
  });
}

/** Idle places of the emptiest row; all of them if there is no row. */
function freeIn(scheduler: Scheduler): number {
  const { parts, nodes } = scheduler.machine;
  const { rows } = scheduler.layout();
  const freeOn = (part: LiveMachine) => {
    const isThere = (place: number) => part === scheduler.machine || part.hasNode(nodes.nodeAt(place));
    const used = rows.map((placements) =>
      placements.reduce((sum, { processors }) => sum + (isThere(processors[0]) ? processors.length : 0), 0),
    );
    return part.places - (used.length === 0 ? 0 : Math.min(...used));
  };
  return Math.max(...parts.map(freeOn));
}
