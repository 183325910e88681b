/**
 * Formats results as tables: one policy in full, several side by side, or replications with their confidence
 * intervals.
 */
import type { Diagnostics } from "@tutti/kernel/core/diagnostics.ts";
import {
  columnFormatter,
  durationColumn,
  formatCount,
  formatMetric,
  formatNumber,
  formatPercent,
  plural,
} from "@tutti/kernel/core/format.ts";
import { type MetricSummary, metricOf, type Summary } from "@tutti/kernel/metrics/summary.ts";
import { diagnosticText } from "@tutti/lab/jobs-in-words.ts";
import { findings, programText, rankingCells, rankingColumns } from "@tutti/lab/report/ranking.ts";
import {
  differenceColumns,
  longestWaitColumn,
  meanColumns,
  type TextColumn,
} from "@tutti/lab/report/replications.ts";
import { ruleSettings } from "@tutti/lab/report/text/csv.ts";
import { displayWidth } from "@tutti/lab/report/text/table.ts";
import { VERDICT_CAUTION, verdictSentence } from "@tutti/lab/report/text/verdict-text.ts";
import type { ComparedPolicy, Comparison } from "@tutti/lab/results/comparison.ts";
import { bold, bullet, dim, leftColumn, rightColumn, table, wrap } from "./text.ts";

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

/** All times of the table have one unit, so that waits and responses can be compared. */
function metricsTable({ metrics }: Summary): string {
  const valuesOf = ({ all }: MetricSummary) => [
    ...[all.mean, all.median, all.p90, all.p95, all.p99, all.max, all.areaWeightedMean],
  ];
  const times = durationColumn(metrics.flatMap((metric) => (metric.unit === "s" ? valuesOf(metric) : [])));
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
    metrics.map((metric) => {
      const { title, unit, all } = metric;
      const isTime = unit === "s";
      const values = valuesOf(metric);
      const texts = values.map(isTime ? times.format : formatNumber);
      return [
        isTime ? times.heading(title) : title,
        ...texts.slice(0, -1),
        all.maxJobId < 0 ? "–" : String(all.maxJobId),
        texts.at(-1)!,
      ];
    }),
  );
}

function classesTable(summary: Summary): string {
  const valuesOf = (name: string, statistic: "mean" | "max") => {
    const { byClass } = metricOf(summary, name);
    return summary.classes.map((_, i) => byClass[i]?.[statistic] ?? Number.NaN);
  };
  const [means, longest] = [valuesOf("wait", "mean"), valuesOf("wait", "max")];
  const [meanColumn, longestColumn] = [durationColumn(means), durationColumn(longest)];
  const slowdowns = valuesOf("bounded-slowdown", "mean");
  const slowdownText = columnFormatter(slowdowns);
  return table(
    [
      leftColumn(summary.classScheme),
      rightColumn("jobs"),
      rightColumn(meanColumn.heading("mean wait")),
      rightColumn(longestColumn.heading("longest wait"), 1),
      rightColumn("bounded slowdown", 2),
    ],
    summary.classes.map(({ label, jobs }, i) => [
      label,
      formatCount(jobs),
      meanColumn.format(means[i]),
      longestColumn.format(longest[i]),
      slowdownText(slowdowns[i]),
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
  const verdict = verdictLines(comparison.policies);
  return [heading(comparison), "", ...parts, "", ...footer(comparison), ...verdict, ""].join("\n");
}

/** What each policy would have done with the history of a site. */
function verdictLines(policies: readonly ComparedPolicy[]): string[] {
  const sentences = policies.flatMap(({ label, verdict }) =>
    verdict === undefined ? [] : [verdictSentence(label, verdict)],
  );
  if (sentences.length === 0) return [];
  return ["", bold("Verdict"), ...[...sentences, VERDICT_CAUTION].map(bullet)];
}

function rankingTable(policies: readonly ComparedPolicy[]): string[] {
  const columns = rankingColumns(policies);
  const cells = columns.map((column) => {
    const ofColumn = rankingCells(column, policies);
    return withRemarks(
      ofColumn.map(({ text }) => text),
      ofColumn.map(({ remark }) => remark),
    );
  });
  const ranking = table(
    [leftColumn("policy"), ...columns.map(({ heading, dropOrder }) => rightColumn(heading, dropOrder))],
    policies.map(({ label }, row) => [label, ...cells.map((column) => column[row])]),
  );
  return [ranking, "", ...findings(policies).map((sentence) => wrap(sentence, 0))];
}

/** Texts that may end in a remark in parentheses, padded on the right so that their digits line up. */
function withRemarks(texts: readonly string[], remarks: readonly string[]): string[] {
  const inParentheses = remarks.map((remark) => (remark === "" ? "" : ` (${remark})`));
  const width = Math.max(...inParentheses.map(displayWidth));
  return texts.map((text, i) => text + inParentheses[i].padEnd(width));
}

function replicationTables(policies: readonly ComparedPolicy[]): string[] {
  const [first, ...others] = policies as readonly [ComparedPolicy, ...ComparedPolicy[]];
  const longest = longestWaitColumn(policies);
  const means = policyTable("policy", policies, [
    ...meanColumns(policies),
    { ...longest, texts: withRemarks(longest.texts, longest.remarks), dropOrder: 1 },
  ]);
  const count = first.replications?.length ?? 0;
  if (others.length === 0) return replicatedTables(count, means);
  const differences = policyTable(`difference from ${first.label}`, others, differenceColumns(policies));
  return replicatedTables(count, means, differences);
}

/** A line per policy. */
export function policyTable(
  heading: string,
  policies: readonly { readonly label: string }[],
  columns: readonly (TextColumn & { readonly dropOrder?: number })[],
): string {
  return table(
    [leftColumn(heading), ...columns.map((column) => rightColumn(column.heading, column.dropOrder))],
    policies.map(({ label }, row) => [label, ...columns.map(({ texts }) => texts[row])]),
  );
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

/** What was repaired, dropped or noted in the workload, one line each. */
export function diagnosticLines(diagnostics: Diagnostics): string[] {
  return diagnostics.map((diagnostic) => wrap(diagnosticText(diagnostic), 2));
}
