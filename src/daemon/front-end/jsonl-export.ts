/** Exports jobs and events as a workload file (workload/traces/jsonl.ts), for the simulator. */
import type { ShareSettings } from "../../core/fair-share.ts";
import type { LimitSettings } from "../../core/limits/job-limits.ts";
import type { JobEdit, WorkloadEvent } from "../../core/workload-events.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import type { EventPayloads, LoggedEvent } from "../../protocol/events.ts";
import type { Resource } from "../../protocol/resources.ts";
import type { Job } from "../../protocol/schema.ts";
import { isEnded } from "../../protocol/states.ts";
import { eventLine, headLine } from "../../workload/traces/jsonl-writer.ts";
import type { JobRecord } from "../contract/record.ts";
import { type PastAttempt, PastJobs } from "./past-jobs.ts";

/** Jobs per piece. */
const PIECE = 250;

interface JsonlFacts {
  readonly cpus: number;
  readonly policy: string;
  readonly slotMs: number;
  /** Countable resources. Shared ones are left out of the file: any number of jobs may hold a unit. */
  readonly resources: readonly Resource[];
  /** Left out: everyone has the same share. */
  readonly shares?: ShareSettings | undefined;
  readonly hasQuotas: boolean;
  /** Limits on the jobs of these users. */
  readonly limitsOf: (owners: Iterable<Owner>) => LimitSettings | undefined;
  /** Estimate of jobs without a limit in a queue. */
  readonly unlimitedMs: (queue: string) => number;
}

type Owner = Pick<JobRecord, "uid" | "user">;

interface ExportedJob {
  readonly job: Job;
  readonly record: Pick<JobRecord, "estimateMs" | "after" | keyof Owner>;
}

/**
 * The file in pieces, some of them empty. Needs two passes over the jobs, like exportSwf, and two over the
 * events. Time 0 is the first submit. Jobs that have not ended have no run time. A job that was updated has
 * the values of its submit, and an event for each update. Each attempt of a job is a line.
 * @param pages all jobs by number
 * @param find returns the current state of a job; undefined if it was forgotten in the meantime
 * @param eventPages returns all events that the caller may see, in pages
 */
export function* exportJsonl(
  pages: Iterable<readonly Job[]>,
  find: (job: JobNumber) => ExportedJob | undefined,
  eventPages: () => Iterable<readonly LoggedEvent[]>,
  { cpus, policy, slotMs, resources, shares, limitsOf, hasQuotas, unlimitedMs }: JsonlFacts,
): Generator<string, void, void> {
  const listed: Listed[] = [];
  const owners = new Map<string, Owner>();
  for (const page of pages) {
    for (const { job, user, submittedAtMs, eligibleAtMs } of page) {
      listed.push({ job, submittedAtMs, eligibleAtMs });
      const record = owners.has(user) ? undefined : find(job)?.record;
      if (record !== undefined) owners.set(user, record);
    }
    yield "";
  }
  const epochMs = listed.reduce((least, { submittedAtMs }) => Math.min(least, submittedAtMs), Infinity);
  const submittedAtMs = new Map(listed.map((one) => [one.job, one.submittedAtMs]));
  const counted = resources
    .filter(({ isShared }) => !isShared)
    .map(({ name, units }) => [name, units.length] as const);
  yield headLine({
    name: "Tutti",
    processors: cpus,
    resources: counted.length === 0 ? undefined : Object.fromEntries(counted),
    shares,
    limits: limitsOf(owners.values()),
    ...(hasQuotas && { quotas: true }),
    startedAt: new Date(listed.length > 0 ? epochMs : 0).toISOString(),
    policy,
    slotS: slotMs / 1000,
  });
  const past = new PastJobs();
  for (const page of eventPages()) {
    for (const event of page) past.take(event);
    yield "";
  }
  const order = listed.flatMap((one) => linesOf(one, past)).sort(byArrival);
  for (let i = 0; i < order.length; i += PIECE) {
    const lines = order.slice(i, i + PIECE).map(({ job, attempt }) => {
      const found = find(job);
      return found === undefined ? "" : attemptLine(found, attempt, past, { epochMs, unlimitedMs });
    });
    yield lines.join("");
  }
  const held = new Set<JobNumber>();
  /** Windows that were announced before the first submit. */
  const early = new Map<string, LoggedEvent>();
  const drain = new DrainLines(epochMs);
  for (const page of eventPages()) {
    let text = "";
    for (const event of page) {
      const { job } = event;
      const submitMs = job === undefined ? epochMs : submittedAtMs.get(job);
      const { kind } = event;
      if (event.atMs < epochMs && kind === "reserved") early.set(windowName(event), event);
      if (event.atMs < epochMs && kind === "unreserved") early.delete(windowName(event));
      text += drain.before(event);
      // Of jobs and times that are forgotten.
      if (submitMs === undefined || event.atMs < submitMs) continue;
      // A job that was submitted held has no event of that.
      if (kind === "released" && !held.delete(job!))
        text += eventLine({ event: "hold", atS: since(submitMs, epochMs), job: job! });
      if (kind === "held") held.add(job!);
      const made = EVENTS[kind]?.(event, since(event.atMs, epochMs), epochMs);
      if (made !== undefined) text += eventLine(made);
    }
    yield text;
  }
  yield drain.first();
  for (const event of early.values()) {
    const window = windowOf(event, epochMs);
    if (window.untilS > 0) yield eventLine(window);
  }
}

