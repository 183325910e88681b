/** Runs a paper's cells over the worker pool and collects its tables and figures. */
import { closest } from "../core/closest.ts";
import { InputError } from "../core/errors.ts";
import type { Paper, Reproduction } from "./papers/paper.ts";
import { PAPERS } from "./papers/registry.ts";
import { type Provenance, provenance } from "./provenance.ts";
import { runCells, type WorkerOptions } from "./workers.ts";

export interface ReproductionResult extends Reproduction {
  readonly tutti: Provenance;
  readonly paper: Pick<Paper, "key" | "title" | "authors" | "published">;
  readonly seed: number;
}

/** The paper of that key. @throws InputError for an unknown one; suggests the closest */
export function findPaper(key: string): Paper {
  const keys = PAPERS.map((paper) => paper.key);
  const paper = PAPERS.find((one) => one.key === key);
  if (paper !== undefined) return paper;
  throw new InputError(`Cannot find paper "${key}"${closest(key, keys)}: expected one of ${keys.join(", ")}`);
}

/** @param seed the paper's own default where undefined */
export async function reproduce(
  paper: Paper,
  seed: number | undefined,
  options: WorkerOptions,
): Promise<ReproductionResult> {
  const { key, title, authors, published } = paper;
  const settings = { seed: seed ?? paper.defaultSeed };
  const cells = paper.cells(settings);
  const numbers = await runCells("paper", key, cells, options);
  return {
    tutti: provenance(),
    paper: { key, title, authors, published },
    seed: settings.seed,
    ...paper.collect(cells, numbers, settings),
  };
}

/** The task of the worker pool: one cell of the paper with that key. */
export function paperTask(key: string): (cell: unknown) => unknown {
  const paper = findPaper(key);
  return (cell) => paper.runCell(cell);
}
