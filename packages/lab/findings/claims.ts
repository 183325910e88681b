/**
 * Reads the claims of docs/findings.md, which are data (docs/findings.texts.json): which two policies are
 * compared, on which jobs, by which metric, and which policy should have the lower value.
 */
import texts from "../../../docs/findings.texts.json" with { type: "json" };
import type { FindingsSource } from "./findings.ts";
import type { FindingMetric } from "./run.ts";

/** A claim over several sources: the ratio of two means on each of them. */
export interface RatioClaim {
  readonly text: string;
  /** The mean of the metric under `a` is below or above its mean under `b`. */
  readonly ratio: readonly [a: string, is: "below" | "above", b: string, metric: FindingMetric];
  readonly sources: readonly FindingsSource[];
  /** Time of a switch under `a` as a share of the slot; default 0. */
  readonly switchShare?: number | undefined;
}

const SOURCES: Readonly<Record<string, FindingsSource>> = texts.sources;
const sourcesNamed = (names: readonly string[]) => names.map((name) => SOURCES[name]);

/** Sources and policies of the first table. */
export const TABLE_SOURCES: readonly FindingsSource[] = sourcesNamed(texts.table.sources);
export const TABLE: readonly string[] = texts.table.policies;

export const CLAIMS: readonly RatioClaim[] = texts.claims.map(({ ratio, sources, ...claim }) => ({
  ...claim,
  ratio: ratio as unknown as RatioClaim["ratio"],
  sources: sourcesNamed(sources),
}));
