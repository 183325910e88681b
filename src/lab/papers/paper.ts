/**
 * Defines a reproduced paper: its cells (simulations), and a function that turns their results into the
 * paper's tables and figures next to the published values. Each cell has a place in the tables; cells run on
 * all cores, in any order. Every paper has a folder with the same file names, as far as it needs them, and
 * one line in registry.ts:
 *
 *   paper      the paper and its tables     published  its numbers as printed
 *   cells      what is simulated            claims     statements of its text, judged by our numbers
 *   figures    its figures                  notes      how it was read, and why numbers deviate
 *   index      every table, figure and sentence of the paper that claims something
 *   run        the result of a cell, for a paper with its own kind of cell
 */
import type { PaperHeading, PaperIndex, Reproduction } from "../../results/reproduction.ts";
import type { Cell, CellResult, Kind } from "../experiments/kinds.ts";
import type { Results } from "./results.ts";

export type {
  PaperIndex,
  ReproducedFigure,
  ReproducedMatrices,
  ReproducedStatement,
  ReproducedTable,
  ReproducedValue,
  Reproduction,
} from "../../results/reproduction.ts";

/** A cell and its place. All replications of a run have the same place. */
export interface PlacedCell<Place, K extends Kind> {
  readonly place: Place;
  readonly cell: Cell<K>;
}

export interface Paper<Place = unknown, K extends Kind = Kind> extends PaperHeading {
  readonly defaultSeed: number;
  readonly index: PaperIndex;
  /** Cells on the same jobs are adjacent. The most expensive come first where possible. */
  cells(seed: number): readonly PlacedCell<Place, K>[];
  collect(results: Results<Place, CellResult<K>>): Reproduction;
}
