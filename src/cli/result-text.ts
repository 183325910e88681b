/** Results of an experiment as tables for people, as CSV and as JSON. */
import type { Diagnostics } from "../core/diagnostics.ts";
import type { ExperimentResult, PolicyRun } from "../lab/run.ts";
import { confidenceInterval, pairedDifference } from "../metrics/statistics.ts";
import { type MetricSummary, metricOf, type Summary } from "../metrics/summary.ts";
import { bold, columns, dim, wrap } from "./text.ts";

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Three significant digits or all digits before the point; a dash where there is no value. */
export function number(value: number): string {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return grouped.format(value);
  return size >= 100 ? value.toFixed(1) : value.toFixed(2);
}

function percent(value: number): string {
  return Number.isNaN(value) ? "–" : `${(100 * value).toFixed(1)} %`;
}

/** One policy in full: every metric, every class. */
export function simulationTable(result: ExperimentResult): string {
  const run = result.runs[0]?.[0] as PolicyRun;
  const { summary } = run;
  const metrics = columns(
    ["", "mean", "median", "p90", "p95", "p99", "longest", "of job", "area-weighted"],
    summary.metrics.map(({ title, unit, all }) => [
      unit === "s" ? `${title}, s` : title,
      ...[all.mean, all.median, all.p90, all.p95, all.p99, all.max].map(number),
      all.maxJobId < 0 ? "–" : String(all.maxJobId),
      number(all.areaWeightedMean),
    ]),
  );
  const classes = columns(
    [summary.classScheme, "jobs", "mean wait, s", "longest wait, s", "mean bounded slowdown"],
    summary.classes.map(({ label, jobs }, i) => [
      label,
      String(jobs),
      number(metricOf(summary, "wait").byClass[i]?.mean ?? Number.NaN),
      number(metricOf(summary, "wait").byClass[i]?.max ?? Number.NaN),
      number(metricOf(summary, "bounded-slowdown").byClass[i]?.mean ?? Number.NaN),
    ]),
  );
  return [
    heading(result),
    `${bold(run.policy)}: ${run.title}`,
    "",
    metrics,
    "",
    classes,
    "",
    ...machineLines(summary),
    "",
    ...footer(result),
    "",
  ].join("\n");
}

function machineLines(summary: Summary): string[] {
  const { machine, jobs, gang, starts } = summary;
  const lines = [
    `utilisation ${percent(machine.utilisation)}, offered load ${percent(machine.offeredLoad)}, makespan ${number(machine.makespanS)} s`,
    `jobs: ${jobs.total} simulated, ${jobs.ended} ended, ${jobs.killed} killed at their estimate, ${jobs.neverStarted} never started`,
  ];
  if (gang !== undefined) {
    lines.push(
      `rows of the matrix: ${gang.meanRows.toFixed(2)} on average (n_a), at most ${gang.maxRows} (n_l); active ratio r_a ${gang.activeRatio.toFixed(3)}`,
    );
  }
  if (starts.length > 0)
    lines.push(`starts: ${starts.map(({ name, count }) => `${count} ${name}`).join(", ")}`);
  return lines;
}

/** One line per policy; with replications, intervals and differences from the first policy. */
export function comparisonTable(result: ExperimentResult): string {
  const parts = result.seeds.length === 1 ? [singleTable(result)] : replicatedTables(result);
  return [heading(result), "", ...parts, "", ...footer(result), ""].join("\n");
}

function singleTable(result: ExperimentResult): string {
  return columns(
    ["policy", "mean wait, s", "median", "p95", "longest", "of job", "bounded slowdown", "utilisation"],
    result.runs.map(([run]) => {
      const { policy, summary } = run as PolicyRun;
      const wait = metricOf(summary, "wait").all;
      return [
        policy,
        number(wait.mean),
        number(wait.median),
        number(wait.p95),
        number(wait.max),
        wait.maxJobId < 0 ? "–" : String(wait.maxJobId),
        number(metricOf(summary, "bounded-slowdown").all.mean),
        percent(summary.machine.utilisation),
      ];
    }),
  );
}

/** What replications are compared by. */
const COMPARED: readonly { readonly title: string; value(summary: Summary): number }[] = [
  { title: "mean wait, s", value: (summary) => metricOf(summary, "wait").all.mean },
  { title: "longest wait, s", value: (summary) => metricOf(summary, "wait").all.max },
  { title: "bounded slowdown", value: (summary) => metricOf(summary, "bounded-slowdown").all.mean },
];

