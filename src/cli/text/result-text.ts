/** Results as tables: one policy in full, several side by side, and replications with their intervals. */
import type { Diagnostics } from "../../core/diagnostics.ts";
import { metricOf, type Summary } from "../../metrics/summary.ts";
import { findings, programText, rankingCells, rankingColumns, ruleSettings } from "../../report/ranking.ts";
import {
  differenceTexts,
  longestWaitText,
  MAX_WAIT,
  meanTexts,
  REPLICATED,
} from "../../report/replications.ts";
import { formatCount, formatMetric, formatNumber, formatPercent, plural } from "../../report/text/format.ts";
import type { ComparedPolicy, Comparison } from "../../results/comparison.ts";
import { bold, dim, leftColumn, rightColumn, table, wrap } from "./text.ts";

/** One policy in full: every metric, every class. */
export function simulationText(comparison: Comparison): string {
  const { label, title, summary } = comparison.policies[0] as ComparedPolicy;
  return [
    heading(comparison),
    `${bold(label)}: ${title}`,
    "",
    metricsTable(summary),
    "",
    classesTable(summary),
    "",
    ...machineLines(summary),
    "",
    ...footer(comparison),
    "",
  ].join("\n");
}

function metricsTable(summary: Summary): string {
  return table(
    [
      leftColumn(""),
      rightColumn("mean"),
      rightColumn("median", 2),
      rightColumn("p90", 4),
      rightColumn("p95", 2),
      rightColumn("p99", 3),
      rightColumn("longest"),
      rightColumn("of job", 1),
      rightColumn("area-weighted", 5),
    ],
    summary.metrics.map(({ title, unit, all }) => [
      title,
      ...[all.mean, all.median, all.p90, all.p95, all.p99, all.max].map((value) => formatMetric(value, unit)),
      all.maxJobId < 0 ? "–" : String(all.maxJobId),
      formatMetric(all.areaWeightedMean, unit),
    ]),
  );
}

function classesTable(summary: Summary): string {
  const wait = metricOf(summary, "wait").byClass;
  const slowdown = metricOf(summary, "bounded-slowdown").byClass;
  return table(
    [
      leftColumn(summary.classScheme),
      rightColumn("jobs"),
      rightColumn("mean wait"),
      rightColumn("longest wait", 1),
      rightColumn("bounded slowdown", 2),
    ],
    summary.classes.map(({ label, jobs }, i) => [
      label,
      formatCount(jobs),
      formatMetric(wait[i]?.mean ?? Number.NaN, "s"),
      formatMetric(wait[i]?.max ?? Number.NaN, "s"),
      formatNumber(slowdown[i]?.mean ?? Number.NaN),
    ]),
  );
}

function machineLines({ machine, jobs, gang, starts }: Summary): string[] {
  const lines = [
    `utilisation ${formatPercent(machine.utilisation)}, offered load ${formatPercent(machine.offeredLoad)}, makespan ${formatMetric(machine.makespanS, "s")}`,
    endsText(jobs),
  ];
  if (gang !== undefined) {
    lines.push(
      `rows of the matrix: ${formatNumber(gang.meanRows)} on average (n_a), at most ${gang.maxRows} (n_l); active ratio (r_a) ${formatNumber(gang.activeRatio)}`,
    );
  }
  if (gang !== undefined && gang.migrations > 0) {
    lines.push(
      `migrations: ${formatCount(gang.migrations)}, which cost gangs ${formatMetric(gang.migrationS, "s")} of service`,
    );
  }
  if (starts.length > 0) {
    lines.push(`starts: ${starts.map(({ name, count }) => `${formatCount(count)} ${name}`).join(", ")}`);
  }
  return lines.map((line) => wrap(line, 2));
}

function endsText({ total, ended, killed, neverStarted }: Summary["jobs"]): string {
  const all = total === 1 ? "the job ended" : `all ${formatCount(total)} jobs ended`;
  const parts = [ended === total ? all : `${formatCount(ended)} of ${plural(total, "job")} ended`];
  if (killed > 0) parts.push(`${formatCount(killed)} of them killed at their estimate`);
  if (neverStarted > 0) parts.push(`${formatCount(neverStarted)} never started`);
  return parts.join(", ");
}

