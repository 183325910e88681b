/**
 * Fetches lists of jobs from the scheduler page by page, so a list of any length needs little memory, and its
 * beginning appears at once. A scheduler of Tutti's first release has no pages: it sends all its jobs, and
 * the jobs that the user did not ask for are dropped here.
 */
import type { Client } from "../../api/client/client.ts";
import { RefusedError } from "../../api/client/errors.ts";
import { matchesGlob } from "../../core/glob.ts";
import { holds, type NumberRange, rangesOf, rangesText } from "../../core/number-ranges.ts";
import type { JobQuery } from "../../daemon/contract/service.ts";
import type { Job, JobsAnswer, MatrixAnswer, MissingJobs as MissingInAnswer } from "../../protocol/schema.ts";
import { ENDED_STATES } from "../../protocol/states.ts";

/** Which jobs to ask for. `last` cannot be combined with numbers, names, queues or users. */
export type AskedJobs = Pick<JobQuery, "states" | "numbers" | "name" | "queue" | "user" | "last">;

/** Numbers without a job. A scheduler of the first release does not say why there is no job. */
export interface MissingJobs extends NumberRange {
  readonly because: MissingInAnswer["because"] | "unknown";
}

export interface JobsPage {
  readonly jobs: readonly Job[];
  readonly missing: readonly MissingJobs[];
  /** Whether another page follows. */
  readonly hasMore: boolean;
}

/** Characters of job numbers per request; well below the limit for a request line. */
const MAX_LIST_LENGTH = 6000;
/** More jobs than can exist. */
const EVERYTHING = 999_999_999_999_999;
/** A job that has just been placed may be missing from the answer. */
const FRESH_MS = 2000;

/** The jobs in the order of their numbers, in pages of at most 1,000. */
export async function* jobPages(client: Client, asked: AskedJobs): AsyncGenerator<JobsPage> {
  try {
    yield* newPages(client, asked);
  } catch (error) {
    if (!isWithoutPages(error)) throw error;
    yield await wholeList(client, asked);
  }
}

/**
 * One page of the given jobs that have ended. The answer comes when there is one, or after `waitS` seconds.
 */
export async function endedAmong(
  client: Client,
  numbers: readonly NumberRange[],
  after: number,
  waitS: number,
): Promise<JobsAnswer> {
  return client.ask<JobsAnswer>(
    `/v1/jobs?after=${after}&states=${ENDED_STATES}&numbers=${rangesText(numbers)}&wait=${waitS}`,
  );
}

/** Splits ranges into parts that fit into one request each. */
export function requestParts(ranges: readonly NumberRange[]): NumberRange[][] {
  const parts: NumberRange[][] = [];
  let length = MAX_LIST_LENGTH;
  for (const range of ranges) {
    const more = rangesText([range]).length + 1;
    if (length + more > MAX_LIST_LENGTH) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)!.push(range);
    length += more;
  }
  return parts;
}

/** Whether the scheduler is of the first release, which refuses unknown query parameters. */
export function isWithoutPages(error: unknown): boolean {
  return (
    error instanceof RefusedError &&
    error.refused === "invalid" &&
    /^Cannot use the query parameter "\w+": expected one of states, last$/.test(error.message)
  );
}

/** Such as `jobs 1-20 are forgotten; there are no jobs 31-40 yet`. */
export function missingText(missing: readonly MissingJobs[]): string {
  const textFor = (because: MissingJobs["because"], describe: (which: string, count: number) => string) => {
    const ranges = missing.filter((range) => range.because === because);
    const count = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    const which = `${count === 1 ? "job" : "jobs"} ${rangesText(ranges, ", ")}`;
    return ranges.length === 0 ? [] : [describe(which, count)];
  };
  return [
    ...textFor("forgotten", (which, count) => `${which} ${count === 1 ? "is" : "are"} forgotten`),
    ...textFor("not given", (which) => `there ${which.startsWith("jobs") ? "are" : "is"} no ${which} yet`),
    ...textFor("unknown", (which) => `nothing is known about ${which}`),
  ].join("; ");
}

/** Running jobs that are not in the matrix: after a change of policy they are stopped and wait for room. */
export async function stoppedJobs(client: Client, jobs: readonly Job[]): Promise<ReadonlySet<number>> {
  const running = jobs.filter(
    ({ state, startedAtMs = 0 }) => state === "running" && Date.now() - startedAtMs > FRESH_MS,
  );
  if (running.length === 0) return new Set();
  const { rows } = await client.ask<MatrixAnswer>("/v1/matrix");
  const placed = new Set(rows.flat().map(({ job }) => job));
  const absent = running.filter(({ job }) => !placed.has(job));
  // Jobs that have ended in the meantime are also absent.
  const now = await Promise.all(absent.map(async ({ job }) => (await client.job(job)).job));
  return new Set(now.filter(({ state }) => state === "running").map(({ job }) => job));
}

async function* newPages(client: Client, asked: AskedJobs): AsyncGenerator<JobsPage> {
  const { states, numbers, name, queue, user, last } = asked;
  const filters = Object.entries({ states: states?.join(","), name, queue, user, last }).flatMap(
    ([key, value]) => (value === undefined ? [] : [`&${key}=${encodeURIComponent(value)}`]),
  );
  const parts = numbers === undefined ? [undefined] : requestParts(numbers);
  for (const [i, part] of parts.entries()) {
    const among = part === undefined ? "" : `&numbers=${rangesText(part)}`;
    let query = `${filters.join("")}${among}`;
    for (let after: number | undefined = 0; after !== undefined; ) {
      const answer: JobsAnswer = await client.ask<JobsAnswer>(`/v1/jobs?after=${after}${query}`);
      after = answer.next;
      // Only the first page needs `last`: the next ones begin where this one ended.
      if (last !== undefined) query = query.replace(`&last=${last}`, "");
      const hasMore = after !== undefined || i + 1 < parts.length;
      yield { jobs: answer.jobs, missing: answer.missing ?? [], hasMore };
    }
  }
}

/** All requested jobs, from a scheduler that only sends whole lists. */
async function wholeList(client: Client, asked: AskedJobs): Promise<JobsPage> {
  const { states, numbers, name, queue, user, last = EVERYTHING } = asked;
  const { jobs: all } = await client.jobs({ last, states });
  const jobs = all.filter(
    (job) =>
      (numbers === undefined || holds(numbers, job.job)) &&
      (name === undefined || matchesGlob(job.name, name)) &&
      (queue ?? job.queue) === job.queue &&
      (user ?? job.user) === job.user,
  );
  const missing = states === undefined && numbers !== undefined ? gaps(numbers, jobs) : [];
  return { jobs, missing, hasMore: false };
}

/** The parts of the ranges that have no job; the jobs are in ascending order. */
function gaps(numbers: readonly NumberRange[], jobs: readonly Job[]): MissingJobs[] {
  const existing = rangesOf(jobs.map(({ job }) => job));
  const missing: MissingJobs[] = [];
  const note = (first: number, last: number) => {
    if (first <= last) missing.push({ first, last, because: "unknown" });
  };
  for (const range of numbers) {
    let first = range.first;
    for (const { first: from, last: to } of existing) {
      if (to < first || from > range.last) continue;
      note(first, Math.min(from - 1, range.last));
      first = to + 1;
    }
    note(first, range.last);
  }
  return missing;
}
