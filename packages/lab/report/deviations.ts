/**
 * Compares published values with ours: finds the deviations that need a reason, and writes both as text.
 */

import {
  durationColumn,
  formatCount,
  formatDigits,
  formatNumber,
  NO_VALUE,
} from "@tutti/kernel/core/format.ts";
import type { ReproducedTable, ReproducedValue } from "../results/reproduction.ts";

/** Deviations up to this share need no reason. */
const TOLERANCE = 0.1;

/** Ours ÷ published − 1. NaN if nothing is published, or if the published value is 0 and ours is not. */
export function deviation({ published, ours }: ReproducedValue): number {
  if (published === null) return Number.NaN;
  if (published === ours) return 0;
  return published === 0 ? Number.NaN : ours / published - 1;
}

/** Whether ours is more than 10 % off. From a published 0, every other value is. */
export function isFar(value: ReproducedValue): boolean {
  const { published, ours } = value;
  if (published === null || published === ours) return false;
  return published === 0 || !(Math.abs(deviation(value)) <= TOLERANCE);
}

/** Whether two sets of as many runs differ less than this in 95 % of cases; undefined without a test. */
export function isChance({ test }: ReproducedValue): boolean | undefined {
  return test === undefined ? undefined : Math.abs(test.t) <= test.quantile;
}

/** Whether the value needs a reason: it is more than 10 % off, and chance does not explain that. */
export function deviates(value: ReproducedValue): boolean {
  return isFar(value) && isChance(value) !== true;
}

/** Such as `+12.3 %`; empty if there is nothing to compare with. */
export function deviationText(value: ReproducedValue): string {
  const share = deviation(value);
  if (Number.isNaN(share)) return isFar(value) ? "∞" : "";
  const text = Math.abs(100 * share).toFixed(1);
  return `${text === "0.0" ? "" : share < 0 ? "−" : "+"}${text} %`;
}

/** Such as `t −2.3`; empty if there is no test. */
export function testText({ test }: ReproducedValue): string {
  return test === undefined ? "" : `t ${formatNumber(test.t)}`;
}

/** Deviation and t, as both pages show them; empty if there is nothing to compare with. */
export function comparisonText(value: ReproducedValue): string {
  return [deviationText(value), testText(value)].filter((text) => text !== "").join(" · ");
}

/** Whether the paper publishes any value of the table. */
export function isCompared({ rows }: ReproducedTable): boolean {
  return rows.some(({ values }) => values.some(({ published }) => published !== null));
}

/** What the t of a table means and how large it may be; empty if no value of the table has one. */
export function testLegend({ rows }: ReproducedTable): string {
  const tests = rows.flatMap(({ values }) => values.flatMap(({ test }) => test ?? []));
  if (tests.length === 0) return "";
  const list = (texts: readonly string[]) => [...new Set(texts)].join(", ");
  const runs = list(tests.map(({ otherCount }) => formatCount(otherCount)));
  const limit = list(tests.map(({ quantile }) => formatNumber(quantile)));
  return `t: two-sample t of our mean against the paper's, which is of ${runs} runs; our variance stands for both; beyond ± ${limit} in 5 % of cases if both programs are the same`;
}

/** A value as text: what the paper prints, ours, and half of the confidence interval, which may be empty. */
export interface ValueTexts {
  readonly published: string;
  readonly ours: string;
  readonly halfWidth: string;
}

/**
 * How a table's value columns are printed. Columns of seconds without published values are durations. They
 * share one unit, so that a row can be compared across them; the means of each column decide its digits.
 */
export function valueColumns({ valueColumns, rows }: ReproducedTable): {
  readonly heading: string;
  readonly textsOf: (value: ReproducedValue) => ValueTexts;
}[] {
  const columns = valueColumns.map((column, i) => {
    const values = rows.map((row) => row.values[i]);
    const areDurations = column.unit === "s" && values.every(({ published }) => published === null);
    return { ...column, areDurations, means: values.map(({ ours }) => ours) };
  });
  const timeUnit = durationColumn(
    columns.flatMap(({ areDurations, means }) => (areDurations ? means : [])),
  ).unit;
  return columns.map(({ name, unit, areDurations, means }) => {
    if (!areDurations)
      return { heading: unit === undefined ? name : `${name}, ${unit}`, textsOf: plainTexts };
    const { format } = durationColumn(means, timeUnit);
    const textsOf = ({ ours, halfWidth }: ReproducedValue) => ({
      published: NO_VALUE,
      ours: format(ours),
      halfWidth: hasHalfWidth(halfWidth) ? format(halfWidth) : "",
    });
    return { heading: `${name}, ${timeUnit.name}`, textsOf };
  });
}

/** The published value with the paper's digits, ours with at least as many digits after the point. */
function plainTexts({ published, ours, halfWidth }: ReproducedValue): ValueTexts {
  const decimals = published === null ? 0 : decimalsOf(published);
  return {
    published: published === null ? NO_VALUE : formatDigits(published, decimals),
    ours: decimals > 0 && Math.abs(ours) < 1 ? formatDigits(ours, Math.max(2, decimals)) : formatNumber(ours),
    halfWidth: hasHalfWidth(halfWidth) ? formatNumber(halfWidth) : "",
  };
}

function hasHalfWidth(halfWidth: number | null): halfWidth is number {
  return halfWidth !== null && !Number.isNaN(halfWidth);
}

function decimalsOf(value: number): number {
  const text = String(value);
  return text.includes(".") && !text.includes("e") ? text.length - text.indexOf(".") - 1 : 0;
}

/** The number of a reason, from 1. Adds a new reason to the list; the same reason keeps its number. */
export function reasonNumber(reason: string, reasons: string[]): number {
  const known = reasons.indexOf(reason);
  return known >= 0 ? known + 1 : reasons.push(reason);
}
