/**
 * Lists the metrics of a job. A new entry here appears in every summary, table and report. A job whose value
 * is NaN has no value and is not counted for that metric; each metric shows its own count.
 */
import type { Instance, JobIndex } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";

/** Parameters of the definitions; printed with every result. */
export interface MetricParameters {
  /** τ of the bounded slowdown: shorter run times count as τ. Seconds, above 0. */
  readonly boundS: number;
}

export const DEFAULT_METRIC_PARAMETERS: MetricParameters = { boundS: 10 };

export interface Metric {
  /** Stable name for programs: CSV, JSON, `--metric`. */
  readonly name: string;
  readonly title: string;
  /** `s` for seconds, `1` for a ratio. */
  readonly unit: "s" | "1";
  /** In words; `{bound}` is replaced by the threshold in seconds. */
  readonly definition: string;
  /** Writes the values of the jobs from row `firstJob` on, as many as `values` holds. */
  fill(
    values: Float64Array,
    instance: Instance,
    schedule: Schedule,
    firstJob: JobIndex,
    parameters: MetricParameters,
  ): void;
}

export const METRICS: readonly Metric[] = [
  {
    name: "wait",
    title: "wait",
    unit: "s",
    definition: "start minus submit",
    fill: (values, { submitS }, { startS }, firstJob) => {
      for (let i = 0; i < values.length; i++) values[i] = startS[firstJob + i] - submitS[firstJob + i];
    },
  },
  {
    name: "response",
    title: "response",
    unit: "s",
    definition: "end minus submit, also called turnaround",
    fill: (values, { submitS }, { endS }, firstJob) => {
      for (let i = 0; i < values.length; i++) values[i] = endS[firstJob + i] - submitS[firstJob + i];
    },
  },
  {
    name: "slowdown",
    title: "slowdown",
    unit: "1",
    definition: "response over run time; jobs with run time 0 have no slowdown and are not counted",
    fill: (values, { submitS, runS }, { endS }, firstJob) => {
      for (let i = 0; i < values.length; i++) {
        const job = firstJob + i;
        values[i] = runS[job] > 0 ? (endS[job] - submitS[job]) / runS[job] : Number.NaN;
      }
    },
  },
  {
    name: "bounded-slowdown",
    title: "bounded slowdown",
    unit: "1",
    definition: "response over run time, at least 1; run times below {bound} s count as {bound} s",
    fill: (values, { submitS, runS }, { endS }, firstJob, { boundS }) => {
      for (let i = 0; i < values.length; i++) {
        const job = firstJob + i;
        values[i] = Math.max(1, (endS[job] - submitS[job]) / Math.max(runS[job], boundS));
      }
    },
  },
];

/** The definition with its parameters filled in. */
export function describeMetric(metric: Metric, parameters: MetricParameters): string {
  return metric.definition.replaceAll("{bound}", String(parameters.boundS));
}
