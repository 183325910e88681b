/** What the jobs want of the processors, for an executor that obtains them and gives them back. */
import type { JobBook } from "../book/job-book.ts";
import type { JobRecord } from "../contract/record.ts";
import { restartsAtEnd } from "../dispatch/outcome.ts";
import type { Demand, Wish } from "../executor/executor.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";

/** More would change no decision about processors: their number is bounded. */
const MOST_WISHES = 200;

export function demandOf(book: JobBook, scheduler: Scheduler, nowMs: number): Demand {
  const { machine } = scheduler;
  const wishes: Wish[] = [];
  for (const record of book.withProcess()) {
    const ranMs = scheduler.ranMs(record.job, nowMs);
    const own = machine.partWith(record.nodes);
    // One that is not started again after these processors wants none.
    if (restartsAtEnd(record) === 0 || !own.mayOutlive(record, ranMs, nowMs)) continue;
    const takers = machine.parts.filter((part) => part !== own && part.takes(record, nowMs));
    wishes.push({ ...shapeOf(record), takenBy: takers.map(({ name }) => name), isForLost: false });
  }
  for (const record of book.all()) {
    if (wishes.length >= MOST_WISHES) break;
    if (!book.isReady(record) || !book.limits.mayEverStart(record)) continue;
    const wanted = machine.wantedBy(record, nowMs);
    if (wanted === "none") continue;
    const takers = wanted === "these" ? machine.parts.filter((part) => part.takes(record, nowMs)) : [];
    const takenBy = takers.map(({ name }) => name);
    wishes.push({ ...shapeOf(record), takenBy, isForLost: wanted === "lost" });
  }
  return { of: machine.capacity, wishes };
}

function shapeOf({ tasks, threads, limitMs, memoryBytes }: JobRecord) {
  return { tasks, threads, limitMs, memoryBytes };
}