function replicatedTables(result: ExperimentResult): string[] {
  const names = result.runs.map(([run]) => (run as PolicyRun).policy);
  const values = COMPARED.map(({ value }) =>
    result.runs.map((runs) => runs.map(({ summary }) => value(summary))),
  );
  const interval = ({ mean, half }: { mean: number; half: number }) => `${number(mean)} ± ${number(half)}`;
  const means = columns(
    ["policy", ...COMPARED.map(({ title }) => title)],
    names.map((name, p) => [name, ...values.map((of) => interval(confidenceInterval(of[p] as number[])))]),
  );
  const parts = [means, dim(`means of ${result.seeds.length} replications with 95 % confidence intervals`)];
  if (names.length > 1) {
    const differences = columns(
      [`difference from ${names[0]}`, ...COMPARED.map(({ title }) => title)],
      names
        .slice(1)
        .map((name, i) => [
          name,
          ...values.map((of) => interval(pairedDifference(of[i + 1] as number[], of[0] as number[]))),
        ]),
    );
    parts.push(
      "",
      differences,
      dim("the same jobs for every policy in each replication; 0 outside the interval means they differ"),
    );
  }
  return parts;
}

function heading({ workload, processors, seeds }: ExperimentResult): string {
  const replications = seeds.length > 1 ? `, ${seeds.length} replications` : "";
  return `${bold(workload.name)}: ${grouped.format(workload.jobs)} jobs on ${grouped.format(processors)} processors${replications}`;
}

/** Rules, diagnostics and provenance: with every result. */
function footer({ workload, rules, seeds, tutti, runs }: ExperimentResult): string[] {
  const hashes = runs.map(([run]) => `${run?.policy} ${run?.scheduleHash}`).join(", ");
  return [
    ...diagnosticLines(workload.diagnostics),
    dim("made with"),
    ...rules.map((rule) => dim(`  ${wrap(rule, 4)}`)),
    dim(`  workload ${workload.hash}, seed ${seeds[0]}; schedules: ${hashes}`),
    dim(`  tutti ${tutti.version}, revision ${tutti.revision}`),
  ];
}

/** What was repaired or dropped, one line each. */
export function diagnosticLines(diagnostics: Diagnostics): string[] {
  return diagnostics.map(({ action, count, message, examples }) => {
    const [first] = examples;
    const place =
      first?.line !== undefined
        ? ` (first: line ${first.line})`
        : first?.job !== undefined
          ? ` (first: job ${first.job})`
          : "";
    return wrap(`${action} ${grouped.format(count)}: ${message}${place}`, 2);
  });
}

/** One line per policy, seed, metric and class. */
export function resultCsv(result: ExperimentResult): string {
  const lines = [
    "policy,seed,metric,unit,class,jobs,mean,sd,median,p90,p95,p99,max,max_job,area_weighted_mean",
  ];
  for (const run of result.runs.flat()) {
    for (const metric of run.summary.metrics) lines.push(...metricLines(run, metric));
  }
  return `${lines.join("\n")}\n`;
}

function metricLines({ policy, seed, summary }: PolicyRun, metric: MetricSummary): string[] {
  const rows = [
    { name: "all", of: metric.all },
    ...metric.byClass.map((of, i) => ({ name: summary.classes[i]?.name, of })),
  ];
  return rows.map(({ name, of }) =>
    [
      quoted(policy),
      seed,
      metric.name,
      metric.unit,
      name,
      of.count,
      ...[of.mean, of.sd, of.median, of.p90, of.p95, of.p99, of.max].map(plain),
      of.maxJobId < 0 ? "" : of.maxJobId,
      plain(of.areaWeightedMean),
    ].join(","),
  );
}

function plain(value: number): string {
  return Number.isNaN(value) ? "" : String(value);
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Everything but the schedules themselves. */
export function resultJson(result: ExperimentResult): string {
  const withoutSchedule = (run: PolicyRun) => ({ ...run, schedule: undefined });
  return `${JSON.stringify({ ...result, runs: result.runs.map((runs) => runs.map(withoutSchedule)) }, undefined, 2)}\n`;
}
