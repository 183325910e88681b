/**
 * Says in the form of workload files (core/workload-events.ts) what the store has: jobs as they are now,
 * their attempts as they were, and what happened. The exports write this form down.
 */
import type { JobEdit, WorkloadEvent, WorkloadJob } from "@tutti/kernel/core/workload-events.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { EventKind, EventPayloads, LoggedEvent } from "@tutti/protocol/events.ts";
import type { UpdateBody } from "@tutti/protocol/requests.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import type { JobRecord } from "../contract/record.ts";

/** The job as it is now. @param epochMs Unix time of the instant 0 of the file */
export function jobOf(record: JobRecord, epochMs: number): WorkloadJob {
  const { startedAtMs, endedAtMs, state, after, retries } = record;
  const { beginS, limitS } = editOf(record, epochMs);
  return {
    job: record.job,
    submitS: since(record.submittedAtMs, epochMs),
    beginS,
    tasks: record.tasks,
    threads: record.threads,
    runS: isEnded(state) && startedAtMs !== undefined ? seconds(record.ranMs) : undefined,
    limitS,
    estimateS: seconds(record.estimateMs),
    memoryBytes: record.memoryBytes,
    use: record.use,
    user: record.user,
    queue: record.queue,
    name: record.name,
    state,
    startS: startedAtMs === undefined ? undefined : since(startedAtMs, epochMs),
    endS: endedAtMs === undefined ? undefined : since(endedAtMs, epochMs),
    priority: record.priority,
    after: after.length === 0 ? undefined : after,
    retries: retries === 0 ? undefined : retries,
    retryOn: record.retryOn,
    array: record.array,
    arrayIndex: record.arrayIndex,
    attempt: record.attempt,
    code: record.code,
    signal: record.signal,
  };
}

/** The values that an update can change. */
function editOf(values: Partial<UpdateBody>, epochMs: number): JobEdit {
  const { name, queue, tasks, threads, memoryBytes, priority, limitMs, use, beginAtMs } = values;
  return {
    name,
    queue,
    tasks,
    threads,
    memoryBytes,
    priority,
    limitS: limitMs === undefined ? undefined : seconds(limitMs),
    use,
    beginS: beginAtMs === undefined ? undefined : since(beginAtMs, epochMs),
  };
}

interface Happened {
  readonly atS: number;
  readonly epochMs: number;
  /** Of events of jobs. */
  readonly job: JobNumber;
}

/** By kind; all other events follow from the jobs and from the policy. */
const EVENTS: {
  readonly [Kind in EventKind]?: (data: EventPayloads[Kind], at: Happened) => WorkloadEvent | undefined;
} = {
  held: (_, { atS, job }) => ({ event: "hold", atS, job }),
  released: (_, { atS, job }) => ({ event: "release", atS, job }),
  paused: ({ release }, { atS, job }) => ({ event: "pause", atS, job, ...(release && { release }) }),
  resumed: (_, { atS, job }) => ({ event: "resume", atS, job }),
  drained: (_, { atS }) => ({ event: "drain", atS }),
  undrained: (_, { atS }) => ({ event: "undrain", atS }),
  reserved: ({ name, fromMs, untilMs, users, queues }, { atS, epochMs }) => ({
    event: "window",
    atS,
    fromS: since(fromMs, epochMs),
    untilS: since(untilMs, epochMs),
    name,
    users,
    queues,
  }),
  unreserved: ({ name }, { atS }) => ({ event: "unreserve", atS, name }),
  updated: ({ now }, { atS, job, epochMs }) => ({ event: "edit", atS, job, set: editOf(now, epochMs) }),
  priority: ({ after }, { atS, job }) => ({ event: "edit", atS, job, set: { priority: after } }),
  capacity: ({ cpus }, { atS }) => ({ event: "capacity", atS, processors: cpus }),
  policy: (data, { atS }) => ("after" in data ? { event: "policy", atS, policy: data.after } : undefined),
};

export function eventOf({ kind, job, atMs, data }: LoggedEvent, epochMs: number): WorkloadEvent | undefined {
  const make = EVENTS[kind] as ((data: unknown, at: Happened) => WorkloadEvent | undefined) | undefined;
  return make?.(data, { atS: since(atMs, epochMs), epochMs, job: job! });
}

/** What events say of an attempt. */
export interface Attempt {
  /** When it joined the queue, Unix time; undefined: it is the first one. */
  readonly queuedMs?: number;
  /** When the begin of the first one had come. */
  readonly begunMs?: number;
  /** What the job asked for then, of the values that have changed since. */
  readonly asked: JobEdit;
  /** What became of it, if the job was queued again after it. */
  ended?: Partial<WorkloadJob>;
}

