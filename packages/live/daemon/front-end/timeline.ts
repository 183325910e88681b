/**
 * Shows a stretch of time in one bounded answer: what ran and runs, and what is expected. Other users' jobs
 * are CPUs with a number and nothing else, as in the matrix.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { MAX_JOBS_IN_TIMELINE } from "@tutti/protocol/limits.ts";
import { hasProcess, isEnded } from "@tutti/protocol/states.ts";
import { type JobRecord, shownCpus } from "../contract/record.ts";
import { mayAccess } from "../contract/rights.ts";
import type { Caller, Timeline, TimeSpan } from "../contract/service.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { EndedRun } from "../store/kept.ts";
import type { Forecasts, StartAndEnd } from "./forecasts.ts";

type Context = Pick<FrontEndParts, "book" | "store" | "scheduler" | "clock">;
type Mine = Timeline["jobs"][number];
type Other = Timeline["others"][number];

/** Rows of ended jobs read per step, which takes about a millisecond. */
const WINDOW = 500;
/** Jobs read whole per step. */
const PAGE = 100;

interface TimelineLimits {
  readonly jobs: number;
  /** CPUs listed, over all jobs: wide jobs make an answer large. */
  readonly cpus: number;
}

const LIMITS: TimelineLimits = { jobs: MAX_JOBS_IN_TIMELINE, cpus: 200_000 };

/**
 * In steps of a few ms.
 * @param forecasts of the jobs that wait and run
 */
export function* timelineOf(
  context: Context,
  caller: Caller,
  { fromMs, toMs }: TimeSpan,
  forecasts: Forecasts,
  limits = LIMITS,
): Generator<undefined, Timeline, void> {
  const { book, scheduler, clock, store } = context;
  const { nodes: table } = scheduler.machine;
  const atMs = clock.unixMs();
  const { rows: matrix } = scheduler.layout();
  // Live jobs are listed in this step, because they may change between two steps.
  const listed = new Room(limits);
  const live = liveJobs(context, caller, { fromMs, toMs }, forecasts, listed, Math.floor(limits.jobs / 2));
  yield undefined;
  const ended: Mine[] = [];
  const others: Other[] = [...live.others];
  let fromWhenMs = fromMs;
  let before: EndedRun | undefined;
  for (let isDone = false; !isDone; ) {
    const window = store.kept.endedRuns(fromMs, before, WINDOW);
    isDone = window.length < WINDOW;
    before = window.at(-1);
    for (const run of window) {
      const { job, startedAtMs, endedAtMs, nodes } = run;
      // A job that ended between two steps is listed as running.
      if (startedAtMs === undefined || startedAtMs > toMs || endedAtMs > atMs || live.has(job)) continue;
      if (!listed.take(nodes)) {
        // Jobs that ended even earlier are missing, too.
        fromWhenMs = endedAtMs;
        isDone = true;
        break;
      }
      if (!mayAccess(caller, run)) {
        others.push({ job, ...shownCpus(nodes), fromMs: startedAtMs, toMs: endedAtMs });
        continue;
      }
      const record = book.find(job);
      if (record !== undefined) ended.push(ownJob(context, record));
      if (ended.length % PAGE === 0) yield undefined;
    }
    yield undefined;
  }
  return {
    atMs,
    fromMs: fromWhenMs,
    toMs,
    ...(listed.isFull && { truncated: true }),
    ...(live.waitingLeftOut > 0 && { waitingLeftOut: live.waitingLeftOut }),
    policy: scheduler.choice.label,
    sharing: scheduler.sharing,
    cpus: table.nodes.flatMap(({ cpus }) => cpus),
    nodes: table.nodes,
    rows: matrix.length,
    ...(!forecasts.isEmpty && { forecastAtMs: forecasts.atMs }),
    jobs: [...live.running, ...live.waiting, ...ended],
    others,
  };
}

/** Counts what the answer has. Once something does not fit, nothing does. */
class Room {
  isFull = false;
  #jobs: number;
  #cpus: number;

  constructor({ jobs, cpus }: TimelineLimits) {
    this.#jobs = jobs;
    this.#cpus = cpus;
  }

