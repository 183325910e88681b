/**
 * What a reproduced paper is: cells to compute, spread over the cores in any order, and a way to collect their numbers
 * into the paper's own tables and figures beside the published values. One file per paper, one line each in registry.ts.
 */

import type { Reproduction } from "../../report/reproduction.ts";

export type {
  ReproducedFigure,
  ReproducedMatrices,
  ReproducedStatement,
  ReproducedTable,
  ReproducedValue,
  Reproduction,
} from "../../report/reproduction.ts";

/** Settings of a reproduction that a user may change. */
export interface PaperOptions {
  readonly seed: number;
}

/** Cell and Numbers are plain data: they travel between threads. */
export interface Paper<Cell = unknown, Numbers = unknown> {
  /** Key on the command line, such as `zhou2000`. */
  readonly key: string;
  readonly title: string;
  readonly authors: string;
  readonly published: string;
  readonly defaultSeed: number;
  /** Cells of roughly equal cost where possible, the most expensive first. */
  cells(options: PaperOptions): Cell[];
  /** A pure function: the same cell gives the same numbers on any thread. */
  runCell(cell: Cell): Numbers;
  /** Numbers come in the order of the cells. */
  collect(cells: readonly Cell[], numbers: readonly Numbers[], options: PaperOptions): Reproduction;
}
