/**
 * Defines the result of reproducing a paper: its tables, figures and statements, with the published values
 * next to ours.
 */
import type { MeanTest } from "@tutti/kernel/metrics/statistics.ts";

/** One value of a table: the published one and ours. */
export interface ReproducedValue {
  /** As printed in the paper; null if the paper prints no value. */
  readonly published: number | null;
  readonly ours: number;
  /**
   * Half width of the 95 % confidence interval over replications; null for a single run or an exact value.
   */
  readonly halfWidth: number | null;
  /** Ours against the published mean; absent if the paper does not say of how many runs its mean is. */
  readonly test?: MeanTest;
  /** One sentence. A deviation needs one if it is above 10 % and not explained by chance (`test`). */
  readonly reason?: string;
}

export interface ReproducedTable {
  /** As the paper numbers it, such as "Table 2". */
  readonly id: string;
  readonly title: string;
  /**
   * Absent for results. Values that our program contains (`constants`) and values to which a model was fitted
   * agree by themselves, so they do not count as reproduced.
   */
  readonly kind?: "constants" | "fitted";
  /** Headings of the columns with labels. */
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
  /** Names of x = 1, 2, …. With them, the figure shows groups of bars instead of lines. */
  readonly categories?: readonly string[];
  /** Default linear. */
  readonly yScale?: "linear" | "log";
  /** Points [x, y]. `published` is set if the paper prints the numbers of its figure. */
  readonly series: readonly {
    readonly name: string;
    readonly ours: readonly (readonly [number, number])[];
    readonly published?: readonly (readonly [number, number])[];
  }[];
}

/** A statement of the paper in words, and whether our numbers support it. */
export interface ReproducedStatement {
  readonly statement: string;
  /** Null if it is open: neither shown nor refuted, because a 95 % interval contains the limit. */
  readonly holds: boolean | null;
  /** The numbers that decide it, in words. */
  readonly evidence: string;
}

/** The Ousterhout matrices of a figure in order, such as before and after an operation. */
export interface ReproducedMatrices {
  readonly id: string;
  readonly title: string;
  readonly steps: readonly {
    readonly caption: string;
    /**
     * Rows from the top, processors from the left: the job's name, or null for an idle slot. All rows have
     * the same length.
     */
    readonly rows: readonly (readonly (string | null)[])[];
  }[];
}

export interface Reproduction {
  readonly tables: readonly ReproducedTable[];
  readonly figures: readonly ReproducedFigure[];
  readonly matrices?: readonly ReproducedMatrices[];
  readonly statements: readonly ReproducedStatement[];
  /** How we read the paper where it is not specific, and what was not reproduced. */
  readonly notes: readonly string[];
}

/**
 * A table, figure or sentence of the paper that claims something. Parts of the page decide it, or it is not
 * claimed here.
 */
export interface IndexEntry {
  /** Where it is in the paper, such as `4.3, table 2`. */
  readonly at: string;
  /** What it claims, in our words. */
  readonly says: string;
  /** Ids of tables, figures and matrices that show it. */
  readonly shown?: readonly string[];
  /** Beginnings of the statements that decide it. Several statements may begin alike. */
  readonly statements?: readonly string[];
  /** Why nothing on the page decides it; set if and only if no part is named. */
  readonly notClaimed?: string;
}

export interface PaperIndex {
  /** In the order of the paper. */
  readonly entries: readonly IndexEntry[];
  /** What the page has and the paper has not: ids and beginnings of statements. */
  readonly added: { readonly shown: readonly string[]; readonly statements: readonly string[] };
}

/** Which paper it is. */
export interface PaperHeading {
  /** Key on the command line, such as `zhou2000`. */
  readonly key: string;
  readonly title: string;
  readonly authors: string;
  readonly published: string;
}

/** A reproduction, with all that is needed to repeat it. */
export interface ReproducedPaper extends Reproduction {
  readonly tutti: { readonly version: string };
  readonly paper: PaperHeading;
  readonly index: PaperIndex;
  readonly seed: number;
}