/** One line per policy; with replications, intervals and differences from the first policy. */
export function comparisonText(comparison: Comparison): string {
  const isReplicated = comparison.policies[0]?.replications !== undefined;
  const parts = isReplicated ? replicationTables(comparison.policies) : rankingTable(comparison.policies);
  return [heading(comparison), "", ...parts, "", ...footer(comparison), ""].join("\n");
}

function rankingTable(policies: readonly ComparedPolicy[]): string[] {
  const columns = rankingColumns(policies);
  const cells = columns.map((column) => rankingCells(column, policies));
  const ranking = table(
    [leftColumn("policy"), ...columns.map(({ title, dropOrder }) => rightColumn(title, dropOrder))],
    policies.map(({ label }, row) => [
      label,
      ...cells.map((column) => {
        const { text, remark } = column[row];
        return remark === "" ? text : `${text} (${remark})`;
      }),
    ]),
  );
  return [ranking, "", ...findings(policies).map((sentence) => wrap(sentence, 0))];
}

function replicationTables(policies: readonly ComparedPolicy[]): string[] {
  const [first] = policies as readonly [ComparedPolicy];
  const headings = REPLICATED.map(({ title }) => rightColumn(title));
  const means = table(
    [leftColumn("policy"), ...headings, rightColumn(MAX_WAIT, 1)],
    policies.map((policy) => [policy.label, ...meanTexts(policy), longestWaitText(policy)]),
  );
  const differences = table(
    [leftColumn(`difference from ${first.label}`), ...headings],
    policies.slice(1).map((policy) => [policy.label, ...differenceTexts(policy, first)]),
  );
  const count = first.replications?.length ?? 0;
  return replicatedTables(count, means, policies.length === 1 ? undefined : differences);
}

/** Means and differences from the first policy, with notes on how to read them. */
export function replicatedTables(count: number, means: string, differences?: string): string[] {
  const parts = [means, dim(wrap(`means of ${count} replications, with 95 % confidence intervals`, 0))];
  if (differences === undefined) return parts;
  const note =
    "all policies get the same jobs in each replication; two policies differ if the interval excludes 0";
  return [...parts, "", differences, dim(wrap(note, 0))];
}

function heading({ instance }: Comparison): string {
  const jobs = `${plural(instance.count, "job")} on ${plural(instance.processors, "processor")}`;
  return wrap(`${bold(instance.workload.name)}: ${jobs}`, 0);
}

/**
 * Diagnostics, rules and provenance, shown with every result. Rules are shown as settings; JSON and the
 * report state them in words.
 */
function footer({ instance, workloadHash, seed, rules, policies, made }: Comparison): string[] {
  const isReplicated = policies[0]?.replications !== undefined;
  const schedules = policies.map(({ label, scheduleHash }) => `${label} ${scheduleHash}`).join(", ");
  const lines = [
    `made with ${ruleSettings(rules)}`,
    `workload ${workloadHash}, schedules ${schedules}${isReplicated ? `; these are the hashes of seed ${seed}, --json and --csv have those of every seed` : ""}`,
    `${programText(made)}; --json and --html state the rules in words`,
  ];
  return [
    ...diagnosticLines([...instance.workload.diagnostics, ...instance.diagnostics]),
    ...lines.map((line) => dim(wrap(line, 2))),
  ];
}

/** What was repaired, dropped or noted, one line each. */
export function diagnosticLines(diagnostics: Diagnostics): string[] {
  return diagnostics.map(({ action, count, message, examples }) => {
    const [first] = examples;
    const place = first?.line === undefined ? first?.job && `job ${first.job}` : `line ${first.line}`;
    return wrap(`${action} ${formatCount(count)}: ${message}${place ? ` (first: ${place})` : ""}`, 2);
  });
}
