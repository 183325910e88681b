/**
 * What a reproduced paper is made of, for the tables on the terminal and the pages: published values beside ours, figures,
 * statements, matrices.
 */
import { formatDigits, formatDuration, formatNumber, NO_VALUE } from "./text/format.ts";

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

/** A reproduction with what is needed to make it again. */
export interface ReproducedPaper extends Reproduction {
  readonly tutti: { readonly version: string };
  readonly paper: {
    readonly key: string;
    readonly title: string;
    readonly authors: string;
    readonly published: string;
  };
  readonly seed: number;
}

/** Deviations up to here need no reason. */
const TOLERANCE = 0.1;

/** Ours over published less 1; NaN where nothing is published, or 0 and ours is not. */
export function deviation({ published, ours }: ReproducedValue): number {
  if (published === null) return Number.NaN;
  if (published === ours) return 0;
  return published === 0 ? Number.NaN : ours / published - 1;
}

/** Whether a value is further from the published one than needs no reason. A published 0 is met by 0 only. */
export function deviates(value: ReproducedValue): boolean {
  const { published, ours } = value;
  if (published === null || published === ours) return false;
  return published === 0 || !(Math.abs(deviation(value)) <= TOLERANCE);
}

/** `+12.3 %`; empty where there is nothing to compare with. */
export function deviationText(value: ReproducedValue): string {
  const share = deviation(value);
  if (Number.isNaN(share)) return deviates(value) ? "∞" : "";
  const text = Math.abs(100 * share).toFixed(1);
  return `${text === "0.0" ? "" : share < 0 ? "−" : "+"}${text} %`;
}

/** Headings of a table's value columns, and whether seconds there are printed in units that suit each, since nothing is compared. */
export function valueColumns({ valueColumns, rows }: ReproducedTable): {
  readonly heading: string;
  readonly areDurations: boolean;
}[] {
  return valueColumns.map(({ name, unit }, i) => {
    const areDurations = unit === "s" && rows.every(({ values }) => values[i]?.published === null);
    return { heading: unit === undefined || areDurations ? name : `${name}, ${unit}`, areDurations };
  });
}

/** A value as it is printed: the published one with the paper's digits, ours with at least as many after the point. */
export function valueTexts(
  { published, ours, halfWidth }: ReproducedValue,
  areDurations: boolean,
): { readonly published: string; readonly ours: string; readonly halfWidth: string } {
  const spread = halfWidth === null || Number.isNaN(halfWidth) ? undefined : halfWidth;
  if (areDurations) {
    const halfText = spread === undefined ? "" : formatDuration(spread);
    return { published: NO_VALUE, ours: formatDuration(ours), halfWidth: halfText };
  }
  const decimals = published === null ? 0 : decimalsOf(published);
  return {
    published: published === null ? NO_VALUE : formatDigits(published, decimals),
    ours: decimals > 0 && Math.abs(ours) < 1 ? formatDigits(ours, Math.max(2, decimals)) : formatNumber(ours),
    halfWidth: spread === undefined ? "" : formatNumber(spread),
  };
}

function decimalsOf(value: number): number {
  const text = String(value);
  return text.includes(".") && !text.includes("e") ? text.length - text.indexOf(".") - 1 : 0;
}

/** What came out of a paper, counted. */
export interface ReproductionCounts {
  /** Values with a published one beside them. */
  readonly compared: number;
  readonly within: number;
  readonly explained: number;
  /** Beyond the tolerance without a reason: something is still to be done. */
  readonly unexplained: number;
  readonly statements: number;
  readonly holding: number;
}

export function countReproduction({ tables, statements }: Reproduction): ReproductionCounts {
  const values = tables.flatMap(({ rows }) => rows.flatMap((row) => row.values));
  const compared = values.filter(({ published }) => published !== null);
  const beyond = compared.filter(deviates);
  const explained = beyond.filter(({ reason = "" }) => reason !== "").length;
  return {
    compared: compared.length,
    within: compared.length - beyond.length,
    explained,
    unexplained: beyond.length - explained,
    statements: statements.length,
    holding: statements.filter(({ holds }) => holds).length,
  };
}
