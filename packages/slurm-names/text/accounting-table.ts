/**
 * Prints tables as sacct and sacctmgr do: fields by name, with widths such as `JobName%20` or `State%-10`.
 */
import { SlurmError } from "../errors.ts";
import { oneLine } from "./columns.ts";

export interface Field<Row> {
  readonly name: string;
  /** Negative: at the left edge. */
  readonly width: number;
  readonly value: (row: Row) => string;
}

/** Fields such as `Account:10 JobID:-12`, with their widths. */
export function fieldsOf<Row>(
  names: string,
  textOf: (row: Row, name: string) => string,
): readonly Field<Row>[] {
  return [...names.matchAll(/(\w+):(-?\d+)/g)].map(([, name, width]) => ({
    name,
    width: Number(width),
    value: (row) => textOf(row, name),
  }));
}

/** @throws SlurmError for a field that is not in the list */
export function fieldsNamed<Row>(list: string, fields: readonly Field<Row>[]): readonly Field<Row>[] {
  return list
    .split(",")
    .filter((text) => text !== "")
    .map((text) => {
      const [, typed = text, width] = /^\s*(\w+)(?:%(-?\d{1,4}))?\s*$/.exec(text) ?? [];
      const name = typed.toLowerCase();
      // A unique beginning of a name is enough, as in Slurm.
      const found =
        fields.find((field) => field.name.toLowerCase() === name) ??
        fields.find((field) => name !== "" && field.name.toLowerCase().startsWith(name));
      if (found === undefined) throw new SlurmError(`Invalid field requested: "${typed}"`);
      return width === undefined || width === "" ? found : { ...found, width: Number(width) };
    });
}

/** @param options those of the command line: without parsable or parsable2, a table */
export function accountingText<Row>(
  fields: readonly Field<Row>[],
  rows: readonly Row[],
  options: Readonly<Record<string, string>>,
): string {
  const hasHeader = !("noheader" in options);
  const { delimiter = "|" } = options;
  const values = rows.map((row) => fields.map(({ value }) => oneLine(value(row))));
  const names = fields.map(({ name }) => name);
  if ("parsable" in options || "parsable2" in options) {
    // With parsable alone, a delimiter is also behind the last field.
    const last = "parsable2" in options ? "" : delimiter;
    const line = (cells: readonly string[]) => `${cells.join(delimiter)}${last}\n`;
    return [...(hasHeader ? [names] : []), ...values].map(line).join("");
  }
  const line = (cells: readonly string[]) =>
    `${cells.map((cell, i) => `${sized(cell, fields[i].width)} `).join("")}\n`;
  const rules = fields.map(({ width }) => "-".repeat(Math.abs(width)));
  return [...(hasHeader ? [names, rules] : []), ...values].map(line).join("");
}

/** Cut with a plus sign at its end. */
function sized(text: string, width: number): string {
  const columns = Math.abs(width);
  const cut = text.length > columns ? `${text.slice(0, Math.max(0, columns - 1))}+` : text;
  return width < 0 ? cut.padEnd(columns) : cut.padStart(columns);
}
