/**
 * What a reproduced paper is: cells to compute, spread over the cores in any order, and a way to collect their numbers
 * into the paper's own tables and figures beside the published values. One file per paper, one line each in registry.ts.
 */

/** One value of a table: what the paper prints, what we measure. */
export interface ReproducedValue {
  /** As printed in the paper; null where the paper prints none. */
  readonly published: number | null;
  readonly ours: number;
  /** Half width of the 95 % confidence interval over replications; null for a single run or an exact value. */
  readonly halfWidth: number | null;
  /** One sentence; to be given where the deviation exceeds 10 %. */
  readonly reason?: string;
}

export interface ReproducedTable {
  /** As the paper numbers it, such as "Table 2". */
  readonly id: string;
  readonly title: string;
  /** Headings of the label columns, then of the value columns. */
  readonly labelColumns: readonly string[];
  readonly valueColumns: readonly {
    readonly name: string;
    readonly unit?: string;
    readonly meaning: string;
  }[];
  readonly rows: readonly {
    readonly labels: readonly string[];
    readonly values: readonly ReproducedValue[];
  }[];
}

export interface ReproducedFigure {
  readonly id: string;
  readonly title: string;
  readonly xAxis: string;
  readonly yAxis: string;
  /** Points [x, y]; `published` where the paper prints the numbers that its figure shows. */
  readonly series: readonly {
    readonly name: string;
    readonly ours: readonly (readonly [number, number])[];
    readonly published?: readonly (readonly [number, number])[];
  }[];
}

/** A statement of the paper in words, and whether our numbers bear it out. */
export interface ReproducedStatement {
  readonly statement: string;
  readonly holds: boolean;
  /** The numbers that decide it, in words. */
  readonly evidence: string;
}

export interface Reproduction {
  readonly tables: readonly ReproducedTable[];
  readonly figures: readonly ReproducedFigure[];
  readonly statements: readonly ReproducedStatement[];
  /** How the paper was read where it leaves things open, and what was not reproduced. */
  readonly notes: readonly string[];
}

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
