/**
 * The tables of docs/papers/values.json in a part of the page that is loaded on demand. Their rows follow
 * the rest, a line per table, column by column: texts that are alike are next to each other, without names,
 * quotes and brackets. So the part is 4 kB smaller.
 */
import type { PrintedPaper, PrintedValue } from "@tutti/lab/report/printed-table.ts";

type Table = PrintedPaper["tables"][number];
type Row = Table["rows"][number];
interface PaperWithoutRows extends Omit<PrintedPaper, "tables"> {
  readonly tables: readonly Omit<Table, "rows">[];
}

const BETWEEN_TABLES = "\n";
const BETWEEN_COLUMNS = "~";
const BETWEEN_CELLS = "^";
const SEPARATORS = [BETWEEN_TABLES, BETWEEN_COLUMNS, BETWEEN_CELLS];

/** Parts of a printed value, each in a column of its own. One that no paper prints has only the first two. */
const PARTS = 6;

/** @throws Error if a part contains what separates them */
export function packPapers(text: string): string {
  const papers: readonly PrintedPaper[] = JSON.parse(text);
  const lines = papers.flatMap(({ tables }) => tables.map(({ rows }) => lineOf(rows)));
  const rest: readonly PaperWithoutRows[] = papers.map((paper) => ({
    ...paper,
    tables: paper.tables.map(({ rows, ...table }) => table),
  }));
  return [JSON.stringify(rest), ...lines].join(BETWEEN_TABLES);
}

export function unpackPapers(text: string): PrintedPaper[] {
  const [rest, ...lines] = text.split(BETWEEN_TABLES);
  const papers: readonly PaperWithoutRows[] = JSON.parse(rest);
  let next = 0;
  return papers.map((paper) => ({
    ...paper,
    tables: paper.tables.map((table) => ({ ...table, rows: rowsOf(lines[next++], table.labels.length) })),
  }));
}

function lineOf(rows: readonly Row[]): string {
  const texts = rows.map(({ labels, values }) => [...labels, ...values.flatMap(partsOf)]);
  for (const text of texts.flat())
    if (SEPARATORS.some((separator) => text.includes(separator)))
      throw new Error(`Cannot pack "${text}": it contains one of ${SEPARATORS.join(" ")}`);
  const columns = texts[0]?.map((_, column) => texts.map((row) => row[column]).join(BETWEEN_CELLS)) ?? [];
  return columns.join(BETWEEN_COLUMNS);
}

function rowsOf(line: string, labels: number): Row[] {
  if (line === "") return [];
  const columns = line.split(BETWEEN_COLUMNS).map((column) => column.split(BETWEEN_CELLS));
  return columns[0].map((_, row) => {
    const texts = columns.map((column) => column[row]);
    const values: PrintedValue[] = [];
    for (let at = labels; at < texts.length; at += PARTS) values.push(printedOf(texts.slice(at, at + PARTS)));
    return { labels: texts.slice(0, labels), values };
  });
}

function partsOf(value: PrintedValue): string[] {
  return Array.from({ length: PARTS }, (_, part) => String(value[part] ?? ""));
}

/** The number of a reason tells whether there is a published value. */
function printedOf(parts: readonly string[]): PrintedValue {
  const [ours, halfWidth, published, compared, reason, isBeyond] = parts;
  if (reason === "") return [ours, halfWidth];
  return [ours, halfWidth, published, compared, Number(reason), isBeyond === "true"];
}
