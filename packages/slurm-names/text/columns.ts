/**
 * Prints rows in the formats that Slurm's commands take:
 *
 *   `%i %.8j|%t`       squeue and sinfo -o: `%`, a dot for the right edge, width, letter; other text stays
 *   `JobID:12,Name`    squeue -O: names with widths
 *
 * Without a width, a value is as wide as it is; with one, it is filled up or cut.
 */
import { SlurmError } from "../errors.ts";

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
}

/** A column of a table, or text between columns. */
type Part<Row> =
  | { readonly text: string }
  | (Column<Row> & { readonly width?: number; readonly isRight?: boolean });

/** @throws SlurmError for a letter that is not in the list */
export function partsOfLetters<Row>(
  format: string,
  letters: Readonly<Record<string, Column<Row>>>,
): readonly Part<Row>[] {
  return format.split(/(%\.?\d{0,4}[A-Za-z%])/).flatMap((piece): Part<Row>[] => {
    const [, dot, width, letter] = /^%(\.?)(\d{0,4})([A-Za-z%])$/.exec(piece) ?? [];
    if (letter === undefined) return piece === "" ? [] : [{ text: piece }];
    if (letter === "%") return [{ text: "%" }];
    const column = Object.hasOwn(letters, letter) ? letters[letter] : undefined;
    if (column === undefined) throw new SlurmError(`Invalid job format specification: ${letter}`);
    return [{ ...column, isRight: dot === ".", ...(width !== "" && { width: Number(width) }) }];
  });
}

/** Width of a column of squeue -O without a number. */
const NAMED_WIDTH = 20;

/** @throws SlurmError for a name that is not in the list */
export function partsOfNames<Row>(
  format: string,
  names: Readonly<Record<string, Column<Row>>>,
): readonly Part<Row>[] {
  const byName = new Map(Object.entries(names).map(([name, column]) => [name.toLowerCase(), column]));
  return format.split(",").map((piece): Part<Row> => {
    const [, name = "", dot, width] = /^\s*([\w/]+)(?::(\.?)(\d{0,4}))?\s*$/.exec(piece) ?? [];
    const column = byName.get(name.toLowerCase());
    if (column === undefined) throw new SlurmError(`Invalid job format specification: ${piece}`);
    return { ...column, isRight: dot === ".", width: Number(width || NAMED_WIDTH) };
  });
}

export function tableText<Row>(
  parts: readonly Part<Row>[],
  rows: readonly Row[],
  hasHeader: boolean,
): string {
  const line = (value: (column: Column<Row>) => string) =>
    `${parts.map((part) => ("text" in part ? part.text : sized(value(part), part.width, part.isRight))).join("")}\n`;
  const lines = rows.map((row) => line((column) => oneLine(column.value(row))));
  return (hasHeader ? [line(({ header }) => header), ...lines] : lines).join("");
}

/** Filled up or cut to a width. */
function sized(text: string, width: number | undefined, isRight = false): string {
  if (width === undefined || width === 0) return text;
  const cut = text.slice(0, width);
  return isRight ? cut.padStart(width) : cut.padEnd(width);
}

/** Names that users chose may hold anything; a row is one line, and nothing in it commands a terminal. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}