/** Finds the attempts of all jobs in the events, which it takes in their order. */
export class Attempts {
  readonly #epochMs: number;
  /** Those that began, and at last the one that the job has now. */
  readonly #ofJob = new Map<JobNumber, Attempt[]>();
  readonly #startS = new Map<JobNumber, number>();

  constructor(epochMs: number) {
    this.#epochMs = epochMs;
  }

  of(job: JobNumber): readonly Attempt[] {
    return this.#ofJob.get(job) ?? [{ asked: {} }];
  }

  take({ kind, job, atMs, data }: LoggedEvent): void {
    if (job === undefined) return;
    const epochMs = this.#epochMs;
    if (kind === "updated") {
      const { was, now } = data as EventPayloads["updated"];
      this.#noteUpdate(job, editOf(was, epochMs), editOf(now, epochMs));
    } else if (kind === "priority") {
      const { before, after } = data as EventPayloads["priority"];
      this.#noteUpdate(job, { priority: before }, { priority: after });
    } else if (kind === "started")
      this.#startS.set(job, since((data as EventPayloads["started"]).startedAtMs, epochMs));
    else if (kind === "ended") this.#startS.delete(job);
    else if (kind === "requeued") this.#noteEnd(job, atMs, data as EventPayloads["requeued"]);
    else if (kind === "eligible") {
      const attempts = this.#known(job);
      const latest = attempts.pop()!;
      attempts.push(
        latest.queuedMs === undefined ? { ...latest, begunMs: atMs } : { queuedMs: atMs, asked: {} },
      );
    }
  }

  #known(job: JobNumber): Attempt[] {
    const attempts = this.#ofJob.get(job) ?? [{ asked: {} }];
    this.#ofJob.set(job, attempts);
    return attempts;
  }

  #noteUpdate(job: JobNumber, was: JobEdit, now: JobEdit): void {
    const attempts = this.#known(job);
    for (const field of Object.keys(now) as (keyof JobEdit)[]) {
      if (now[field] === undefined) continue;
      // The first change counts. What is noted of an attempt is noted of all before it.
      for (let i = attempts.length - 1; i >= 0 && !Object.hasOwn(attempts[i].asked, field); i--)
        Object.assign(attempts[i].asked, { [field]: was[field] });
    }
  }

  #noteEnd(
    job: JobNumber,
    endedAtMs: number,
    { attempt, ranMs, code, signal }: EventPayloads["requeued"],
  ): void {
    const attempts = this.#known(job);
    const startS = this.#startS.get(job);
    this.#startS.delete(job);
    if (startS === undefined) attempts.pop();
    else
      attempts.at(-1)!.ended = {
        ...{ attempt, state: "failed", code, signal },
        ...{ startS, endS: since(endedAtMs, this.#epochMs), runS: seconds(ranMs) },
      };
    attempts.push({ queuedMs: endedAtMs, asked: {} });
  }
}

/** When the attempt joined the queue after a begin or after another attempt, Unix time. */
export function joinedMs({ queuedMs, begunMs, ended }: Attempt, eligibleAtMs: number | undefined) {
  return queuedMs ?? (ended === undefined ? eligibleAtMs : begunMs);
}

/** The attempt as it was when it joined the queue. @param unlimitedMs estimate of jobs without a limit */
export function attemptOf(
  record: JobRecord,
  { queuedMs, asked, ended }: Attempt,
  epochMs: number,
  unlimitedMs: (queue: string) => number,
): WorkloadJob {
  const now = jobOf(record, epochMs);
  const job = { ...now, ...asked, ...ended };
  const isUntouched = ended === undefined && !Object.hasOwn(asked, "beginS");
  const joinedAtMs = queuedMs ?? (isUntouched ? record.eligibleAtMs : undefined);
  // An updated job without a limit had the estimate of its queue.
  const estimateS = now.limitS === undefined ? now.estimateS : seconds(unlimitedMs(job.queue!));
  return {
    ...job,
    beginS: joinedAtMs !== undefined ? since(joinedAtMs, epochMs) : isUntouched ? undefined : job.beginS,
    estimateS: job.limitS === undefined ? estimateS : undefined,
    priority: job.priority === 0 ? undefined : job.priority,
  };
}

export function since(unixMs: number, epochMs: number): number {
  return seconds(Math.max(0, unixMs - epochMs));
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
