/** Finds the results of a paper by their place in its tables, and computes the values that tables show. */
import {
  confidenceInterval,
  type Interval,
  pairedDifference,
  testMean,
} from "@tutti/kernel/metrics/statistics.ts";
import { canonicalText } from "@tutti/lab/experiments/cell.ts";
import { deviates } from "@tutti/lab/report/deviations.ts";
import type { ReproducedValue } from "@tutti/lab/results/reproduction.ts";

/** The replications of a place keep the order of the cells. */
export class Results<Place, Result> {
  readonly #byPlace = new Map<string, Result[]>();

  /** @param results in the order of the cells */
  constructor(cells: readonly { readonly place: Place }[], results: readonly Result[]) {
    for (const [i, { place }] of cells.entries()) {
      const text = canonicalText(place);
      const atPlace = this.#byPlace.get(text);
      if (atPlace === undefined) this.#byPlace.set(text, [results[i]]);
      else atPlace.push(results[i]);
    }
  }

  /** The results of a place, one per replication. @throws RangeError for a place without results */
  at(place: Place): readonly Result[] {
    const atPlace = this.#byPlace.get(canonicalText(place));
    if (atPlace === undefined) throw new RangeError(`Cannot find results of ${canonicalText(place)}`);
    return atPlace;
  }

  /** The results of one replication alone. Places with fewer replications have none. */
  replication(at: number): Results<Place, Result> {
    const alone = new Results<Place, Result>([], []);
    for (const [text, runs] of this.#byPlace) if (at < runs.length) alone.#byPlace.set(text, [runs[at]]);
    return alone;
  }

  values(place: Place, measure: (result: Result) => number): number[] {
    return this.at(place).map((result) => measure(result));
  }

  interval(place: Place, measure: (result: Result) => number): Interval {
    return confidenceInterval(this.values(place, measure));
  }

  mean(place: Place, measure: (result: Result) => number): number {
    return this.interval(place, measure).mean;
  }

  /** `to` minus `from`, replication by replication. */
  difference(from: Place, to: Place, measure: (result: Result) => number): Interval {
    return pairedDifference(this.values(to, measure), this.values(from, measure));
  }

  /**
   * A value of a table.
   * @param reason called only if the value deviates from the published one
   * @param publishedRuns of how many runs the published mean is, if the paper says so
   */
  value(
    place: Place,
    measure: (result: Result) => number,
    published: number | null = null,
    reason?: (values: readonly number[]) => string,
    publishedRuns?: number,
  ): ReproducedValue {
    const values = this.values(place, measure);
    const { mean, half, count } = confidenceInterval(values);
    const isTested = published !== null && publishedRuns !== undefined && count > 1;
    const value = {
      published,
      ours: mean,
      halfWidth: count < 2 ? null : half,
      ...(isTested && { test: testMean(values, published, publishedRuns) }),
    };
    return reason !== undefined && deviates(value) ? { ...value, reason: reason(values) } : value;
  }
}
