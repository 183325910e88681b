/**
 * Defines a reproduced paper: its cells (simulations), and a function that turns their results into the
 * paper's tables and figures next to the published values. Each cell has a place in the tables; cells run on
 * all cores, in any order. Every paper has a folder with the same file names, as far as it needs them, and
 * one line in registry.ts. They share grid.ts (tables of means), drawn-matrix.ts (figures worked through by
 * hand) and texts.ts (the whole paper from its parts).
 *
 *   paper      the paper                    claims     statements of its text, judged by our numbers
 *   tables     its tables                   figures    its figures
 *   cells      what is simulated            run        the result of a cell of the paper's own kind
 *
 * Its data are next to its page: docs/papers/KEY.numbers.json has its numbers as printed, KEY.texts.json its
 * heading, how it was read, and every table, figure and sentence of the paper that claims something, and
 * KEY.cells.json what is simulated, where that is a list.
 */

import type { Cell, CellResult, Kind } from "@tutti/lab/experiments/kinds.ts";
import type {
  PaperHeading,
  PaperIndex,
  ReproducedTable,
  Reproduction,
} from "@tutti/lab/results/reproduction.ts";
import type { Results } from "./results.ts";

export type {
  PaperIndex,
  ReproducedFigure,
  ReproducedMatrices,
  ReproducedStatement,
  ReproducedTable,
  ReproducedValue,
  Reproduction,
} from "@tutti/lab/results/reproduction.ts";

/** A cell and its place. All replications of a run have the same place. */
export interface PlacedCell<Place, K extends Kind> {
  readonly place: Place;
  readonly cell: Cell<K>;
}

/** A table of a paper. It can be computed alone, from the results at the places that it needs. */
export interface PaperTable<Place = unknown, K extends Kind = Kind> {
  needs(place: Place): boolean;
  of(results: Results<Place, CellResult<K>>): ReproducedTable;
}

/** The tables of a paper alone, without its figures and sentences: what a page in a browser can compute. */
export interface PaperTables<Place = unknown, K extends Kind = Kind> {
  readonly key: string;
  readonly defaultSeed: number;
  readonly tables: readonly PaperTable<Place, K>[];
  /** Cells on the same jobs are adjacent. The most expensive come first where possible. */
  cells(seed: number): readonly PlacedCell<Place, K>[];
}

export interface Paper<Place = unknown, K extends Kind = Kind> extends PaperHeading, PaperTables<Place, K> {
  readonly key: string;
  readonly index: PaperIndex;
  collect(results: Results<Place, CellResult<K>>): Reproduction;
}

/** What figures that are worked through by hand show, and the statements on them. */
export type DrawnFigures = Required<Pick<Reproduction, "matrices" | "statements">>;
