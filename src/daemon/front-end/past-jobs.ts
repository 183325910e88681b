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

interface AttemptData {
  readonly attempt: number;
  readonly ranMs: number;
  readonly code?: number;
  readonly signal?: string;
}

/** An attempt after which the job was queued again. Unix times. */
interface PastAttempt extends AttemptData {
  /** When it joined the queue; undefined: when the job did. */
  readonly queuedAtMs: number | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export class PastJobs {
  /** For updated jobs: the fields that have changed, as they were at the submit. */
  readonly #asked = new Map<JobNumber, { [Name in Field]?: Asked[Name] | undefined }>();
  readonly #attempts = new Map<JobNumber, PastAttempt[]>();
  /** When the latest attempt joined the queue, of jobs that were queued again. */
  readonly #queuedAtMs = new Map<JobNumber, number>();
  readonly #startedAtMs = new Map<JobNumber, number>();

  /** Takes the events in their order. */
  take({ kind, job, atMs, data }: DaemonEvent): void {
    if (job === undefined) return;
    if (kind === "updated") this.#takeUpdate(job, data as Data);
    else if (kind === "started") this.#startedAtMs.set(job, (data as { startedAtMs: number }).startedAtMs);
    else if (kind === "ended") this.#startedAtMs.delete(job);
    else if (kind === "requeued") this.#takeAttempt(job, atMs, data as unknown as AttemptData);
    else if (kind === "eligible" && this.#queuedAtMs.has(job)) this.#queuedAtMs.set(job, atMs);
  }

  /** The job as it was submitted. */
  asSubmitted(job: Job): Job {
    return { ...job, ...this.#asked.get(job.job) } as Job;
  }

  isBeginChanged(job: JobNumber): boolean {
    return Object.hasOwn(this.#asked.get(job) ?? {}, "beginAtMs");
  }

  /** Those that began, the first one first. */
  attemptsOf(job: JobNumber): readonly PastAttempt[] {
    return this.#attempts.get(job) ?? [];
  }

  /** When the latest attempt joined the queue; undefined: when the job did. */
  queuedAgainAtMs(job: JobNumber): number | undefined {
    return this.#queuedAtMs.get(job);
  }

  #takeUpdate(job: JobNumber, data: Data): void {
    const before = valuesIn(String(data.before ?? ""));
    const asked = this.#asked.get(job) ?? {};
    this.#asked.set(job, asked);
    for (const field of FIELDS) {
      if (data[field] === undefined || Object.hasOwn(asked, field)) continue;
      Object.assign(asked, { [field]: parsedValue(field, before.get(field)) });
    }
  }

  #takeAttempt(job: JobNumber, endedAtMs: number, { attempt, ranMs, code, signal }: AttemptData): void {
    const startedAtMs = this.#startedAtMs.get(job);
    const queuedAtMs = this.#queuedAtMs.get(job);
    this.#startedAtMs.delete(job);
    this.#queuedAtMs.set(job, endedAtMs);
    if (startedAtMs === undefined) return;
    const attempts = this.#attempts.get(job) ?? [];
    this.#attempts.set(job, attempts);
    attempts.push({
      ...{ attempt, ranMs, queuedAtMs, startedAtMs, endedAtMs },
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
