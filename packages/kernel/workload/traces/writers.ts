/** Lists the formats that can be written. Pages only read traces, so their scripts leave these out. */
import type { Workload } from "../../core/jobs.ts";
import { writeBatsim } from "./batsim.ts";
import { writeJsonl } from "./jsonl-writer.ts";
import { writeSwf } from "./swf-writer.ts";

/** By the name of the format: the jobs as text, in pieces. */
export const WRITERS: ReadonlyMap<string, (workload: Workload) => Iterable<string>> = new Map([
  ["jsonl", writeJsonl],
  ["batsim", writeBatsim],
  ["swf", writeSwf],
]);