  take(nodes: JobRecord["nodes"]): boolean {
    this.#jobs--;
    for (const { cpus } of nodes) this.#cpus -= cpus.length;
    this.isFull ||= this.#jobs < 0 || this.#cpus < 0;
    return !this.isFull;
  }
}

function liveJobs(
  context: Context,
  caller: Caller,
  { fromMs, toMs }: TimeSpan,
  forecasts: Forecasts,
  room: Room,
  mostWaiting: number,
) {
  const { book, scheduler, clock } = context;
  const nowMs = clock.unixMs();
  const { rows } = scheduler.layout();
  const rowsOf = new Map<JobNumber, number[]>();
  rows.forEach((placements, row) => {
    for (const { job } of placements) rowsOf.set(job, [...(rowsOf.get(job) ?? []), row]);
  });
  const inRows = (job: JobNumber) => (scheduler.sharing === "time" ? { rows: rowsOf.get(job) ?? [] } : {});
  const running: Mine[] = [];
  const waiting: Mine[] = [];
  const others: Other[] = [];
  let ownWithProcess = 0;
  for (const record of book.withProcess()) {
    const { job, nodes, startedAtMs = nowMs } = record;
    const isOwn = mayAccess(caller, record);
    if (isOwn) ownWithProcess++;
    if (startedAtMs > toMs || nowMs < fromMs || !room.take(nodes)) continue;
    if (isOwn) {
      const end = forecasts.endOf(job);
      running.push({ ...ownJob(context, record), ...inRows(job), end: end && endOf(end) });
    } else others.push({ job, ...shownCpus(nodes), ...inRows(job), fromMs: startedAtMs });
  }
  const numbers = book.numbers.of(caller.isAdministrator ? undefined : caller.uid);
  // Jobs with a forecast come first; then a few thousand more are enough for a picture.
  const candidates = new Set([
    ...forecasts.waitingJobs(),
    ...numbers.rising(1, Number.MAX_SAFE_INTEGER, mostWaiting + ownWithProcess),
  ]);
  let left = toMs < nowMs ? 0 : numbers.size - ownWithProcess;
  for (const job of left === 0 ? [] : candidates) {
    const record = book.live(job);
    if (record === undefined || hasProcess(record.state) || !mayAccess(caller, record)) continue;
    const forecast = forecasts.of(job);
    const isLater = forecast !== undefined && forecast.p10Ms > toMs;
    if (!isLater && (waiting.length >= mostWaiting || !room.take([]))) break;
    left--;
    if (isLater) continue;
    const promisedMs = scheduler.promisedMs(job);
    waiting.push({
      ...ownJob(context, record),
      ...(forecast && { start: startOf(forecast), end: endOf(forecast) }),
      ...(!Number.isNaN(promisedMs) && { promisedAtMs: nowMs + (promisedMs - clock.nowMs()) }),
    });
  }
  waiting.sort((a, b) => (a.start?.p50Ms ?? Infinity) - (b.start?.p50Ms ?? Infinity) || a.job - b.job);
  const all = new Set([...running, ...waiting, ...others].map(({ job }) => job));
  return { running, waiting, waitingLeftOut: left, others, has: (job: JobNumber) => all.has(job) };
}

function ownJob({ scheduler, clock }: Context, record: JobRecord): Mine {
  const { job, name, user, queue, state, tasks, threads, nodes, limitMs } = record;
  const { submittedAtMs, startedAtMs, endedAtMs } = record;
  return {
    job,
    name,
    user,
    queue,
    state,
    tasks,
    threads,
    ...shownCpus(startedAtMs === undefined && !hasProcess(state) ? [] : nodes),
    submittedAtMs,
    startedAtMs,
    endedAtMs,
    ranMs: isEnded(state) ? record.ranMs : scheduler.ranMs(job, clock.nowMs()),
    limitMs,
  };
}

function startOf({ p10Ms, p50Ms, p90Ms, onlyRange }: StartAndEnd) {
  return { p10Ms, p50Ms, p90Ms, ...(onlyRange && { onlyRange }) };
}

function endOf({ endP10Ms, endP50Ms, endP90Ms, onlyRange }: Omit<StartAndEnd, "p10Ms" | "p50Ms" | "p90Ms">) {
  return { p10Ms: endP10Ms, p50Ms: endP50Ms, p90Ms: endP90Ms, ...(onlyRange && { onlyRange }) };
}
