/** Turns the results of a paper's cells into its tables and figures, in Node or in a browser page. */

import type { CellResult } from "@tutti/lab/experiments/kinds.ts";
import type { ReproducedPaper } from "@tutti/lab/results/reproduction.ts";
import type { Paper } from "./paper.ts";
import { Results } from "./results.ts";

export type ReproductionOf<Tutti extends ReproducedPaper["tutti"]> = ReproducedPaper & {
  readonly tutti: Tutti;
};

/**
 * @param seed the paper's default seed if undefined
 * @param results in the order of the paper's cells
 * @param tutti the program that ran the cells
 */
export function collectPaper<Tutti extends ReproducedPaper["tutti"]>(
  paper: Paper,
  seed: number | undefined,
  results: readonly CellResult[],
  tutti: Tutti,
): ReproductionOf<Tutti> {
  const { key, title, authors, published, defaultSeed, index } = paper;
  return {
    tutti,
    paper: { key, title, authors, published },
    index,
    seed: seed ?? defaultSeed,
    ...paper.collect(new Results(paper.cells(seed ?? defaultSeed), results)),
  };
}
