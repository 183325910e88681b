/**
 * Finds in the events what jobs were before they became what they are now: what updated jobs asked for when
 * they were submitted, and the earlier attempts of jobs that were queued again.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { DaemonEvent } from "../../protocol/events.ts";
import { parseUse } from "../../protocol/resources.ts";
import type { Job } from "../../protocol/schema.ts";

type Data = Readonly<Record<string, unknown>>;
type Asked = Pick<Job, (typeof NUMBERS)[number] | "name" | "queue" | "use">;
type Field = keyof Asked;

const NUMBERS = ["tasks", "threads", "limitMs", "memoryBytes", "beginAtMs"] as const;
const FIELDS: readonly Field[] = [...NUMBERS, "name", "queue", "use"];

/** When a job joined the queue. */
interface Queued {
  readonly atMs: number;
  /** Which of the events this was. */
  readonly event: number;
}

interface Update {
  readonly event: number;
  readonly before: { readonly [Name in Field]?: Asked[Name] | undefined } & Partial<Pick<Job, "priority">>;
}

interface AttemptData {
  readonly attempt: number;
  readonly ranMs: number;
  readonly code?: number;
  readonly signal?: string;
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
  take({ kind, job, atMs, data }: DaemonEvent): void {
    this.#event++;
    if (job === undefined) return;
    if (kind === "updated") this.#takeUpdate(job, data as Data);
    else if (kind === "priority") this.#noteUpdate(job, { priority: Number((data as Data).before) });
    else if (kind === "started") this.#startedAtMs.set(job, (data as { startedAtMs: number }).startedAtMs);
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

  #takeUpdate(job: JobNumber, data: Data): void {
    const values = valuesIn(String(data.before ?? ""));
    const changed = FIELDS.filter((field) => data[field] !== undefined);
    const before = Object.fromEntries(changed.map((field) => [field, parsedValue(field, values.get(field))]));
    this.#noteUpdate(job, before);
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
    attempts.push({
      ...{ attempt, ranMs, queued, startedAtMs, endedAtMs },
      ...(code !== undefined && { code }),
      ...(signal !== undefined && { signal }),
    });
  }
}

/**
 * Fields and values of a text such as `tasks=4 limitMs=5000 name=two words`. The name comes last
 * (updates.ts), because only a name may have spaces.
 */
function valuesIn(text: string): ReadonlyMap<string, string> {
  const [, fields = "", name] = /^(.*?)(?:(?:^| )name=(.*))?$/s.exec(text) ?? [];
  const values = new Map(
    fields.split(" ").map((part): [string, string] => {
      const at = part.indexOf("=");
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
  return name === undefined ? values : values.set("name", name);
}

function parsedValue(field: Field, text: string | undefined): Asked[Field] {
  if (text === undefined) return undefined;
  if (field === "use") return parseUse(text);
  return (NUMBERS as readonly string[]).includes(field) ? Number(text) : text;
}
