/**
 * A table of a paper as pages print it, in texts: what the pages on papers draw, and what the laboratory in
 * the browser compares with its own run, digit by digit.
 */
import type {
  IndexEntry,
  PaperHeading,
  ReproducedPaper,
  ReproducedTable,
  ReproducedValue,
} from "../results/reproduction.ts";
import {
  comparisonText,
  deviates,
  isCompared,
  reasonNumber,
  testLegend,
  type ValueTexts,
  valueColumns,
} from "./deviations.ts";
import { pageClaims } from "./paper-counts.ts";
import { anchorsOf } from "./paper-index.ts";

export interface PrintedTable {
  readonly id: string;
  readonly title: string;
  /** What the lines of a value are. */
  readonly legend: string;
  readonly labels: readonly string[];
  readonly columns: readonly { readonly heading: string; readonly name: string; readonly meaning: string }[];
  readonly rows: readonly { readonly labels: readonly string[]; readonly values: readonly PrintedValue[] }[];
  /** Why values deviate, in the order of their numbers. */
  readonly reasons: readonly string[];
}

/**
 * Ours and half of its confidence interval (may be empty); if the paper prints a value, also that value, our
 * deviation from it, the number of the reason for it (0: none), and whether it is beyond the limits.
 */
export type PrintedValue = readonly [
  ours: string,
  halfWidth: string,
  published?: string,
  compared?: string,
  reason?: number,
  isBeyond?: boolean,
];

export function printedTable(table: ReproducedTable): PrintedTable {
  const columns = valueColumns(table);
  const reasons: string[] = [];
  const values = table.rows.flatMap((row) => row.values);
  const hasIntervals = values.some(({ halfWidth }) => halfWidth !== null);
  const test = testLegend(table);
  const legend = [
    `Ours${hasIntervals ? " ± half of the 95 % confidence interval" : ""}`,
    isCompared(table) ? "; below it the published value and our deviation from it" : "",
    `.${test === "" ? "" : ` ${test}.`}`,
  ].join("");
  return {
    id: table.id,
    title: table.title,
    legend,
    labels: table.labelColumns,
    columns: table.valueColumns.map(({ name, meaning }, i) => ({
      heading: columns[i].heading,
      name,
      meaning,
    })),
    rows: table.rows.map(({ labels, values }) => ({
      labels,
      values: values.map((value, i) => printedValue(value, columns[i].textsOf(value), reasons)),
    })),
    reasons,
  };
}

function printedValue(
  value: ReproducedValue,
  { published, ours, halfWidth }: ValueTexts,
  reasons: string[],
): PrintedValue {
  if (value.published === null) return [ours, halfWidth];
  const { reason = "" } = value;
  const number = reason === "" ? 0 : reasonNumber(reason, reasons);
  return [ours, halfWidth, published, comparisonText(value), number, deviates(value)];
}

/** What a page says of a paper, with its tables as printed. */
export interface PrintedPaper {
  readonly paper: PaperHeading;
  readonly seed: number;
  readonly claimed: readonly string[];
  readonly notClaimed: readonly string[];
  /** Entries of the paper's index that Tutti does not decide, with the reason. */
  readonly undecided: readonly IndexEntry[];
  /** Each with its anchor on the paper's page. */
  readonly tables: readonly (PrintedTable & { readonly anchor: string })[];
}

/** The file by which a browser shows the papers without computing them. */
export function printedPapers(papers: readonly ReproducedPaper[]): string {
  const printed = papers.map((paper): PrintedPaper => {
    const anchors = anchorsOf(paper);
    return {
      paper: paper.paper,
      seed: paper.seed,
      ...pageClaims(paper),
      undecided: paper.index.entries.filter(({ notClaimed }) => notClaimed !== undefined),
      tables: paper.tables.map((table) => ({ anchor: anchors.get(table)!, ...printedTable(table) })),
    };
  });
  return `[\n${printed.map((paper) => JSON.stringify(paper)).join(",\n")}\n]\n`;
}
