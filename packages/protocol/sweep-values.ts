/**
 * The values that the jobs of a sweep have: each job of the array gets one value of each variable, in its
 * environment and in place of `{name}` in its command and in the names of its output files. `{}` stands for
 * the line of a file, which is in the variable TUTTI_LINE. No shell sees the values.
 */

/** The variable whose value `{}` stands for. */
export const LINE_VARIABLE = "TUTTI_LINE";

/** Values of one job, by variable. */
export type JobValues = Readonly<Record<string, string>>;

const PLACEHOLDER = /\{(\w*)\}/g;

/** Whether a variable may have this name; others of Tutti, such as TUTTI_JOB_ID, are taken. */
export function isVariable(name: string): boolean {
  return name === LINE_VARIABLE || /^(?!TUTTI_|__)[A-Za-z_]\w*$/.test(name);
}

/** The value that the inside of a pair of braces stands for; undefined: the braces are ordinary text. */
export function valueIn(name: string, values: JobValues | undefined): string | undefined {
  const variable = name === "" ? LINE_VARIABLE : name;
  return values !== undefined && Object.hasOwn(values, variable) ? values[variable] : undefined;
}

/** A text with values in place of its placeholders. Placeholders inside of values are ordinary text. */
export function withValues(text: string, values: JobValues | undefined): string {
  if (values === undefined) return text;
  return text.replace(PLACEHOLDER, (match, name: string) => valueIn(name, values) ?? match);
}

/** The words of a command with the job's values; only the word at `script`, a path, stays as it is. */
export function commandWithValues(
  command: readonly string[],
  values: JobValues | undefined,
  script?: number,
): readonly string[] {
  if (values === undefined) return command;
  return command.map((word, i) => (i === script ? word : withValues(word, values)));
}

/** Length of the text with values, which may be too long to be made. */
export function lengthWithValues(text: string, values: JobValues): number {
  let length = text.length;
  if (!text.includes("{")) return length;
  for (const [match, name] of text.matchAll(PLACEHOLDER)) {
    const value = valueIn(name, values);
    if (value !== undefined) length += value.length - match.length;
  }
  return length;
}

/** The values of the job at a position of the array. */
export function valuesAt(values: Readonly<Record<string, readonly string[]>>, position: number): JobValues {
  return Object.fromEntries(Object.entries(values).map(([name, column]) => [name, column[position]]));
}
