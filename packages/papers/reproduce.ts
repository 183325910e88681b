/** Runs a paper's cells over the worker pool and collects its tables and figures. */

import { type Provenance, provenance } from "@tutti/host/version.ts";
import type { WorkerOptions } from "@tutti/lab/experiments/workers.ts";
import { collectPaper, type ReproductionOf } from "./collect.ts";
import type { Paper } from "./paper.ts";
import { runCells } from "./run-cells.ts";

export type ReproductionResult = ReproductionOf<Provenance>;

/** @param seed the paper's default seed if undefined */
export async function reproduce(
  paper: Paper,
  seed: number | undefined,
  options: WorkerOptions,
): Promise<ReproductionResult> {
  const cells = paper.cells(seed ?? paper.defaultSeed).map(({ cell }) => cell);
  return collectPaper(paper, seed, await runCells(cells, options), provenance());
}
