/**
 * Answers what would happen under another policy, with fewer CPUs, or with jobs that are not submitted.
 * Callers see their own jobs; of other users' jobs they learn only how many gain and lose.
 */
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { type Answer, isRefusal, refuse } from "@tutti/protocol/refusal.ts";
import { hasProcess } from "@tutti/protocol/states.ts";
import type { JobRecord } from "../contract/record.ts";
import { mayAccess } from "../contract/rights.ts";
import type { Caller, DryRun, WhatIf, WhatIfQuestion } from "../contract/service.ts";
import { jobCount, nameOf, readBatch } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { Forecaster } from "./forecast.ts";
import type { Forecasts } from "./forecasts.ts";
import type { Hypothetical } from "./live-state.ts";
import type { Accepted } from "./new-jobs.ts";
import type { Requests } from "./requests.ts";

type Context = Pick<FrontEndParts, "book" | "scheduler" | "limits" | "clock">;
type Change = NonNullable<WhatIf["changes"]>["yours"];

/** A smaller change is not worth a mention, and under time sharing may come from the rounding to slots. */
const NOTABLE_MS = 1000;

/** The hypothetical jobs as a submit of the caller would enter them, or its refusal. */
export function hypotheticalJobs(
  requests: Requests,
  { limits }: Context,
  caller: Caller,
  { jobs = [], withoutCpus = 0 }: WhatIfQuestion,
  choice: PolicyChoice,
): Answer<readonly Hypothetical[]> {
  if (withoutCpus >= limits.cpus) {
    return refuse(
      "invalid",
      `Cannot take ${withoutCpus} CPUs away: the scheduler has ${limits.cpus}, expected at most ${limits.cpus - 1}`,
    );
  }
  if (jobs.length === 0) return [];
  const batch = readBatch(
    caller,
    jobs.map((job) => ({ command: ["what-if"], cwd: "/", env: {}, ...job })),
    limits,
  );
  if (isRefusal(batch)) return batch;
  const accepted = requests.check(caller, batch, choice);
  if (isRefusal(accepted)) return accepted;
  return accepted.map((one) => hypotheticalOf(one, caller));
}

function hypotheticalOf({ request, queue }: Accepted, { uid, user }: Caller): Hypothetical {
  const { tasks = 1, threads, limitMs, memoryBytes, use, priority = 0 } = request;
  const { queue: name, estimateMs } = queue;
  const asked = { tasks, threads, limitMs, memoryBytes, use, priority };
  return { ...asked, uid, user, name: nameOf(request), queue: name, estimateMs };
}

/** What a submit would answer. The first job of an array stands for it. */
export async function answerDryRun(
  { book, scheduler, clock }: Context,
  forecaster: Forecaster,
  caller: Caller,
  accepted: readonly Accepted[],
): Promise<DryRun> {
  const [first] = accepted;
  const { request, queue, waits } = first;
  const [{ after, unmet }] = waits;
  const hypothetical = hypotheticalOf(first, caller);
  const waitsFor = after.map(({ job }) => job).filter((job) => book.live(job) !== undefined);
  if (request.singleton) waitsFor.push(...book.namesakesOf(hypothetical));
  const isFree = unmet === undefined && waitsFor.length === 0 && !request.held;
  const question = { choice: scheduler.choice, hypothetical: [hypothetical], withoutCpus: 0 };
  // A job with a begin joins the queue then; who is in it by that time is unknown.
  const joinsNow = isFree && request.beginAtMs === undefined;
  const obstacle = joinsNow ? scheduler.machine.obstacle(hypothetical, clock.nowMs()) : undefined;
  const forecast = joinsNow ? (await forecaster.whatIf(question)).outcome.hypothetical()[0] : undefined;
  const { queue: name, estimateMs } = hypothetical;
  return {
    jobs: jobCount(accepted),
    queue: queue.queue,
    estimateMs: queue.estimateMs,
    never: unmet,
    ...(waitsFor.length > 0 && { waitsFor: [...new Set(waitsFor)] }),
    ...(obstacle?.kind === "window" && { window: windowOf(obstacle) }),
    ...forecaster.uncounted(),
    ...(forecast !== undefined && {
      forecast: {
        queue: name,
        estimateMs,
        ...(typeof forecast === "string" ? { noForecast: forecast } : forecast),
      },
    }),
  };
}

function windowOf({
  name,
  fromMs,
  untilMs,
  reason,
}: NonNullable<DryRun["window"]>): NonNullable<DryRun["window"]> {
  return { name, fromMs, untilMs, reason };
}

export async function answerWhatIf(
  context: Context,
  forecaster: Forecaster,
  caller: Caller,
  question: Parameters<Forecaster["whatIf"]>[0],
): Promise<WhatIf> {
  const { book, scheduler } = context;
  const { label: present } = scheduler.choice;
  const { outcome, base } = await forecaster.whatIf(question);
  // A job may have started or ended in the meantime.
  const isOf = (record: JobRecord | undefined) => record !== undefined && mayAccess(caller, record);
  const isMine = (job: JobNumber) => isOf(book.live(job));
  const waits = (job: JobNumber) => {
    const record = book.live(job);
    return record?.state === "queued" && isOf(record);
  };
  const runs = (job: JobNumber) => {
    const record = book.live(job);
    return record !== undefined && hasProcess(record.state) && isOf(record);
  };
  const shown = (forecasts: Forecasts) => ({
    jobs: forecasts.waiting(waits),
    running: forecasts.running(runs),
  });
  return {
    policy: question.choice.label,
    ...forecaster.pastErrors(caller.uid, question.choice),
    ...shown(outcome),
    ...(question.hypothetical.length > 0 && {
      hypothetical: outcome.hypothetical().map((forecast, i) => {
        const { queue, estimateMs } = question.hypothetical[i];
        return { queue, estimateMs, ...(typeof forecast === "string" ? { noForecast: forecast } : forecast) };
      }),
    }),
    ...(base !== undefined && {
      base: { policy: present, ...shown(base) },
      changes: {
        yours: changeOf(base, outcome, isMine),
        others: changeOf(base, outcome, (job) => book.live(job) !== undefined && !isMine(job)),
      },
    }),
  };
}

function changeOf(base: Forecasts, outcome: Forecasts, isCounted: (job: JobNumber) => boolean): Change {
  const starts: number[] = [];
  const ends: number[] = [];
  let never = 0;
  base.forEachMedian((job, row, before) => {
    if (!isCounted(job)) return;
    const after = outcome.medians(row);
    if (after === undefined) never++;
    else ends.push(after.endMs - before.endMs);
    if (after !== undefined && !Number.isNaN(before.startMs)) starts.push(after.startMs - before.startMs);
  });
  return { starts: shiftOf(starts), ends: shiftOf(ends), never };
}

function shiftOf(differencesMs: readonly number[]): Change["starts"] {
  const shift = { earlier: 0, later: 0, mostEarlierMs: 0, mostLaterMs: 0 };
  for (const ms of differencesMs) {
    if (ms < -NOTABLE_MS) shift.earlier++;
    if (ms > NOTABLE_MS) shift.later++;
    shift.mostEarlierMs = Math.max(shift.mostEarlierMs, -ms);
    shift.mostLaterMs = Math.max(shift.mostLaterMs, ms);
  }
  return shift;
}
