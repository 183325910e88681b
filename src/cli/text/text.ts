/** Writes text to a terminal: emphasis, wrapping, tables, and making other people's text harmless. */
import { styleText } from "node:util";
import { renderTable, type TableColumn } from "../../report/text/table.ts";

const MIN_WIDTH = 40;
/** Longer lines of prose are hard to read. Tables may be wider. */
const MAX_PROSE_WIDTH = 110;

/**
 * Characters that could control a terminal: escape sequences, control characters, and marks that change the
 * direction of writing. In other people's text, they are shown as text, such as `\x1b[2J`.
 */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

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

/**
 * How to call this program again: as `npx tutti` if it was started by npx in a clone, otherwise as `tutti`.
 */
export function commandName(): string {
  return process.env.npm_lifecycle_event === undefined ? "tutti" : "npx tutti";
}

/** A remark on standard error, so that standard output holds only the result. */
export function hint(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Width of prose in columns; 100 without a terminal. */
function proseWidth(): number {
  return Math.max(MIN_WIDTH, Math.min(process.stdout.columns ?? 100, MAX_PROSE_WIDTH));
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

/** A word, with quotes if a shell needs them. */
export function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A column of texts. */
export function leftColumn(title: string, dropOrder = 0): TableColumn {
  return { title, align: "left", dropOrder };
}

/** A column of numbers. */
export function rightColumn(title: string, dropOrder = 0): TableColumn {
  return { title, align: "right", dropOrder };
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

/** Bytes in the largest suitable unit: `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Makes other people's text harmless. Newlines and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(STEERING, (character) => {
    if (character === "\n" || character === "\t") return character;
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

/**
 * Makes a name in a table or in a sentence harmless: shows newlines and tabs as text, too.
 */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** `visible` for bytes that come in pieces. A character that is split between two pieces is joined. */
export class VisibleStream {
  readonly #decoder = new TextDecoder();
  /** A carriage return at the end of a piece. The next piece shows whether it belongs to a newline. */
  #held = "";

  next(piece: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(piece, { stream: true });
    this.#held = text.endsWith("\r") ? "\r" : "";
    return visible(this.#held === "" ? text : text.slice(0, -1));
  }

  end(): string {
    const text = this.#held + this.#decoder.decode();
    this.#held = "";
    return visible(text);
  }
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
