/**
 * Reads `--grid lr=0.1,0.01 seed=1..5`: one job for each combination of values, the last variable fastest.
 * Ranges are those of bash's braces, such as 1..9..2 or 01..10. The jobs are counted before they are made.
 */

import { formatCount } from "@tutti/kernel/core/format.ts";
import { MAX_JOBS_PER_BATCH, MAX_VARIABLES } from "@tutti/protocol/limits.ts";
import { isVariable } from "@tutti/protocol/sweep-values.ts";
import { UsageError } from "../errors.ts";

interface Range {
  readonly first: number;
  /** Negative if the range descends. */
  readonly step: number;
  readonly count: number;
  /** Values have at least as many characters, with zeros in front. */
  readonly width: number;
}

type Values = string | Range;

const EXPECTED = "expected variables with values, such as lr=0.1,0.01 seed=1..5";
const RANGE = /^(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.(-?\d{1,15}))?$/;
/** Looks like a range of numbers, but is none: values such as ../data are ordinary text. */
const ALMOST_RANGE = /^[-+\d.e]*\d\.\.+[-+\d][-+\d.e]*$/i;

/** The values of each variable, job by job. @throws UsageError */
export function parseGrid(words: readonly string[]): Record<string, string[]> {
  const variables = new Map<string, readonly Values[]>();
  for (const word of words) {
    const equals = word.indexOf("=");
    const name = word.slice(0, Math.max(0, equals));
    if (equals < 0) {
      throw new UsageError(
        `Cannot use "${word}" in --grid: ${EXPECTED}; if it is a script, put another option between it and --grid`,
      );
    }
    if (!isVariable(name)) {
      throw new UsageError(
        `Cannot use "${word}" in --grid: "${name}" is not the name of a variable, expected letters, digits and _, and nothing that begins with TUTTI_`,
      );
    }
    if (variables.has(name)) {
      throw new UsageError(
        `Cannot use "${word}" in --grid: it names ${name} for the second time; put all its values into one list, such as ${name}=1,2`,
      );
    }
    variables.set(name, listedValues(word.slice(equals + 1), word));
  }
  return combinations(variables);
}

/**
 * The values of each variable, job by job, from a table such as `{ lr = [0.1, 0.01], seed = "1..5" }`. Texts
 * are as in `--grid`; values in lists are taken as they are.
 * @throws UsageError
 */
export function gridOfTable(
  table: Readonly<Record<string, string | readonly string[]>>,
): Record<string, string[]> {
  const variables = new Map<string, readonly Values[]>();
  for (const [name, value] of Object.entries(table)) {
    if (!isVariable(name)) {
      throw new UsageError(
        `Cannot use the grid: "${name}" is not the name of a variable, expected letters, digits and _, and nothing that begins with TUTTI_`,
      );
    }
    variables.set(name, typeof value === "string" ? listedValues(value, `${name}=${value}`) : value);
  }
  return combinations(variables);
}

function listedValues(text: string, word: string): Values[] {
  return text.split(",").map((part) => valuesOf(part, word));
}

/** @throws UsageError if there are too many */
function combinations(variables: ReadonlyMap<string, readonly Values[]>): Record<string, string[]> {
  if (variables.size > MAX_VARIABLES) {
    throw new UsageError(
      `Cannot submit the grid: it has ${variables.size} variables, expected at most ${MAX_VARIABLES}`,
    );
  }
  const counts = [...variables.values()].map((values) =>
    values.reduce((sum, part) => sum + countOf(part), 0),
  );
  const count = counts.reduce((product, factor) => product * factor, 1);
  if (count > MAX_JOBS_PER_BATCH) {
    const factors =
      counts.length === 1 ? "" : `${counts.map((factor) => formatCount(factor)).join(" × ")} = `;
    throw new UsageError(
      `Cannot submit the grid: it has ${factors}${formatCount(count)} jobs, expected at most ${formatCount(MAX_JOBS_PER_BATCH)}; submit parts of it`,
    );
  }
  let repeats = count;
  const columns = [...variables].map(([name, parts], i) => {
    const values = parts.flatMap(listOf);
    repeats /= counts[i];
    const each = repeats;
    const column = Array.from({ length: count }, (_, job) => values[Math.floor(job / each) % values.length]);
    return [name, column] as const;
  });
  return Object.fromEntries(columns);
}

function valuesOf(text: string, word: string): Values {
  const [, from, to, by = "1"] = RANGE.exec(text) ?? [];
  if (from !== undefined) {
    const step = Math.abs(Number(by));
    if (step === 0) {
      throw new UsageError(
        `Cannot use "${text}" in --grid: its step is 0, expected a range such as 1..9..2, which is 1,3,5,7,9`,
      );
    }
    const [first, last] = [Number(from), Number(to)];
    const isPadded = [from, to].some((end) => /^-?0\d/.test(end));
    return {
      first,
      step: last < first ? -step : step,
      count: Math.floor(Math.abs(last - first) / step) + 1,
      width: isPadded ? Math.max(from.length, to.length) : 0,
    };
  }
  if (text === "") throw new UsageError(`Cannot use "${word}" in --grid: a value is empty; ${EXPECTED}`);
  if (ALMOST_RANGE.test(text)) {
    throw new UsageError(
      `Cannot use "${text}" in --grid: ranges have whole numbers, such as 1..5 or 1..9..2; write other values one by one, such as 0.1,0.2`,
    );
  }
  return text;
}

function countOf(values: Values): number {
  return typeof values === "string" ? 1 : values.count;
}

function listOf(values: Values): string[] {
  if (typeof values === "string") return [values];
  const { first, step, count, width } = values;
  return Array.from({ length: count }, (_, i) => {
    // Adding 0 turns −0, to which a range may descend, into 0.
    const value = first + i * step + 0;
    const sign = value < 0 ? "-" : "";
    return sign + String(Math.abs(value)).padStart(width - sign.length, "0");
  });
}
