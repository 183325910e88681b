/**
 * Compares published values with ours: writes deviations as text, and counts the values that need a reason.
 */
import type { ReproducedTable, ReproducedValue, Reproduction } from "../results/reproduction.ts";
import { formatCount, formatDigits, formatDuration, formatNumber, NO_VALUE } from "./text/format.ts";

/** Deviations up to this share need no reason. */
const TOLERANCE = 0.1;

/** Ours ÷ published − 1. NaN if nothing is published, or if the published value is 0 and ours is not. */
export function deviation({ published, ours }: ReproducedValue): number {
  if (published === null) return Number.NaN;
  if (published === ours) return 0;
  return published === 0 ? Number.NaN : ours / published - 1;
}

/** Whether the deviation needs a reason. From a published 0, every other value deviates. */
export function deviates(value: ReproducedValue): boolean {
  const { published, ours } = value;
  if (published === null || published === ours) return false;
  return published === 0 || !(Math.abs(deviation(value)) <= TOLERANCE);
}

/** Such as `+12.3 %`; empty if there is nothing to compare with. */
export function deviationText(value: ReproducedValue): string {
  const share = deviation(value);
  if (Number.isNaN(share)) return deviates(value) ? "∞" : "";
  const text = Math.abs(100 * share).toFixed(1);
  return `${text === "0.0" ? "" : share < 0 ? "−" : "+"}${text} %`;
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

/** Counts of the values and statements of a paper. */
export function countReproduction({ tables, statements }: Reproduction) {
  const values = tables.flatMap(({ rows }) => rows.flatMap((row) => row.values));
  const compared = values.filter(({ published }) => published !== null);
  const beyond = compared.filter(deviates);
  const explained = beyond.filter(({ reason = "" }) => reason !== "").length;
  return {
    /** Values with a published value. */
    compared: compared.length,
    within: compared.length - beyond.length,
    explained,
    /** Values beyond the tolerance without a reason. There should be none. */
    unexplained: beyond.length - explained,
    statements: statements.length,
    holding: statements.filter(({ holds }) => holds).length,
  };
}

/**
 * The counts of a paper for a table of papers: values within the tolerance, values beyond it with and without
 * a reason, statements that hold.
 */
export function countTexts(reproduction: Reproduction): string[] {
  const { compared, within, explained, unexplained, statements, holding } = countReproduction(reproduction);
  const shareText = (count: number, of: number) =>
    of === 0 ? NO_VALUE : `${formatCount(count)} of ${formatCount(of)}`;
  return [
    shareText(within, compared),
    ...[explained, unexplained].map(formatCount),
    shareText(holding, statements),
  ];
}

/** The number of a reason, from 1. Adds a new reason to the list; the same reason keeps its number. */
export function reasonNumber(reason: string, reasons: string[]): number {
  const known = reasons.indexOf(reason);
  return known >= 0 ? known + 1 : reasons.push(reason);
}
