/**
 * Compares published values with ours: finds the deviations that need a reason, and writes both as text.
 */
import type { ReproducedTable, ReproducedValue } from "../results/reproduction.ts";
import { formatCount, formatDigits, formatDuration, formatNumber, NO_VALUE } from "./text/format.ts";

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

/** What the t of a table means and how large it may be; empty if no value of the table has one. */
export function testLegend({ rows }: ReproducedTable): string {
  const tests = rows.flatMap(({ values }) => values.flatMap(({ test }) => test ?? []));
  if (tests.length === 0) return "";
  const list = (texts: readonly string[]) => [...new Set(texts)].join(", ");
  const runs = list(tests.map(({ otherCount }) => formatCount(otherCount)));
  const limit = list(tests.map(({ quantile }) => formatNumber(quantile)));
  return `t: two-sample t of our mean against the paper's, which is of ${runs} runs; our variance stands for both; beyond ± ${limit} in 5 % of cases if both programs are the same`;
}

/**
 * Headings of a table's value columns. In a column without published values, seconds are printed as
 * durations, each in a suitable unit.
 */
export function valueColumns({ valueColumns, rows }: ReproducedTable): {
  readonly heading: string;
  readonly areDurations: boolean;
}[] {
  return valueColumns.map(({ name, unit }, i) => {
    const areDurations = unit === "s" && rows.every(({ values }) => values[i]?.published === null);
    return { heading: unit === undefined || areDurations ? name : `${name}, ${unit}`, areDurations };
  });
}

/**
 * A value as text: the published one with the paper's digits, ours with at least as many digits after the
 * point.
 */
export function valueTexts(
  { published, ours, halfWidth }: ReproducedValue,
  areDurations: boolean,
): { readonly published: string; readonly ours: string; readonly halfWidth: string } {
  const spread = halfWidth === null || Number.isNaN(halfWidth) ? undefined : halfWidth;
  if (areDurations) {
    const halfText = spread === undefined ? "" : formatDuration(spread);
    return { published: NO_VALUE, ours: formatDuration(ours), halfWidth: halfText };
  }
  const decimals = published === null ? 0 : decimalsOf(published);
  return {
    published: published === null ? NO_VALUE : formatDigits(published, decimals),
    ours: decimals > 0 && Math.abs(ours) < 1 ? formatDigits(ours, Math.max(2, decimals)) : formatNumber(ours),
    halfWidth: spread === undefined ? "" : formatNumber(spread),
  };
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
