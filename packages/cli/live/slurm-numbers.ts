/** Finds the jobs that a command line names by Slurm's numbers: `12`, `12_3`, `12_[1-4,7]`. */
import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { type AskedJobs, jobPages } from "./job-lists.ts";

/** A job, all jobs of an array, or some of them. */
interface JobName {
  readonly number: number;
  /** Undefined: the job, or all jobs of the array. */
  readonly indices?: readonly (readonly [first: number, last: number])[];
  /** The part after the dot: `batch` or the number of a step. */
  readonly step?: string;
  readonly text: string;
}

/** Undefined if the text is not the name of a job. */
export function parseJobName(text: string): JobName | undefined {
  const [, number, one, list, step] =
    /^(\d{1,15})(?:_(?:(\d{1,7})|\[([\d,-]{1,5000})(?:%\d+)?\]))?(?:[.+](\w+))?$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const named = { number: Number(number), step, text };
  const ranges = one ?? list;
  if (ranges === undefined) return named;
  const indices: [number, number][] = [];
  for (const range of ranges.split(",")) {
    const [, first, last = first] = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(range) ?? [];
    if (first === undefined) return undefined;
    indices.push([Number(first), Number(last)]);
  }
  return { ...named, indices };
}

/** The names of jobs. @param refuse makes the error of a text that is none */
export function jobNames(texts: readonly string[], refuse: (text: string) => Error): readonly JobName[] {
  return texts.map((text) => {
    const name = parseJobName(text);
    if (name === undefined) throw refuse(text);
    return name;
  });
}

/** Jobs of the numbers, of all states. A number of an array means all its jobs. Each job once, in order. */
export async function jobsNamed(client: Client, names: readonly JobName[]): Promise<readonly Job[]> {
  const found = new Map<number, Job>();
  const firsts = await jobsOf(client, { numbers: rangesOf(names.map(({ number }) => number)) });
  const byNumber = new Map(firsts.map((job) => [job.job, job]));
  const arrays = new Map<number, readonly Job[]>();
  for (const { number, indices } of names) {
    const first = byNumber.get(number);
    if (first?.array !== number) {
      // A job of an array also has a number of its own, by which Slurm knows it too.
      if (first !== undefined && indices === undefined) found.set(number, first);
      // The first jobs of an array may be forgotten while others are kept.
      if (first !== undefined || indices === undefined) continue;
    }
    const members = arrays.get(number) ?? (await arrayJobs(client, number));
    arrays.set(number, members);
    for (const job of members) {
      const { arrayIndex = 0 } = job;
      if (indices === undefined || indices.some(([from, to]) => arrayIndex >= from && arrayIndex <= to))
        found.set(job.job, job);
    }
  }
  return [...found.values()].sort((a, b) => a.job - b.job);
}

/** All jobs that you may see, or those that are asked for. */
export async function jobsOf(client: Client, asked: AskedJobs): Promise<readonly Job[]> {
  const found: Job[] = [];
  for await (const { jobs } of jobPages(client, asked)) found.push(...jobs);
  return found;
}

/** The jobs of an array have consecutive numbers. */
async function arrayJobs(client: Client, array: number): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (let first = array; first < array + MAX_JOBS_PER_BATCH; first += 1000) {
    const some = await jobsOf(client, { numbers: [{ first, last: first + 999 }] });
    jobs.push(...some.filter((job) => job.array === array));
    if (some.some((job) => job.array !== array) || some.length === 0) break;
  }
  return jobs;
}
