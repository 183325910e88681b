/** Text for a terminal: width, emphasis, wrapping, aligned columns. */
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

/** Rows under a heading; the first columns, one or `left`, are to the left, the others to the right. */
export function columns(heading: readonly string[], rows: readonly (readonly string[])[], left = 1): string {
  const widths = heading.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => (row[i] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i < left ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [bold(line(heading)), ...rows.map(line)].join("\n");
}
