/**
 * The tables of docs/papers/values.json in the bundle, with all rows as one text: without names, quotes and
 * brackets, the laboratory that a server sends is 1.5 kB smaller.
 */
import type { PrintedPaper, PrintedValue } from "../../../report/printed-table.ts";

type Table = PrintedPaper["tables"][number];
type Row = Table["rows"][number];
interface PackedPaper extends Omit<PrintedPaper, "tables"> {
  readonly tables: readonly (Omit<Table, "rows"> & { readonly rows: string })[];
}

/** Between rows, between a row's labels and its values, and between the parts of each. */
const SEPARATORS = ["^", "~", "|"] as const;
const [BETWEEN_ROWS, BETWEEN_CELLS, BETWEEN_PARTS] = SEPARATORS;

/** @throws Error if a part contains what separates them */
export function packPapers(text: string): string {
  const papers: readonly PrintedPaper[] = JSON.parse(text);
  const packed: readonly PackedPaper[] = papers.map((paper) => ({
    ...paper,
    tables: paper.tables.map((table) => ({
      ...table,
      rows: table.rows.map(textOf).join(BETWEEN_ROWS),
    })),
  }));
  return JSON.stringify(packed);
}

export function unpackPapers(text: string): PrintedPaper[] {
  const papers: readonly PackedPaper[] = JSON.parse(text);
  return papers.map((paper) => ({
    ...paper,
    tables: paper.tables.map((table) => ({
      ...table,
      rows: table.rows === "" ? [] : table.rows.split(BETWEEN_ROWS).map(rowOf),
    })),
  }));
}

function textOf({ labels, values }: Row): string {
  const cells = [labels, ...values.map((value) => value.map(String))];
  for (const part of cells.flat()) {
    if (SEPARATORS.some((separator) => part.includes(separator)))
      throw new Error(`Cannot pack "${part}": it contains one of ${SEPARATORS.join(" ")}`);
  }
  return cells.map((parts) => parts.join(BETWEEN_PARTS)).join(BETWEEN_CELLS);
}

function rowOf(text: string): Row {
  const [labels, ...values] = text.split(BETWEEN_CELLS).map((cell) => cell.split(BETWEEN_PARTS));
  return { labels, values: values.map(printedOf) };
}

function printedOf([
  ours,
  halfWidth,
  published,
  compared,
  reason,
  isBeyond,
]: readonly string[]): PrintedValue {
  if (published === undefined) return [ours, halfWidth];
  return [ours, halfWidth, published, compared, Number(reason), isBeyond === "true"];
}
