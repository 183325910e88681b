/** What the jobs want of the processors, for an executor that obtains them and gives them back. */
import type { JobBook } from "../book/job-book.ts";
import type { Demand } from "../executor/executor.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";
import { restartsAtEnd } from "./outcome.ts";

export function demandOf(book: JobBook, scheduler: Scheduler, nowMs: number): Demand {
  const { machine } = scheduler;
  const isWanting = machine.isWanting(nowMs);
  let present = false;
  let others = false;
  let lost = false;
  for (const record of book.withProcess()) {
    present = true;
    // One that is not started again after these processors wants none.
    others ||=
      restartsAtEnd(record) > 0 && machine.mayOutlive(record, scheduler.ranMs(record.job, nowMs), nowMs);
  }
  for (const record of book.all()) {
    if (!book.isReady(record) || !book.limits.mayEverStart(record)) continue;
    const wanted = machine.wantedBy(record, nowMs);
    present ||= wanted === "these";
    others ||= wanted === "others" || wanted === "lost";
    lost ||= wanted === "lost";
    // The other jobs cannot change the answer.
    if (present ? !isWanting || lost : others && machine.processors === 0) break;
  }
  return { of: machine.capacity, present, others, lost };
}
