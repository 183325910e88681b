/**
 * What the jobs want of the processors, for an executor that obtains them and gives them back: first the
 * running jobs that may outlive theirs, then those that wait, in service order. Jobs of the same shape are
 * one wish, at the place of the first. A job wants nothing that would not help it: not while it waits for a
 * window, a licence, room of a limit, or a policy that takes over.
 */
import type { JobBook } from "../book/job-book.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import { restartsAtEnd } from "../dispatch/outcome.ts";
import type { Demand, JobShape, Wish } from "../executor/executor.ts";
import type { LiveMachine } from "../scheduling/live-machine.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";
import { demandOf as unitsOf } from "../scheduling/units.ts";

/** Wishes of more shapes come too late in the order to matter now. */
const MOST_SHAPES = 500;

/** Waiting jobs of one shape. */
interface Alike {
  /** The one that is served first. */
  first: JobRecord;
  jobs: number;
}

export function demandOf(book: JobBook, scheduler: Scheduler, nowMs: number): Demand {
  const { machine } = scheduler;
  const wishes: Wish[] = [];
  for (const record of book.withProcess()) {
    const ranMs = scheduler.ranMs(record.job, nowMs);
    const own = machine.partWith(record.nodes);
    // One that is not started again after these processors wants none.
    if (restartsAtEnd(record) === 0 || !own.mayOutlive(record, ranMs, nowMs)) continue;
    const others = machine.parts.filter((part) => part !== own);
    wishes.push({ ...shapeOf(record), takenBy: takersOf(record, others, nowMs), isForLost: false });
  }
  for (const { first, jobs } of scheduler.isHandingOver ? [] : waitingShapes(book, machine, nowMs)) {
    if (wishes.length >= MOST_SHAPES) break;
    const wanted = machine.wantedBy(first, nowMs);
    if (wanted === "none") continue;
    const takenBy = wanted === "these" ? takersOf(first, machine.parts, nowMs) : [];
    wishes.push({ ...shapeOf(first), takenBy, isForLost: wanted === "lost", ...(jobs > 1 && { jobs }) });
  }
  return { of: machine.capacity, wishes };
}

/** In service order. Only what limits and units depend on is sorted job by job. */
function waitingShapes(book: JobBook, machine: LiveMachine, nowMs: number): readonly Alike[] {
  const shapes = new Map<string, Alike>();
  const bounded: JobRecord[] = [];
  for (const record of book.all()) {
    if (!book.isReady(record) || machine.isKept(record, nowMs)) continue;
    if (record.use !== undefined || !book.limits.isThrough(record)) bounded.push(record);
    else add(record, shapes);
  }
  const hasRoom = book.limits.counter((record: JobRecord) => book.limits.ofJob(record));
  const free = freeUnits(book, machine);
  for (const record of bounded.sort(inOrder)) {
    const units = unitsOf(record, machine.counted);
    if (units.some((needed, k) => needed > free[k])) continue;
    if (!book.limits.isThrough(record) && !hasRoom(record)) continue;
    for (const [k, needed] of units.entries()) free[k] -= needed;
    add(record, shapes);
  }
  return [...shapes.values()].sort((a, b) => inOrder(a.first, b.first));
}

const inOrder = (a: JobRecord, b: JobRecord) => (servedBefore(a, b) ? -1 : 1);

function add(record: JobRecord, shapes: Map<string, Alike>): void {
  const { tasks, threads = 1, limitMs, memoryBytes } = record;
  const key = `${tasks} ${threads} ${limitMs} ${memoryBytes}`;
  const alike = shapes.get(key);
  if (alike === undefined) shapes.set(key, { first: record, jobs: 1 });
  else {
    alike.jobs++;
    if (servedBefore(record, alike.first)) alike.first = record;
  }
}

/** Units of each counted kind that no job holds. */
function freeUnits(book: JobBook, { counted }: LiveMachine): number[] {
  const free = counted.map(({ units }) => units.length);
  if (free.length === 0) return free;
  for (const record of book.withProcess())
    for (const [k, held] of unitsOf(record, counted).entries()) free[k] -= held;
  return free;
}

function takersOf(record: JobRecord, parts: readonly LiveMachine[], nowMs: number): string[] {
  return parts.filter((part) => part.takes(record, nowMs)).map(({ name }) => name);
}

function shapeOf({ tasks, threads, limitMs, memoryBytes }: JobRecord): JobShape {
  return { tasks, threads, limitMs, memoryBytes };
}
