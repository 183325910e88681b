/** Exports jobs and events as a workload file (workload/traces/jsonl.ts), for the simulator. */
import type { WorkloadEvent } from "@tutti/kernel/core/workload-events.ts";
import { eventLine, headLine, type WorkloadHead } from "@tutti/kernel/workload/traces/jsonl-writer.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { EventPayloads, LoggedEvent } from "@tutti/protocol/events.ts";
import type { JobRecord } from "../contract/record.ts";
import { type Attempt, Attempts, attemptOf, eventOf, joinedMs, since } from "./workload-form.ts";

/** Jobs per piece. */
const PIECE = 250;

interface JsonlFacts {
  /** @param owners of the jobs in the file, each at least once */
  readonly headOf: (owners: Iterable<JobRecord>, startedAt: string) => WorkloadHead;
  /** Estimate of jobs without a limit in a queue. */
  readonly unlimitedMs: (queue: string) => number;
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
  pages: Iterable<readonly (Listed & Pick<JobRecord, "user">)[]>,
  find: (job: JobNumber) => JobRecord | undefined,
  eventPages: () => Iterable<readonly LoggedEvent[]>,
  { headOf, unlimitedMs }: JsonlFacts,
): Generator<string, void, void> {
  const listed: Listed[] = [];
  const owners = new Map<string, JobRecord>();
  for (const page of pages) {
    for (const { job, user, submittedAtMs, eligibleAtMs } of page) {
      listed.push({ job, submittedAtMs, eligibleAtMs });
      const record = owners.has(user) ? undefined : find(job);
      if (record !== undefined) owners.set(user, record);
    }
    yield "";
  }
  const epochMs = listed.reduce((least, { submittedAtMs }) => Math.min(least, submittedAtMs), Infinity);
  yield headLine(headOf(owners.values(), new Date(listed.length > 0 ? epochMs : 0).toISOString()));
  const attempts = new Attempts(epochMs);
  const atFirst = new AtFirstSubmit(epochMs);
  for (const page of eventPages()) {
    for (const event of page) {
      attempts.take(event);
      if (event.atMs < epochMs) atFirst.take(event);
    }
    yield "";
  }
  const lines = listed.flatMap((one) => attempts.of(one.job).map((attempt) => lineOf(one, attempt)));
  lines.sort(byArrival);
  for (let i = 0; i < lines.length; i += PIECE) {
    let text = "";
    for (const { job, attempt } of lines.slice(i, i + PIECE)) {
      const record = find(job);
      if (record !== undefined)
        text += `${JSON.stringify(attemptOf(record, attempt, epochMs, unlimitedMs))}\n`;
    }
    yield text;
  }
  yield* eventLines(eventPages(), listed, epochMs, atFirst);
}

type Listed = Pick<JobRecord, "job" | "submittedAtMs" | "eligibleAtMs">;

/** A line to write. */
interface Line {
  readonly job: JobNumber;
  readonly attempt: Attempt;
  /** When it joined the queue. */
  readonly arrivalMs: number;
  /** After a begin, or after another attempt. */
  readonly isLater: boolean;
}

function lineOf({ job, submittedAtMs, eligibleAtMs }: Listed, attempt: Attempt): Line {
  const laterMs = joinedMs(attempt, eligibleAtMs);
  return { job, attempt, arrivalMs: laterMs ?? submittedAtMs, isLater: laterMs !== undefined };
}

/** At one instant, new jobs join the queue before those that come later, like in a cycle (cycle.ts). */
function byArrival(a: Line, b: Line): number {
  return a.arrivalMs - b.arrivalMs || Number(a.isLater) - Number(b.isLater) || a.job - b.job;
}

/** What was said of the machine before the first submit, and counts then. */
class AtFirstSubmit {
  isDrained = false;
  readonly windows = new Map<string, WorkloadEvent | undefined>();
  readonly #epochMs: number;

  constructor(epochMs: number) {
    this.#epochMs = epochMs;
  }

  take(event: LoggedEvent): void {
    const { kind, data } = event;
    if (kind === "drained" || kind === "undrained") this.isDrained = kind === "drained";
    if (kind === "unreserved") this.windows.delete((data as EventPayloads["unreserved"]).name);
    if (kind === "reserved")
      this.windows.set((data as EventPayloads["reserved"]).name, eventOf(event, this.#epochMs));
  }
}

function* eventLines(
  pages: Iterable<readonly LoggedEvent[]>,
  listed: readonly Listed[],
  epochMs: number,
  atFirst: AtFirstSubmit,
): Generator<string, void, void> {
  const submittedAtMs = new Map(listed.map((one) => [one.job, one.submittedAtMs]));
  const held = new Set<JobNumber>();
  let { isDrained } = atFirst;
  if (isDrained) yield eventLine({ event: "drain", atS: 0 });
  for (const page of pages) {
    let text = "";
    for (const event of page) {
      const { kind, job } = event;
      const submitMs = job === undefined ? epochMs : submittedAtMs.get(job);
      // Of jobs and times that are forgotten.
      if (submitMs === undefined || event.atMs < submitMs) continue;
      // A job that was submitted held has no event of that.
      if (kind === "released" && !held.delete(job!))
        text += eventLine({ event: "hold", atS: since(submitMs, epochMs), job: job! });
      if (kind === "held") held.add(job!);
      // Within a drain, only the reason changes.
      if (kind === "drained" && isDrained) continue;
      if (kind === "drained" || kind === "undrained") isDrained = kind === "drained";
      const made = eventOf(event, epochMs);
      if (made !== undefined) text += eventLine(made);
    }
    yield text;
  }
  for (const window of atFirst.windows.values())
    if (window?.event === "window" && window.untilS > 0) yield eventLine(window);
}
