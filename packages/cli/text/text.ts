/** Writes text to a terminal: emphasis, wrapping, tables. */
import { styleText } from "node:util";
import { renderTable, type TableColumn } from "@tutti/lab/report/text/table.ts";
import { quoted } from "@tutti/words/command-line.ts";

const MIN_WIDTH = 40;
/** Longer lines of prose are hard to read. Tables may be wider. */
const MAX_PROSE_WIDTH = 110;

export function writeOut(text: string): void {
  process.stdout.write(text);
}

/** Writes a piece of a long text. Waits for a slow reader, so that little is held in memory. */
export async function writePiece(piece: string | Uint8Array): Promise<void> {
  if (piece.length === 0 || process.stdout.write(piece)) return;
  await new Promise((resolve) => process.stdout.once("drain", resolve));
}

/** Prints an answer of the API, with the name and version of its schema. */
export function writeJson(answer: object): void {
  writeOut(`${JSON.stringify(answer, undefined, 2)}\n`);
}

/** Prints an answer with one long list page by page. The text is the same as that of `writeJson`. */
export async function writeJsonList(
  schema: string,
  name: string,
  pages: AsyncIterable<readonly object[]>,
): Promise<void> {
  await writePiece(`{\n  "schema": ${JSON.stringify(schema)},\n  ${JSON.stringify(name)}: [`);
  let isEmpty = true;
  for await (const page of pages) {
    const entries = page.map(
      (entry) => `\n    ${JSON.stringify(entry, undefined, 2).replaceAll("\n", "\n    ")}`,
    );
    if (entries.length > 0) await writePiece(`${isEmpty ? "" : ","}${entries.join(",")}`);
    isEmpty &&= entries.length === 0;
  }
  await writePiece(isEmpty ? "]\n}\n" : "\n  ]\n}\n");
}

/** The path of a launcher that is not in PATH. Jobs must not get it. */
const LAUNCHER = process.env.TUTTI_LAUNCHER;
delete process.env.TUTTI_LAUNCHER;

/**
 * How to call this program again: as `npx tutti` if it was started by npx in a clone, by the path of its
 * launcher if that is not in PATH, otherwise as `tutti`.
 */
export function commandName(): string {
  if (process.env.npm_lifecycle_event !== undefined) return "npx tutti";
  return LAUNCHER === undefined ? "tutti" : quoted(LAUNCHER);
}

/** A remark on standard error, so that standard output holds only the result. */
export function hint(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Width of prose in columns; 100 without a terminal. */
function proseWidth(): number {
  return Math.max(MIN_WIDTH, Math.min(process.stdout.columns ?? 100, MAX_PROSE_WIDTH));
}

/** Help for a terminal: longer lines are broken between words and keep their indentation. */
export function foldedToTerminal(text: string, width = process.stdout.columns): string {
  if (width === undefined) return text;
  return text
    .split("\n")
    .map((line) => (line.length <= width ? line : foldedLine(line, width)))
    .join("\n");
}

function foldedLine(line: string, width: number): string {
  const [indent] = /^ */.exec(line)!;
  const lines: string[] = [];
  let last = indent;
  for (const word of line.trim().split(" ")) {
    if (last.length > indent.length && last.length + 1 + word.length > width) {
      lines.push(last);
      last = indent;
    }
    last += last.length > indent.length ? ` ${word}` : word;
  }
  return [...lines, last].join("\n");
}

/** Bold on a terminal, plain elsewhere or with NO_COLOR. */
export function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

export function dim(text: string): string {
  return styleText("dim", text, { stream: process.stdout });
}

/** Breaks text at spaces so that it fits; lines after the first are indented. */
export function wrap(text: string, indent: number): string {
  const width = proseWidth() - indent;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}

/** A column of texts. */
export function leftColumn(title: string, dropOrder = 0): TableColumn {
  return { title, align: "left", dropOrder };
}

/** A column of numbers. */
export function rightColumn(title: string, dropOrder = 0): TableColumn {
  return { title, align: "right", dropOrder };
}

/** A column with its text for a row of some kind. */
interface ColumnOf<Row> extends TableColumn {
  readonly textOf: (row: Row) => string;
}

export function left<Row>(title: string, textOf: (row: Row) => string, dropOrder = 0): ColumnOf<Row> {
  return { ...leftColumn(title, dropOrder), textOf };
}

export function right<Row>(title: string, textOf: (row: Row) => string, dropOrder = 0): ColumnOf<Row> {
  return { ...rightColumn(title, dropOrder), textOf };
}

/** A table of rows by what each column says about them. Columns that are undefined are left out. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly (ColumnOf<Row> | undefined)[]): string {
  const shown = columns.filter((column) => column !== undefined);
  return table(
    shown,
    rows.map((row) => shown.map(({ textOf }) => textOf(row))),
  );
}

/** Facts as lines: values next to the column of their names. */
export function factLines(facts: Readonly<Record<string, string>>): string[] {
  const width = Math.max(...Object.keys(facts).map((name) => name.length)) + 2;
  return Object.entries(facts).map(([name, value]) => `${name.padEnd(width)}${wrap(value, width)}`);
}

/** One entry of a list. */
export function bullet(text: string): string {
  return `  - ${wrap(text, 4)}`;
}

/** A table that fits the terminal, without the last newline. */
export function table(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string {
  return renderTable(columns, rows, tableOptions()).trimEnd();
}

/**
 * On a terminal, tables are at most as wide as it; in a file or a pipe they have no limit. Colours need a
 * terminal without NO_COLOR.
 */
export function tableOptions() {
  const width = Math.max(MIN_WIDTH, process.stdout.columns ?? Number.POSITIVE_INFINITY);
  return { width, colour: bold("x") !== "x" };
}
