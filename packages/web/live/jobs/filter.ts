/** Which jobs the list shows, and in which order: both are in the page's address. */
import { matchesGlob } from "@tutti/kernel/core/glob.ts";
import { holds, mergeRanges, type NumberRange, parseRanges } from "@tutti/kernel/core/number-ranges.ts";
import { orderOf } from "@tutti/kernel/metrics/quantiles.ts";
import type { Job } from "@tutti/protocol/answers.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { isEnded, JOB_STATES, type JobState } from "@tutti/protocol/states.ts";

type Query = Readonly<Record<string, string>>;

interface JobFilter {
  /** Empty: all states. */
  readonly states: readonly JobState[];
  readonly user: string | undefined;
  readonly queue: string | undefined;
  /** With `*` for any text. */
  readonly name: string | undefined;
  readonly numbers: readonly NumberRange[] | undefined;
  readonly array: number | undefined;
}

/** Parameters of the address that select jobs. */
export const FILTERS = ["state", "user", "queue", "name", "number", "array"] as const;

/** What cannot be understood selects nothing away. */
export function filterOf({ state = "", user, queue, name, number = "", array }: Query): JobFilter {
  const ranges = parseRanges(number);
  return {
    states: JOB_STATES.filter((known) => state.split(",").includes(known)),
    user,
    queue,
    // A name without a star is a part of a name: people type what they remember.
    name: name === undefined || name.includes("*") ? name : `*${name}*`,
    numbers: ranges === undefined ? undefined : mergeRanges(ranges),
    array: array !== undefined && /^\d{1,15}$/.test(array) ? Number(array) : undefined,
  };
}

export function isShown({ states, user, queue, name, numbers, array }: JobFilter, job: Job): boolean {
  return (
    (states.length === 0 || states.includes(job.state)) &&
    (user === undefined || user === job.user) &&
    (queue === undefined || queue === job.queue) &&
    (name === undefined || matchesGlob(job.name, name)) &&
    (numbers === undefined || holds(numbers, job.job)) &&
    (array === undefined || array === job.array)
  );
}

/** The search field: numbers such as `3-9,12` are numbers, everything else is a name. */
export function searchOf(text: string): { readonly name: string; readonly number: string } {
  const words = text.trim();
  return parseRanges(words) === undefined ? { name: words, number: "" } : { name: "", number: words };
}

/** How long a job waited until its start, or has waited so far. */
export function waitedMs({ submittedAtMs, startedAtMs, endedAtMs }: Job, nowMs: number): number {
  return Math.max(0, (startedAtMs ?? endedAtMs ?? nowMs) - submittedAtMs);
}

/** Time since its start, or from its start to its end; undefined before. */
export function elapsedMs({ startedAtMs, endedAtMs }: Job, nowMs: number): number | undefined {
  return startedAtMs === undefined ? undefined : Math.max(0, (endedAtMs ?? nowMs) - startedAtMs);
}

type Column = (jobs: readonly Job[], nowMs: number) => Float64Array;

const numbers =
  (read: (job: Job, nowMs: number) => number | undefined): Column =>
  (jobs, nowMs) => {
    // `Float64Array.from` takes several times as long.
    const column = new Float64Array(jobs.length);
    for (let i = 0; i < jobs.length; i++) column[i] = read(jobs[i], nowMs) ?? Number.NaN;
    return column;
  };

/** Texts as their ranks: few texts of a list are different. */
const texts =
  (textOf: (job: Job) => string): Column =>
  (jobs) => {
    const sorted = [...new Set(jobs.map(textOf))].sort();
    const ranks = new Map(sorted.map((text, rank) => [text, rank]));
    return Float64Array.from(jobs, (job) => ranks.get(textOf(job)) ?? Number.NaN);
  };

/** By the name of a column in the address. */
const COLUMNS: Readonly<Record<string, Column>> = {
  job: numbers(({ job }) => job),
  name: texts(({ name }) => name),
  state: numbers(({ state }) => JOB_STATES.indexOf(state)),
  user: texts(({ user }) => user),
  queue: texts(({ queue }) => queue),
  cpus: numbers(processorsOf),
  priority: numbers(({ priority }) => priority),
  wait: numbers(waitedMs),
  elapsed: numbers(elapsedMs),
  limit: numbers(({ limitMs }) => limitMs),
};

/**
 * The jobs in order: `wait` rising, `-wait` falling, equal ones by number, those without a value last.
 * Without an order that is known: running jobs, then waiting ones, then ended ones with the last end first.
 */
export function inOrder(jobs: readonly Job[], sort: string | undefined, nowMs: number): Job[] {
  const isFalling = sort?.startsWith("-") ?? false;
  const name = isFalling ? sort!.slice(1) : (sort ?? "");
  const byNumber = sorted(jobs, COLUMNS.job(jobs, nowMs));
  const keys = (Object.hasOwn(COLUMNS, name) ? COLUMNS[name] : DEFAULT)(byNumber, nowMs);
  if (isFalling && Object.hasOwn(COLUMNS, name)) for (let i = 0; i < keys.length; i++) keys[i] = -keys[i];
  return sorted(byNumber, keys);
}

function sorted(jobs: readonly Job[], keys: Float64Array): Job[] {
  const list: Job[] = [];
  for (const row of orderOf(keys)) list.push(jobs[row]);
  if (list.length < jobs.length)
    for (const [i, job] of jobs.entries()) if (Number.isNaN(keys[i])) list.push(job);
  return list;
}

/** Later than any Unix time in ms. */
const END_OF_TIME_MS = 1e15;

const DEFAULT = numbers(({ state, endedAtMs = 0 }) => {
  if (isEnded(state)) return END_OF_TIME_MS - endedAtMs;
  return state === "queued" || state === "held" ? 0 : -1;
});
