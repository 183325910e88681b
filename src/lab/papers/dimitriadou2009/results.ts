/** The numbers of all cells, by study, variant and load, and what tables and statements take from them. */

import type { Interval } from "../../../metrics/statistics.ts";
import { confidenceInterval, pairedDifference } from "../../../metrics/statistics.ts";
import type { SitesNumbers } from "../../../models/sites/metrics.ts";
import type { DimitriadouCell, DimitriadouNumbers, StudyName, VariantOf } from "./cells.ts";
import { STUDIES } from "./cells.ts";

/** A number of one run. */
export type Measure = (numbers: SitesNumbers) => number;

export class Results {
  readonly #runs = new Map<string, SitesNumbers[]>();

  /** Numbers come in the order of the cells. */
  constructor(cells: readonly DimitriadouCell[], numbers: readonly DimitriadouNumbers[]) {
    for (const [i, { study, localEveryS }] of cells.entries()) {
      for (const [v, variant] of Object.keys(STUDIES[study].variants).entries()) {
        const key = keyOf(study, variant, localEveryS);
        const runs = this.#runs.get(key) ?? [];
        runs.push(numbers[i][v]);
        this.#runs.set(key, runs);
      }
    }
  }

  /** One value per replication. */
  values<S extends StudyName>(
    study: S,
    variant: VariantOf<S>,
    localEveryS: number,
    measure: Measure,
  ): number[] {
    const runs = this.#runs.get(keyOf(study, String(variant), localEveryS));
    if (runs === undefined) {
      throw new RangeError(`Cannot find runs of "${String(variant)}" in study ${study} at ${localEveryS} s`);
    }
    return runs.map(measure);
  }

  interval<S extends StudyName>(
    study: S,
    variant: VariantOf<S>,
    localEveryS: number,
    measure: Measure,
  ): Interval {
    return confidenceInterval(this.values(study, variant, localEveryS, measure));
  }

  mean<S extends StudyName>(study: S, variant: VariantOf<S>, localEveryS: number, measure: Measure): number {
    return this.interval(study, variant, localEveryS, measure).mean;
  }

  /** Second variant minus first, replication by replication. */
  difference<S extends StudyName>(
    study: S,
    from: VariantOf<S>,
    to: VariantOf<S>,
    localEveryS: number,
    measure: Measure,
  ): Interval {
    return pairedDifference(
      this.values(study, to, localEveryS, measure),
      this.values(study, from, localEveryS, measure),
    );
  }
}

function keyOf(study: StudyName, variant: string, localEveryS: number): string {
  return `${study}/${variant}/${localEveryS}`;
}

/** The measures of the paper, under its names. */
export const MEASURES = {
  U: (n) => n.utilisation,
  RT: (n) => n.locals.responseS,
  SLD: (n) => n.locals.slowdown,
  WRT: (n) => n.gangs.weightedResponseS,
  WSLD: (n) => n.gangs.weightedSlowdown,
  "bounded SLD": (n) => n.locals.boundedSlowdown,
  "bounded WSLD": (n) => n.gangs.weightedBoundedSlowdown,
  finished: (n) => 100 * n.gangsFinished,
} as const satisfies Readonly<Record<string, Measure>>;

/** A number for a sentence: three significant digits, or so. */
export function inWords(value: number): string {
  return value.toFixed(decimalsFor(value));
}

/** A difference with its interval, as many decimals as the interval asks for. */
export function differenceInWords({ mean, half }: Interval): string {
  if (mean === 0 && half === 0) return "0";
  const decimals = decimalsFor(half);
  return `${mean >= 0 ? "+" : "−"}${Math.abs(mean).toFixed(decimals)} ± ${half.toFixed(decimals)}`;
}

function decimalsFor(value: number): number {
  const size = Math.abs(value);
  return size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : size >= 0.01 ? 4 : 6;
}
