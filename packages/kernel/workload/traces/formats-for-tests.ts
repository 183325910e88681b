/**
 * Finds samples of trace formats other than SWF, in the folder `formats` next to the folder of the traces
 * (see traces-for-tests.ts). Tests that need a missing sample are skipped visibly. The file also checks what
 * the workload of every reader must satisfy.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Workload } from "../../core/jobs.ts";

const folder =
  process.env.TUTTI_TRACES === undefined
    ? fileURLToPath(new URL("../../../../../shared/data/formats", import.meta.url))
    : `${process.env.TUTTI_TRACES}/../formats`;

/** Path of a sample, or undefined if there is none. */
export function sampleFile(name: string): string | undefined {
  return existsSync(`${folder}/${name}`) ? `${folder}/${name}` : undefined;
}

/** The bytes of a sample. */
export function sampleBytes(name: string): Uint8Array {
  return readFileSync(`${folder}/${name}`);
}

/** The first error in a workload, or undefined. */
export function wrongWith({ count, jobs, trace, diagnostics }: Workload): string | undefined {
  for (const column of [...Object.values(jobs), ...Object.values(trace ?? {})]) {
    if (column.length !== count) return "a column has another length";
  }
  if (new Set(jobs.id).size !== count) return "two jobs have one number";
  for (let row = 0; row < count; row++) {
    if (!(jobs.id[row] >= 0)) return `job number ${jobs.id[row]}`;
    if (!(jobs.submitS[row] >= 0 && jobs.submitS[row] <= 1e12)) return `submit time ${jobs.submitS[row]}`;
    if (row > 0 && jobs.submitS[row] < jobs.submitS[row - 1]) return "submit times descend";
    if (!(jobs.runS[row] >= 0 && jobs.runS[row] <= 1e12)) return `run time ${jobs.runS[row]}`;
    if (!(jobs.size[row] >= 1)) return `size ${jobs.size[row]}`;
    if (!(jobs.estimateS[row] === -1 || jobs.estimateS[row] > 0)) return `estimate ${jobs.estimateS[row]}`;
  }
  return diagnostics.find(({ examples }) => examples.length === 0) && "a diagnostic without an example";
}

/** Lines or entries that were left out. */
export function droppedOf({ diagnostics }: Workload): number {
  return diagnostics
    .filter(({ action }) => action === "dropped")
    .reduce((sum, diagnostic) => sum + diagnostic.count, 0);
}
