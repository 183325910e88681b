/** All metrics of the policies side by side: their statistics, and the means of each class of jobs. */

import {
  durationColumn,
  formatCount,
  formatDuration,
  formatMetric,
  formatNumber,
  type TimeUnit,
} from "@tutti/kernel/core/format.ts";
import { type MetricSummary, metricOf } from "@tutti/kernel/metrics/summary.ts";
import { comparedMetric, sharedMetrics } from "@tutti/lab/report/ranking.ts";
import { lineFigureSvg } from "@tutti/lab/report/svg/figure-svg.ts";
import type { ComparedPolicy } from "@tutti/lab/results/comparison.ts";
import type { ReproducedFigure } from "@tutti/lab/results/reproduction.ts";
import { address, setQuery } from "../../page/navigation.ts";
import { Choice } from "../../page/parts.tsx";
import { Bars, isWide } from "../charts/bars.tsx";
import { Figure } from "../charts/figure.tsx";
import type { Finished } from "../state.ts";

const STATISTICS = {
  mean: "mean",
  median: "median",
  p90: "90th percentile",
  p95: "95th percentile",
  p99: "99th percentile",
  max: "longest",
} as const;
type Statistic = keyof typeof STATISTICS;
const NAMES = Object.keys(STATISTICS) as readonly Statistic[];

export function Metrics({ done }: { readonly done: Finished }) {
  const { policies } = done.comparison;
  return (
    <>
      <Distributed policies={policies} />
      <ByClass policies={policies} />
    </>
  );
}

interface PartProps {
  readonly policies: readonly ComparedPolicy[];
}

/** One statistic of one metric, with a bar for each policy; of one policy alone, all statistics. */
function Distributed({ policies }: PartProps) {
  const metric = chosenMetric(policies, comparedMetric(policies));
  const { statistic: asked = "" } = address.value.query;
  const statistic = NAMES.find((name) => name === asked) ?? "mean";
  const isOne = policies.length === 1;
  const summaries = policies.map(({ summary }) => metricOf(summary, metric.name));
  const bars = isOne
    ? NAMES.map((name) => ({ label: STATISTICS[name], value: summaries[0].all[name], series: 0 }))
    : policies.map(({ label }, i) => ({ label, value: summaries[i].all[statistic], series: i }));
  const unit = unitOf(
    metric,
    bars.map(({ value }) => value),
  );
  const title = isOne ? "From the mean to the longest" : "Policies side by side";
  const rows = sharedMetrics(policies).flatMap(({ name, title, unit }) =>
    policies.map(({ label, summary }) => [
      `${title}, ${label}`,
      ...NAMES.map((statistic) => formatMetric(metricOf(summary, name).all[statistic], unit)),
    ]),
  );
  return (
    <Figure
      title={title}
      name={`metric-${metric.name}`}
      table={{ headings: ["metric and policy", ...Object.values(STATISTICS)], rows }}
      csv={function* () {
        yield ["policy", "metric", "unit", ...NAMES];
        for (const [i, { label }] of policies.entries())
          yield [label, metric.name, metric.unit, ...NAMES.map((name) => summaries[i].all[name])];
      }}
      svg={() =>
        lineFigureSvg(
          figureOf(
            `${metric.title}, ${isOne ? policies[0].label : STATISTICS[statistic]}`,
            metric,
            bars.map(({ label }) => label),
            [
              {
                name: isOne ? policies[0].label : STATISTICS[statistic],
                values: bars.map(({ value }) => value),
              },
            ],
          ),
        )
      }
      controls={
        <>
          <MetricSelect policies={policies} metric={metric} />
          {isOne ? null : (
            <Choice
              title="Statistic"
              value={statistic}
              options={Object.entries(STATISTICS)}
              onChoose={(statistic) => setQuery({ statistic })}
            />
          )}
        </>
      }
    >
      <Bars groups={[{ bars }]} text={(value) => textIn(value, unit)} />
    </Figure>
  );
}

