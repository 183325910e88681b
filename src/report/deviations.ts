/** Published values beside ours: how far apart they are, as text, and how many need a reason. */
import type { ReproducedTable, ReproducedValue, Reproduction } from "../results/reproduction.ts";
import { formatCount, formatDigits, formatDuration, formatNumber, NO_VALUE } from "./text/format.ts";

/** Deviations up to here need no reason. */
const TOLERANCE = 0.1;

/** Ours over published less 1; NaN where nothing is published, or 0 and ours is not. */
export function deviation({ published, ours }: ReproducedValue): number {
  if (published === null) return Number.NaN;
  if (published === ours) return 0;
  return published === 0 ? Number.NaN : ours / published - 1;
}

/** Whether a value is further from the published one than needs no reason. A published 0 is met by 0 only. */
export function deviates(value: ReproducedValue): boolean {
  const { published, ours } = value;
  if (published === null || published === ours) return false;
  return published === 0 || !(Math.abs(deviation(value)) <= TOLERANCE);
}

/** `+12.3 %`; empty where there is nothing to compare with. */
export function deviationText(value: ReproducedValue): string {
  const share = deviation(value);
  if (Number.isNaN(share)) return deviates(value) ? "∞" : "";
  const text = Math.abs(100 * share).toFixed(1);
  return `${text === "0.0" ? "" : share < 0 ? "−" : "+"}${text} %`;
}

/** Headings of a table's value columns, and whether seconds there are printed in units that suit each, since nothing is compared. */
export function valueColumns({ valueColumns, rows }: ReproducedTable): {
  readonly heading: string;
  readonly areDurations: boolean;
}[] {
  return valueColumns.map(({ name, unit }, i) => {
    const areDurations = unit === "s" && rows.every(({ values }) => values[i]?.published === null);
    return { heading: unit === undefined || areDurations ? name : `${name}, ${unit}`, areDurations };
  });
}

/** A value as it is printed: the published one with the paper's digits, ours with at least as many after the point. */
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

/** What came out of a paper, counted. */
export function countReproduction({ tables, statements }: Reproduction) {
  const values = tables.flatMap(({ rows }) => rows.flatMap((row) => row.values));
  const compared = values.filter(({ published }) => published !== null);
  const beyond = compared.filter(deviates);
  const explained = beyond.filter(({ reason = "" }) => reason !== "").length;
  return {
    /** Values with a published one beside them. */
    compared: compared.length,
    within: compared.length - beyond.length,
    explained,
    /** Beyond the tolerance without a reason: something is still to be done. */
    unexplained: beyond.length - explained,
    statements: statements.length,
    holding: statements.filter(({ holds }) => holds).length,
  };
}

/** What came out of a paper for a table of papers: values within the tolerance, beyond it with a reason and without, statements that hold. */
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

/** From 1, among the reasons so far, to which a new one is added: the same reason has the same number. */
export function reasonNumber(reason: string, reasons: string[]): number {
  const known = reasons.indexOf(reason);
  return known >= 0 ? known + 1 : reasons.push(reason);
}
