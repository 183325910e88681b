/**
 * Computes the result of a cell of the kind `blocks`: sums for each block of jobs. From these, findings.ts
 * computes ratios with intervals.
 */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import type { CellInputs, MachineCell } from "../experiments/cell.ts";

interface BlocksCell extends MachineCell {
  /** Length of a block, by submit time; without it all jobs form one block. */
  readonly blockS?: number | undefined;
}

export const FINDING_METRICS = ["bounded slowdown", "response", "slowdown over 1 h"] as const;
export type FindingMetric = (typeof FINDING_METRICS)[number];

/** By block, for each metric: the sum, and the number of jobs in it. */
export interface BlocksResult {
  readonly blocks: readonly { readonly sums: readonly number[]; readonly jobs: readonly number[] }[];
}

const BOUND_S = 10;
const LONG_S = 3_600;
export async function runBlocks(cell: BlocksCell, inputs: CellInputs): Promise<BlocksResult> {
  const { instance, choice } = await inputs.ready(cell);
  const schedule = simulate(instance, choice, { slotS: cell.slotS, switchS: cell.switchS });
  return { blocks: inBlocks(instance, schedule, cell.blockS ?? Number.POSITIVE_INFINITY) };
}

function inBlocks(instance: Instance, schedule: Schedule, blockS: number): BlocksResult["blocks"] {
  const blocks: { sums: number[]; jobs: number[] }[] = [];
  for (let job = 0; job < instance.count; job++) {
    const at = Math.floor((instance.submitS[job] - instance.submitS[0]) / blockS);
    while (blocks.length <= at) blocks.push({ sums: [0, 0, 0], jobs: [0, 0, 0] });
    const { sums, jobs } = blocks[at];
    const responseS = schedule.endS[job] - instance.submitS[job];
    const runS = instance.runS[job];
    const values = [Math.max(1, responseS / Math.max(BOUND_S, runS)), responseS, responseS / runS];
    for (let metric = 0; metric < values.length; metric++) {
      if (metric === 2 && !(runS > LONG_S)) continue;
      sums[metric] += values[metric];
      jobs[metric]++;
    }
  }
  return blocks.filter(({ jobs }) => jobs[0] > 0);
}
