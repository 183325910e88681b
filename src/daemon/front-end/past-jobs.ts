/**
 * Finds in the events what jobs were before they became what they are now: what updated jobs asked for when
 * they were submitted, and the earlier attempts of jobs that were queued again.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { EventPayloads, LoggedEvent } from "../../protocol/events.ts";
import type { Job } from "../../protocol/schema.ts";

/** What an export says of a job and an update can change. */
const FIELDS = [
  "tasks",
  "threads",
  "limitMs",
  "memoryBytes",
  "beginAtMs",
  "name",
  "queue",
  "use",
  "priority",
] as const;

/** When a job joined the queue. */
interface Queued {
  readonly atMs: number;
  /** Which of the events this was. */
  readonly event: number;
}

interface Update {
  readonly event: number;
  readonly before: { readonly [Name in (typeof FIELDS)[number]]?: Job[Name] | undefined };
}

interface AttemptData {
  readonly attempt: number;
  readonly ranMs: number;
  readonly code?: number | undefined;
  readonly signal?: string | undefined;
}

/** An attempt after which the job was queued again. Unix times. */
export interface PastAttempt extends AttemptData {
  /** Undefined: it is the first one. */
  readonly queued: Queued | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export class PastJobs {
  /** For updated jobs: when, and the fields that changed then, as they were before. In order. */
  readonly #updates = new Map<JobNumber, Update[]>();
  readonly #attempts = new Map<JobNumber, PastAttempt[]>();
  /** When the latest attempt joined the queue, of jobs that were queued again. */
  readonly #queued = new Map<JobNumber, Queued>();
  readonly #startedAtMs = new Map<JobNumber, number>();
  /** When the begin of a job had come. */
  readonly #begunAtMs = new Map<JobNumber, number>();
  /** Number of the present event. */
  #event = 0;

  /** Takes the events in their order. */
  take({ kind, job, atMs, data }: LoggedEvent): void {
    this.#event++;
    if (job === undefined) return;
    if (kind === "updated") this.#takeUpdate(job, data as EventPayloads["updated"]);
    else if (kind === "priority")
      this.#noteUpdate(job, { priority: (data as EventPayloads["priority"]).before });
    else if (kind === "started") this.#startedAtMs.set(job, (data as EventPayloads["started"]).startedAtMs);
    else if (kind === "ended") this.#startedAtMs.delete(job);
    else if (kind === "requeued") this.#takeAttempt(job, atMs, data as unknown as AttemptData);
    else if (kind === "eligible" && this.#queued.has(job))
      this.#queued.set(job, { atMs, event: this.#event });
    else if (kind === "eligible") this.#begunAtMs.set(job, atMs);
  }

  /** The job as it was when it joined the queue again, or undefined: when it was submitted. */
  asQueued(job: Job, queued: Queued | undefined): Job {
    const updates = this.#updates.get(job.job);
    if (updates === undefined) return job;
    const later = queued === undefined ? updates : updates.filter(({ event }) => event > queued.event);
    return Object.assign({ ...job }, ...later.map(({ before }) => before).reverse());
  }

  isBeginChanged(job: JobNumber): boolean {
    return this.#updates.get(job)?.some(({ before }) => Object.hasOwn(before, "beginAtMs")) === true;
  }

  begunAtMs(job: JobNumber): number | undefined {
    return this.#begunAtMs.get(job);
  }

  /** Those that began, the first one first. */
  attemptsOf(job: JobNumber): readonly PastAttempt[] {
    return this.#attempts.get(job) ?? [];
  }

  /** When the latest attempt joined the queue; undefined: it is the first one. */
  queuedAgain(job: JobNumber): Queued | undefined {
    return this.#queued.get(job);
  }

  #takeUpdate(job: JobNumber, { was, now }: EventPayloads["updated"]): void {
    const changed = FIELDS.filter((field) => now[field] !== undefined);
    this.#noteUpdate(job, Object.fromEntries(changed.map((field) => [field, was[field]])));
  }

  #noteUpdate(job: JobNumber, before: Update["before"]): void {
    const updates = this.#updates.get(job) ?? [];
    this.#updates.set(job, updates);
    updates.push({ event: this.#event, before });
  }

  #takeAttempt(job: JobNumber, endedAtMs: number, { attempt, ranMs, code, signal }: AttemptData): void {
    const startedAtMs = this.#startedAtMs.get(job);
    const queued = this.#queued.get(job);
    this.#startedAtMs.delete(job);
    this.#queued.set(job, { atMs: endedAtMs, event: this.#event });
    if (startedAtMs === undefined) return;
    const attempts = this.#attempts.get(job) ?? [];
    this.#attempts.set(job, attempts);
    attempts.push({ attempt, ranMs, code, signal, queued, startedAtMs, endedAtMs });
  }
}
