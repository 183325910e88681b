/** Text for a terminal: width, emphasis, wrapping. */
import { styleText } from "node:util";

const NARROWEST = 40;
const WIDEST = 120;

export function writeOut(text: string): void {
  process.stdout.write(text);
}

/** A remark beside the result; keeps standard output clean. */
export function hint(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Columns of the terminal, 100 where there is none. */
export function terminalWidth(): number {
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
  const width = terminalWidth() - indent;
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
