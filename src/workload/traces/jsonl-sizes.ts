/** Reads on how many tasks the jobs of a workload file can run (core/molding.ts). */
import type { Molding } from "../../core/molding.ts";
import { MAX_INT32 } from "./jsonl-fields.ts";

/** Fields of a job's line. */
export interface SizeFields {
  readonly minTasks?: number;
  readonly maxTasks?: number;
  readonly serialShare?: number;
}

export type Sizes = Required<SizeFields>;

/**
 * The range of a job with a number of tasks; undefined if it runs on no other. An end of the range that
 * excludes this number is left out.
 * @param note called with such an end
 */
export function sizesOf(
  given: SizeFields,
  tasks: number,
  threads: number,
  note: (field: string, value: unknown) => void,
): Sizes | undefined {
  let { minTasks = tasks, maxTasks = tasks, serialShare = 0 } = given;
  if (minTasks > tasks) {
    note("minTasks", minTasks);
    minTasks = tasks;
  }
  if (maxTasks < tasks || maxTasks * threads > MAX_INT32) {
    note("maxTasks", maxTasks);
    maxTasks = tasks;
  }
  return minTasks === maxTasks ? undefined : { minTasks, maxTasks, serialShare };
}

/** The columns, from what the line of each job says. */
export function moldingOf(
  size: Int32Array,
  jobs: readonly { readonly threads: number; readonly sizes: Sizes | undefined }[],
): Molding {
  const processors = (end: "minTasks" | "maxTasks") =>
    size.map((own, row) => {
      const { sizes, threads } = jobs[row];
      return sizes === undefined ? own : sizes[end] * threads;
    });
  return {
    minSize: processors("minTasks"),
    maxSize: processors("maxTasks"),
    serialShare: Float64Array.from(jobs, ({ sizes }) => sizes?.serialShare ?? 0),
  };
}
