/**
 * Makes a failing life smaller: leaves out faults and jobs as long as it still has the same problem. It tries
 * all at once, then halves, quarters and so on (delta debugging: Zeller and Hildebrandt, "Simplifying and
 * Isolating Failure-Inducing Input", IEEE TSE 28 (2), 2002), until none can be left out.
 */
import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import type { Verdict } from "./course.ts";
import type { Only, Setting } from "./setting.ts";

/** Numbers of jobs and faults that are left. */
interface Left {
  readonly jobs: readonly number[];
  readonly faults: readonly number[];
}

export interface Shrunk {
  readonly only: Only;
  readonly jobs: number;
  readonly faults: number;
  /** Of the smallest life. */
  readonly verdict: Verdict;
  /** Lives that were tried. */
  readonly tries: number;
}

interface ShrinkOptions {
  /** Of the life that failed, in which nothing was left out. */
  readonly setting: Setting;
  readonly verdict: Verdict;
  readonly live: (setting: Setting) => Promise<Verdict>;
  /** Called after each try. Returning false ends the search. */
  readonly onTry?: (smallest: Shrunk) => boolean | undefined;
}

/** What a problem is about: without the numbers and records of this life. */
export function kindOfProblem(problem: string): string {
  return problem.replace(/\{.*\}/s, "{}").replaceAll(/\d+(?:\.\d+)*/g, "#");
}

export async function shrink({ setting, verdict, live, onTry }: ShrinkOptions): Promise<Shrunk> {
  const wanted = kindOfProblem(verdict.problems[0]);
  const { drawn } = verdict;
  let left: Left = { jobs: upTo(drawn.jobs), faults: upTo(drawn.faults) };
  let smallest = shrunkTo(left, verdict, 0);
  let isEnded = false;
  const tryWith = async (tried: Left): Promise<void> => {
    const result = await live({ ...setting, only: shrunkTo(tried, verdict, 0).only });
    const isSame = result.problems.some((one) => kindOfProblem(one) === wanted);
    if (isSame) left = tried;
    smallest = shrunkTo(left, isSame ? result : smallest.verdict, smallest.tries + 1);
    isEnded = onTry?.(smallest) === false;
  };
  for (let before = Number.POSITIVE_INFINITY; sizeOf(left) < before && !isEnded; ) {
    before = sizeOf(left);
    for (const what of ["faults", "jobs"] as const)
      for (let size = left[what].length; size >= 1 && !isEnded; size = Math.floor(size / 2))
        // From the end: what came after the problem goes first.
        for (let from = left[what].length - size; from > -size && !isEnded; from -= size)
          await tryWith({ ...left, [what]: without(left[what], from, size) });
  }
  return smallest;
}

function without(numbers: readonly number[], from: number, size: number): number[] {
  return numbers.filter((_, i) => i < from || i >= from + size);
}

function shrunkTo({ jobs, faults }: Left, verdict: Verdict, tries: number): Shrunk {
  const only = { jobs: rangesOf(jobs), faults: rangesOf(faults) };
  return { only, jobs: jobs.length, faults: faults.length, verdict, tries };
}

function sizeOf({ jobs, faults }: Left): number {
  return jobs.length + faults.length;
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