function ByClass({ policies }: PartProps) {
  const metric = chosenMetric(policies, "bounded-slowdown");
  const { classScheme, classes } = policies[0].summary;
  const withJobs = classes.flatMap((one, i) => (one.jobs > 0 ? [{ ...one, i }] : []));
  const empty = classes.flatMap(({ label, jobs }) => (jobs === 0 ? [label] : []));
  const meanOf = ({ summary }: ComparedPolicy, name: string, i: number) =>
    metricOf(summary, name).byClass[i].mean;
  const groups = withJobs.map(({ label, jobs, i }) => ({
    title: `${label}: ${formatCount(jobs)} jobs`,
    bars: policies.map((policy, series) => ({
      label: policy.label,
      value: meanOf(policy, metric.name, i),
      series,
    })),
  }));
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value));
  const unit = unitOf(metric, values);
  const rows = sharedMetrics(policies).flatMap(({ name, title, unit }) =>
    withJobs.map(({ label, i }) => [
      `${title}, ${label}`,
      ...policies.map((policy) => formatMetric(meanOf(policy, name, i), unit)),
    ]),
  );
  const labels = policies.map(({ label }) => label);
  return (
    <Figure
      title="Which jobs pay: means by class"
      name={`classes-${metric.name}`}
      note={`Classes: ${classScheme}. ${empty.length === 0 ? "" : `Classes without jobs: ${empty.join("; ")}. `}${isWide(values) ? "The lengths of the bars are logarithmic, because the means differ by more than a factor of 50." : ""}`}
      table={{ headings: ["mean of", ...labels], rows }}
      csv={function* () {
        yield ["class", "jobs", "metric", "unit", ...labels];
        for (const { name, jobs, i } of withJobs)
          yield [name, jobs, metric.name, metric.unit, ...policies.map((one) => meanOf(one, metric.name, i))];
      }}
      svg={() =>
        lineFigureSvg({
          ...figureOf(
            `${metric.title}, means by class`,
            metric,
            withJobs.map(({ name }) => name),
            labels.map((name, p) => ({ name, values: groups.map(({ bars }) => bars[p].value) })),
          ),
          yScale: isWide(values) ? "log" : "linear",
        })
      }
      controls={<MetricSelect policies={policies} metric={metric} />}
    >
      <Bars groups={groups} text={(value) => textIn(value, unit)} />
    </Figure>
  );
}

/** Both charts show the metric that the user has chosen. */
function chosenMetric(policies: readonly ComparedPolicy[], usual: string): MetricSummary {
  const metrics = sharedMetrics(policies);
  const { metric: asked = usual } = address.value.query;
  return (
    metrics.find(({ name }) => name === asked) ?? metrics.find(({ name }) => name === usual) ?? metrics[0]
  );
}

function MetricSelect({ policies, metric }: PartProps & { readonly metric: MetricSummary }) {
  return (
    <Choice
      title="Metric"
      value={metric.name}
      options={sharedMetrics(policies).map(({ name, title }) => [name, title])}
      onChoose={(metric) => setQuery({ metric })}
    />
  );
}

/** The unit in which a chart shows these values; undefined for numbers without a unit. */
function unitOf({ unit }: MetricSummary, values: readonly number[]): TimeUnit | undefined {
  return unit === "s" ? durationColumn(values).unit : undefined;
}

function textIn(value: number, unit: TimeUnit | undefined): string {
  return unit === undefined ? formatNumber(value) : formatDuration(value, unit);
}

/** The bars as a figure for a file. */
function figureOf(
  title: string,
  metric: MetricSummary,
  categories: readonly string[],
  series: readonly { readonly name: string; readonly values: readonly number[] }[],
): ReproducedFigure {
  const unit = unitOf(
    metric,
    series.flatMap(({ values }) => values),
  );
  return {
    id: "",
    title,
    xAxis: "",
    yAxis: unit === undefined ? metric.title : `${metric.title} in ${unit.name}`,
    categories,
    series: series.map(({ name, values }) => ({
      name,
      ours: values.map((value, i) => [i + 1, value / (unit?.seconds ?? 1)] as const),
    })),
  };
}
