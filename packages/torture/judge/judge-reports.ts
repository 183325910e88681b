/** Judges what is reported of a job: to its hooks, to its webhook, the event log, and the exports. */
import type { Job } from "@tutti/protocol/schema.ts";
import { type History, type JudgedJob, nameOf, type Report, type Start } from "./history.ts";

export function judgeReports(
  history: History,
  { hooks }: JudgedJob,
  record: Job,
  starts: readonly Start[],
): string[] {
  const problems: string[] = [];
  const isKnown = !history.forgotten.has(record.job);
  const seen = starts.filter((start) => !mayBeUnseen(history, nameOf(start)));
  const began = isKnown ? seen.map(({ attempt }) => attempt) : [];
  for (const attempt of began) {
    if (!history.noted.has(nameOf({ job: record.job, attempt })))
      problems.push(`start ${attempt} has no event`);
  }
  if (record.endedAtMs === undefined) problems.push(`has not ended: it is ${record.state}, ${record.reason}`);
  // Its record, and its line in SWF, are of its last attempt, which may have been lost before it began.
  const hasBegun = began.includes(record.attempt) && !isWithdrawn(record);
  if (hasBegun && record.startedAtMs === undefined) problems.push("has no time of its start");
  if (hasBegun && !history.exported.has(record.job)) problems.push("is not in an export");

  const reports = history.reports.filter(({ job }) => job === record.job);
  /** Each attempt's start, or the end: at least once, and always with the same id. */
  const expect = (what: string, mine: readonly Report[], isWanted: boolean) => {
    if (isWanted && mine.length === 0) problems.push(`${what} was not reported`);
    if (!isWanted && mine.length > 0) problems.push(`${what} was reported as: ${JSON.stringify(mine)}`);
    // The store of a backup does not know ids that are newer.
    const ids = new Set(mine.map(({ id }) => id));
    if (ids.size > 1 + history.restores.length) problems.push(`${what} has several ids: ${[...ids]}`);
  };
  for (const hook of ["onStart", "onEnd", "onFail", "webhook"] as const) {
    const isAsked = hooks.includes(hook);
    const mine = reports.filter((one) => one.hook === hook);
    for (const attempt of began) {
      if (hook !== "onStart" && hook !== "webhook") continue;
      const of = mine.filter((one) => one.event === "start" && one.attempt === attempt);
      expect(`${hook} of start ${attempt}`, of, isAsked);
    }
    if (hook !== "onStart" && hook !== "onFail") {
      const of = mine.filter(({ event }) => event === "end");
      expect(`${hook} of the end`, of, isAsked);
      const wrong = of.find(({ state }) => state !== record.state);
      // After a restore, the end of an attempt that the store had forgotten may have been reported before.
      if (wrong !== undefined && isKnown)
        problems.push(`${hook} of the end was reported as ${JSON.stringify(wrong)}`);
    }
    // After a restore, a failure that the store had forgotten may have been reported before.
    if (hook === "onFail" && (isKnown || mine.length === 0 || !isAsked))
      expect(hook, mine, isAsked && record.state === "failed");
    const odd = mine.find(({ event, attempt }) => event === "start" && attempt > record.attempt && isKnown);
    if (odd !== undefined) problems.push(`${hook} was run for a start too many: ${JSON.stringify(odd)}`);
  }
  return problems;
}

/** Whether it was cancelled while it waited, perhaps for its next attempt. */
export function isWithdrawn({ state, reason = "" }: Pick<Job, "state" | "reason">): boolean {
  return state === "cancelled" && reason.startsWith("cancelled by ");
}

/** Whether the scheduler may not have learned of a start: it was lost with the power, or with its node. */
function mayBeUnseen({ unseen, evicted, noted }: History, start: string): boolean {
  return unseen?.has(start) === true || (evicted?.has(start) === true && !noted.has(start));
}
