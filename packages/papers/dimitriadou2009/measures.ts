/**
 * Names the measures of Dimitriadou and Karatza 2009 as the paper does, finds results by study, variant and
 * load, and formats numbers for sentences.
 */

import type { Interval } from "@tutti/kernel/metrics/statistics.ts";
import type { Results } from "../results.ts";
import type { SitesNumbers } from "../wings/sites/metrics.ts";
import type { Place, StudyName, VariantOf } from "./cells.ts";

export type SitesResults = Results<Place, SitesNumbers>;
/** A number of one run. */
export type Measure = (numbers: SitesNumbers) => number;

/** The place of a variant that the study has. */
export function at<S extends StudyName>(study: S, variant: VariantOf<S>, localEveryS: number): Place {
  return { study, variant: String(variant), localEveryS };
}

export const MEASURES = {
  U: (n) => n.utilisation,
  RT: (n) => n.locals.responseS,
  SLD: (n) => n.locals.slowdown,
  WRT: (n) => n.gangs.weightedResponseS,
  WSLD: (n) => n.gangs.weightedSlowdown,
  "bounded SLD": (n) => n.locals.boundedSlowdown,
  "bounded WSLD": (n) => n.gangs.weightedBoundedSlowdown,
  finished: (n) => 100 * n.gangsFinished,
  "critical WRT": (n) => n.critical.weightedResponseS,
} as const satisfies Readonly<Record<string, Measure>>;

/** A number as sentences print it: about three significant digits. */
export function inWords(value: number): string {
  return value.toFixed(decimalsFor(value));
}

/** A difference with its interval, with the decimals that the interval justifies. */
export function differenceInWords({ mean, half }: Interval): string {
  if (mean === 0 && half === 0) return "0";
  const decimals = decimalsFor(half);
  return `${mean >= 0 ? "+" : "−"}${Math.abs(mean).toFixed(decimals)} ± ${half.toFixed(decimals)}`;
}

function decimalsFor(value: number): number {
  const size = Math.abs(value);
  return size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : size >= 0.01 ? 4 : 6;
}