/** Lines about the beginning of drains. Within a drain, only the reason changes. */
class DrainLines {
  readonly #epochMs: number;
  #isDrained = false;
  /** A drain that began before the first submit has no line yet. */
  #isOwed = false;
  /** Events of earlier instants may follow: ends that were noticed late, and a clock that was set back. */
  #hasBegun = false;

  constructor(epochMs: number) {
    this.#epochMs = epochMs;
  }

  /** What must come before the event's own line. */
  before({ kind, atMs }: LoggedEvent): string {
    const isEarly = atMs < this.#epochMs;
    this.#hasBegun ||= !isEarly;
    const owed = isEarly ? "" : this.first();
    const begins = kind === "drained" && !this.#isDrained;
    if (begins) this.#isDrained = true;
    if (kind === "undrained") this.#isDrained = false;
    if (isEarly && !this.#hasBegun) this.#isOwed = this.#isDrained;
    return begins && !isEarly ? eventLine({ event: "drain", atS: since(atMs, this.#epochMs) }) : owed;
  }

  /** The drain at the beginning of the file, if it has no line yet. */
  first(): string {
    const isOwed = this.#isOwed;
    this.#isOwed = false;
    return isOwed ? eventLine({ event: "drain", atS: 0 }) : "";
  }
}

function windowName({ data }: LoggedEvent): string {
  return String((data as Data | undefined)?.name);
}

interface Listed extends Pick<Job, "job" | "submittedAtMs"> {
  readonly eligibleAtMs: number | undefined;
}

/** A line to write. */
interface Line {
  readonly job: JobNumber;
  /** Undefined: the latest one. */
  readonly attempt: PastAttempt | undefined;
  /** When it joined the queue. */
  readonly arrivalMs: number;
  /** After a begin, or after another attempt. */
  readonly isLater: boolean;
}

/** A line for each attempt of a job. */
function linesOf({ job, submittedAtMs, eligibleAtMs }: Listed, past: PastJobs): Line[] {
  const attempts = past.attemptsOf(job);
  const again = past.queuedAgain(job);
  const begunAtMs = again === undefined ? eligibleAtMs : past.begunAtMs(job);
  const line = (attempt: PastAttempt | undefined, laterMs = begunAtMs): Line => ({
    job,
    attempt,
    arrivalMs: laterMs ?? submittedAtMs,
    isLater: laterMs !== undefined,
  });
  return [...attempts.map((attempt) => line(attempt, attempt.queued?.atMs)), line(undefined, again?.atMs)];
}

/** At one instant, new jobs join the queue before those that come later, like in a cycle (cycle.ts). */
function byArrival(a: Line, b: Line): number {
  return a.arrivalMs - b.arrivalMs || Number(a.isLater) - Number(b.isLater) || a.job - b.job;
}

type Data = Readonly<Record<string, unknown>>;

/** Lines by kind of event; all other kinds follow from the jobs and from the policy. */
const EVENTS: Readonly<
  Record<string, (event: LoggedEvent, atS: number, epochMs: number) => WorkloadEvent | undefined>
> = {
  held: ({ job }, atS) => ({ event: "hold", atS, job: job! }),
  released: ({ job }, atS) => ({ event: "release", atS, job: job! }),
  paused: ({ job, data }, atS) => ({
    event: "pause",
    atS,
    job: job!,
    ...((data as Data | undefined)?.release === true && { release: true }),
  }),
  resumed: ({ job }, atS) => ({ event: "resume", atS, job: job! }),
  undrained: (_, atS) => ({ event: "undrain", atS }),
  reserved: (event, _, epochMs) => windowOf(event, epochMs),
  unreserved: (event, atS) => ({ event: "unreserve", atS, name: windowName(event) }),
  updated: ({ job, data }, atS, epochMs) => ({
    event: "edit",
    atS,
    job: job!,
    set: editOf((data as EventPayloads["updated"]).now, epochMs),
  }),
  priority: ({ job, data }, atS) => ({
    event: "edit",
    atS,
    job: job!,
    set: { priority: Number((data as Data | undefined)?.after ?? 0) },
  }),
  capacity: ({ data }, atS) => ({
    event: "capacity",
    atS,
    processors: Number((data as Data | undefined)?.cpus ?? 0),
  }),
  policy: ({ data }, atS) => {
    const { after } = (data ?? {}) as Data;
    return typeof after === "string" ? { event: "policy", atS, policy: after } : undefined;
  },
};

function windowOf({ atMs, data }: LoggedEvent, epochMs: number): Extract<WorkloadEvent, { event: "window" }> {
  const { name, fromMs, untilMs, users, queues } = data as EventPayloads["reserved"];
  return {
    event: "window",
    atS: since(atMs, epochMs),
    fromS: since(fromMs, epochMs),
    untilS: since(untilMs, epochMs),
    name,
    ...(users !== undefined && { users }),
    ...(queues !== undefined && { queues }),
  };
}

interface LineFacts extends Pick<JsonlFacts, "unlimitedMs"> {
  readonly epochMs: number;
}

function attemptLine(
  { job, record }: ExportedJob,
  attempt: PastAttempt | undefined,
  past: PastJobs,
  { epochMs, unlimitedMs }: LineFacts,
): string {
  const again = past.queuedAgain(job.job);
  const queued = attempt === undefined ? again : attempt.queued;
  const asked = past.asQueued(job, queued);
  const { beginAtMs, limitMs, queue } = asked;
  const isUntouched = again === undefined && !past.isBeginChanged(job.job);
  const begunAtMs = queued?.atMs ?? (isUntouched ? job.eligibleAtMs : beginAtMs);
  // An updated job without a limit had the estimate of its queue.
  const hasGotLimit = limitMs === undefined && job.limitMs !== undefined;
  const about = { ...record, estimateMs: hasGotLimit ? unlimitedMs(queue) : record.estimateMs };
  if (attempt === undefined) return jobLine(asked, about, begunAtMs, epochMs);
  const { queued: _, ...facts } = attempt;
  return jobLine({ ...asked, ...facts, state: "failed" }, about, begunAtMs, epochMs);
}

function jobLine(
  job: Job,
  { estimateMs, after }: ExportedJob["record"],
  beginAtMs: number | undefined,
  epochMs: number,
): string {
  const { startedAtMs, endedAtMs, limitMs, state } = job;
  const hasRun = isEnded(state) && startedAtMs !== undefined;
  return `${JSON.stringify({
    job: job.job,
    submitS: since(job.submittedAtMs, epochMs),
    beginS: beginAtMs === undefined ? undefined : since(beginAtMs, epochMs),
    tasks: job.tasks,
    threads: job.threads,
    runS: hasRun ? seconds(job.ranMs) : undefined,
    limitS: limitMs === undefined ? undefined : seconds(limitMs),
    // Policies see an estimate even for a job without a limit.
    estimateS: limitMs === undefined ? seconds(estimateMs) : undefined,
    memoryBytes: job.memoryBytes,
    use: job.use,
    user: job.user,
    queue: job.queue,
    name: job.name,
    state,
    startS: startedAtMs === undefined ? undefined : since(startedAtMs, epochMs),
    endS: endedAtMs === undefined ? undefined : since(endedAtMs, epochMs),
    priority: job.priority === 0 ? undefined : job.priority,
    after: after.length === 0 ? undefined : after,
    retries: job.retries,
    retryOn: job.retryOn,
    array: job.array,
    arrayIndex: job.arrayIndex,
    attempt: job.attempt,
    code: job.code,
    signal: job.signal,
  })}\n`;
}

function since(unixMs: number, epochMs: number): number {
  return seconds(Math.max(0, unixMs - epochMs));
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** The new values of a job that was updated, in the units of the file. */
function editOf(now: EventPayloads["updated"]["now"], epochMs: number): JobEdit {
  const { name, queue, tasks, threads, limitMs, memoryBytes, use, priority, beginAtMs } = now;
  const values = { name, queue, tasks, threads, memoryBytes, priority };
  return {
    ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
    ...(limitMs !== undefined && { limitS: limitMs / 1000 }),
    ...(use !== undefined && { use }),
    ...(beginAtMs !== undefined && { beginS: since(beginAtMs, epochMs) }),
  };
}
