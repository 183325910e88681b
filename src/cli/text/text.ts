/** Text for a terminal: width, emphasis, wrapping. */
import { styleText } from "node:util";
import { formatCount } from "../../report/text/format.ts";

const NARROWEST = 40;
/** Longer lines of prose are hard to read; tables may be wider. */
const WIDEST = 110;

export function writeOut(text: string): void {
  process.stdout.write(text);
}

/** Waits where the reader is slow, so that little of a long text is held in memory. */
export async function writePiece(piece: string | Uint8Array): Promise<void> {
  if (piece.length === 0 || process.stdout.write(piece)) return;
  await new Promise((resolve) => process.stdout.once("drain", resolve));
}

/** How this program was called and can be called again: npx inside a clone, by its name when installed. */
export function commandName(): string {
  return process.env.npm_lifecycle_event === undefined ? "tutti" : "npx tutti";
}

/** A remark beside the result; keeps standard output clean. */
export function hint(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A count with its noun: 1 job, 2 jobs. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Columns that a table may take: those of the terminal; in a file or a pipe all that it needs. */
export function tableWidth(): number {
  return Math.max(NARROWEST, process.stdout.columns ?? Number.POSITIVE_INFINITY);
}

/** Columns that prose may take, 100 where there is no terminal. */
function proseWidth(): number {
  return Math.max(NARROWEST, Math.min(process.stdout.columns ?? 100, WIDEST));
}

/** Whether standard output is a terminal that may show colours: not with NO_COLOR. */
export function isColourful(): boolean {
  return bold("x") !== "x";
}

/** Bold on a terminal; plain with NO_COLOR or elsewhere. */
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
