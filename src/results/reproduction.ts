/** A paper's tables, figures and statements, with ours beside those printed. */

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
    readonly unit?: string | undefined;
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
  /** Names of x = 1, 2, …: drawn as groups of bars instead of lines. */
  readonly categories?: readonly string[];
  /** Default linear. */
  readonly yScale?: "linear" | "log";
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

/** Ousterhout matrices of a figure, one after the other: before and after an operation, say. */
export interface ReproducedMatrices {
  readonly id: string;
  readonly title: string;
  readonly steps: readonly {
    readonly caption: string;
    /** Rows from the top, processors from the left: the job's name, null for an idle slot. All rows are equally long. */
    readonly rows: readonly (readonly (string | null)[])[];
  }[];
}

export interface Reproduction {
  readonly tables: readonly ReproducedTable[];
  readonly figures: readonly ReproducedFigure[];
  readonly matrices?: readonly ReproducedMatrices[];
  readonly statements: readonly ReproducedStatement[];
  /** How the paper was read where it leaves things open, and what was not reproduced. */
  readonly notes: readonly string[];
}

/** Which paper it is. */
export interface PaperHeading {
  /** Key on the command line, such as `zhou2000`. */
  readonly key: string;
  readonly title: string;
  readonly authors: string;
  readonly published: string;
}

/** A reproduction with what is needed to make it again. */
export interface ReproducedPaper extends Reproduction {
  readonly tutti: { readonly version: string };
  readonly paper: PaperHeading;
  readonly seed: number;
}
