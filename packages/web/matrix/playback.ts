/** The words and the clock of a recorded matrix that is played. */
import { formatCount, formatPercent, momentLabel, plural } from "@tutti/kernel/core/format.ts";
import type { MatrixDecisions, MatrixSnapshot } from "@tutti/lab/results/matrix-record.ts";

/** Pictures per second. */
export const SPEEDS = [0.5, 1, 2, 4, 8] as const;

/**
 * What the policy did between two pictures, in words; empty if it did nothing.
 * @param before of the picture before; undefined: from the beginning
 */
export function decisionsText(now: MatrixDecisions, before?: MatrixDecisions): string {
  const count = (name: keyof MatrixDecisions) => now[name] - (before?.[name] ?? 0);
  const said: [keyof MatrixDecisions, (count: number) => string][] = [
    ["placed", (gangs) => `${plural(gangs, "gang")} placed`],
    ["ended", (gangs) => `${plural(gangs, "gang")} ended`],
    ["extraSlots", (slots) => `${plural(slots, "extra slot")} given`],
    ["released", (slots) => `${plural(slots, "extra slot")} taken back`],
    ["rowsAdded", (rows) => `${plural(rows, "row")} added`],
    ["rowsDeleted", (rows) => `${plural(rows, "row")} deleted`],
    ["migrations", (gangs) => `${plural(gangs, "gang")} moved to other processors, at a cost in service`],
    [
      "exchanges",
      (exchanges) =>
        `re-packed by ${plural(exchanges, "legal exchange")}, between cuts that no gang of the two rows crosses`,
    ],
  ];
  return said.flatMap(([name, text]) => (count(name) > 0 ? [text(count(name))] : [])).join("; ");
}

/** The instant of a picture, its rows and how full they are. */
export function momentText(
  { atS, rows, first, end }: MatrixSnapshot,
  originS: number,
  processors: number,
): string {
  const busy = end.reduce((sum, own, i) => sum + own - first[i], 0);
  const share = rows === 0 ? "" : `, ${formatPercent(busy / (rows * processors))} of the slots taken`;
  return `${momentLabel(atS - originS)}: ${plural(rows, "row")}${share}`;
}

/** `3 of 60`. */
export function placeText(index: number, count: number): string {
  return `${formatCount(index + 1)} of ${formatCount(count)}`;
}

/** The picture that the address names by its number, from 1; without one, the busiest. */
export function parsePlace(text: string | undefined, count: number, busiest: number): number {
  const number = /^\d{1,6}$/.test(text ?? "") ? Number(text) : busiest + 1;
  return Math.max(0, Math.min(count - 1, number - 1));
}
