/** Runs a paper's cells over the worker pool and collects its tables and figures. */

import type { ReproducedPaper } from "../../results/reproduction.ts";
import { type Provenance, provenance } from "../experiments/provenance.ts";
import { runCells } from "../experiments/run-cells.ts";
import type { WorkerOptions } from "../experiments/workers.ts";
import type { Paper } from "./paper.ts";
import { Results } from "./results.ts";

export interface ReproductionResult extends ReproducedPaper {
  readonly tutti: Provenance;
}

/** @param seed the paper's default seed if undefined */
export async function reproduce(
  paper: Paper,
  seed: number | undefined,
  options: WorkerOptions,
): Promise<ReproductionResult> {
  const { key, title, authors, published, defaultSeed, index } = paper;
  const cells = paper.cells(seed ?? defaultSeed);
  const results = await runCells(
    cells.map(({ cell }) => cell),
    options,
  );
  return {
    tutti: provenance(),
    paper: { key, title, authors, published },
    index,
    seed: seed ?? defaultSeed,
    ...paper.collect(new Results(cells, results)),
  };
}
