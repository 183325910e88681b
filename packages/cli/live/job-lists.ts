/**
 * Fetches lists of jobs from the scheduler page by page, so a list of any length needs little memory, and its
 * beginning appears at once.
 */

import { type NumberRange, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { JobQuery } from "@tutti/live/daemon/contract/service.ts";
import { FILTERS, type Filters } from "@tutti/protocol/job-fields.ts";
import type { Job, JobsAnswer, MissingJobs } from "@tutti/protocol/schema.ts";
import { ENDED_STATES } from "@tutti/protocol/states.ts";

/** Which jobs to ask for. `last` cannot be combined with numbers, names, queues or users. */
export type AskedJobs = Pick<JobQuery, "states" | "numbers" | "last"> & Filters;

export interface JobsPage {
  readonly jobs: readonly Job[];
  readonly missing: readonly MissingJobs[];
  /** Whether another page follows. */
  readonly hasMore: boolean;
}

/** Characters of job numbers per request; well below the limit for a request line. */
const MAX_LIST_LENGTH = 6000;

/** The jobs in the order of their numbers, in pages of at most 1,000. */
export async function* jobPages(client: Client, asked: AskedJobs): AsyncGenerator<JobsPage> {
  const { numbers, last } = asked;
  const filters = (["states", ...FILTERS, "last"] as const).flatMap((key) =>
    asked[key] === undefined ? [] : [`&${key}=${encodeURIComponent(String(asked[key]))}`],
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

/** The jobs of the numbers with all that is known about them: lists cut long commands. */
export async function wholeJobs(client: Client, numbers: readonly number[]): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const number of numbers) jobs.push((await client.job(number)).job);
  return jobs;
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
  ].join("; ");
}
