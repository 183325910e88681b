/**
 * What a reproduced paper is: cells, each with its place in the paper's tables, spread over the cores in any order, and a way to collect their
 * results into these tables and figures beside the published values. Every paper has the same files as far as it has such a
 * part, and one line in registry.ts:
 *
 *   paper      what it is, its tables       published  its numbers as printed
 *   cells      what is simulated            claims     what its text says, to be judged by our numbers
 *   figures    its figures                  notes      how it was read, and why numbers deviate
 *   run        what a cell of a kind of its own gives
 */
import type { PaperHeading, Reproduction } from "../../results/reproduction.ts";
import type { Cell, CellResult, Kind } from "../experiments/kinds.ts";
import type { Results } from "./results.ts";

export type {
  ReproducedFigure,
  ReproducedMatrices,
  ReproducedStatement,
  ReproducedTable,
  ReproducedValue,
  Reproduction,
} from "../../results/reproduction.ts";

/** Replications have the same place. */
export interface PlacedCell<Place, K extends Kind> {
  readonly place: Place;
  readonly cell: Cell<K>;
}

export interface Paper<Place = unknown, K extends Kind = Kind> extends PaperHeading {
  readonly defaultSeed: number;
  /** Those on the same jobs stand together, the most expensive first where possible. */
  cells(seed: number): readonly PlacedCell<Place, K>[];
  collect(results: Results<Place, CellResult<K>>): Reproduction;
}
