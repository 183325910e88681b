/**
 * Runs `tutti simulate` and `compare` on a wing: a system such as `sites:sizes=64,64:load=0.8` that has its
 * own jobs and policies.
 */

import { formatPercent, plural } from "@tutti/kernel/core/format.ts";
import { NONE } from "@tutti/kernel/core/policy.ts";
import type { Interval } from "@tutti/kernel/metrics/statistics.ts";
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { programText } from "@tutti/lab/report/ranking.ts";
import { intervalColumn, layoutOf, type TextColumn } from "@tutti/lab/report/replications.ts";
import { csvLine } from "@tutti/lab/report/text/csv.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import { filesOf, runOnWing, type WingComparison, type WingPolicyResult } from "@tutti/papers/on-wings.ts";
import type { WingChoice } from "@tutti/papers/wings/wings.ts";
import type { Command } from "commander";
import { asUsage, UsageError } from "../errors.ts";
import { withBar } from "../text/progress.ts";
import { policyTable, replicatedTables } from "../text/result-text.ts";
import { bold, dim, hint, leftColumn, rightColumn, table, wrap, writeOut } from "../text/text.ts";
import { type PolicyRun, requireAllFinished } from "./policy-run.ts";

/** Options that apply to a wing. All others are about the jobs of one machine. */
const WING_OPTIONS = ["policy", "replications", "workers", "seed", "audit", "progress", "json", "csv"];

/**
 * Runs the policies and prints the result.
 * @throws UsageError for an option or a policy that has no meaning there, CheckFailed if some jobs never
 *   ended
 */
export async function runWing(
  source: string,
  choice: WingChoice,
  options: PolicyRun,
  command: Command,
): Promise<void> {
  refuseOptions(choice, command);
  const { policies, seed, replications, workers, audit = false, explain } = options;
  if (explain !== undefined) {
    if (options.json)
      throw new UsageError(`Cannot use --json with --explain on "${choice.wing.name}": it is sentences only`);
    return explainJob(choice, policies[0], seed, explain);
  }
  const { wing, parameters } = choice;
  if (
    replications > 1 &&
    wing.parameters.some(({ name, kind }) => kind === "file" && parameters[name] !== NONE)
  )
    throw new UsageError("Cannot use --replications with a file: it is the same each time");
  const labels = await asUsage(() =>
    policies.map((policy) => chooseAmong(choice.wing.policies, policy).label),
  );
  const twice = labels.find((label, i) => labels.indexOf(label) < i);
  if (twice !== undefined)
    throw new UsageError(`Cannot use policy "${twice}" twice: expected different policies`);
  const experiment = { source, policies, seed, replications, isAudited: audit };
  const comparison = await withBar("runs", options.progress, (onDone) =>
    runOnWing(choice, experiment, { workers, onDone }),
  );
  if (audit) reportAudit(comparison);
  if (options.json) writeOut(jsonDocument("tutti.wing/1", comparison));
  else if (options.csv) writeOut(wingCsv(comparison));
  else writeOut(wingText(comparison));
  const unfinished = comparison.policies.map(({ label, runs }) => ({
    label,
    count: runs.reduce((sum, run) => sum + run.left, 0),
  }));
  requireAllFinished("ended", unfinished);
}

async function explainJob(chosen: WingChoice, policy: string, seed: number, job: string): Promise<void> {
  const { wing, parameters } = chosen;
  const choice = await asUsage(() => chooseAmong(wing.policies, policy));
  const lines = wing.explain!(parameters, choice, seed, job, filesOf(chosen));
  writeOut(lines.map((line) => `${wrap(line, 2)}\n`).join(""));
}

function refuseOptions({ wing, label }: WingChoice, command: Command): void {
  const options = wing.explain === undefined ? WING_OPTIONS : [...WING_OPTIONS, "explain"];
  for (const option of command.options) {
    const name = option.attributeName();
    if (options.includes(name) || command.getOptionValueSource(name) !== "cli") continue;
    throw new UsageError(
      `Cannot use ${option.long} with "${label}": this option is for the jobs of one machine, expected parameters as in ${wing.name}:NAME=VALUE; \`tutti list models ${wing.name}\` lists them`,
    );
  }
}

function reportAudit({ policies, seeds }: WingComparison): void {
  for (const { label, runs } of policies) {
    hint(`audit of ${label}: no rule is broken`);
    for (const [i, { checked }] of runs.entries())
      hint(`  seed ${seeds[i]}: ${checked}, and the same schedule in a second run`);
  }
}

function wingText(comparison: WingComparison): string {
  const { label, policies, seeds, made } = comparison;
  const [first] = policies;
  const [run] = first.runs;
  const jobs = seeds.length > 1 ? plural(seeds.length, "replication") : plural(run.jobs, "job");
  return [
    wrap(`${bold(label)}: ${jobs} on ${plural(run.processors, "processor")}`, 0),
    "",
    ...(policies.length === 1 ? onePolicy(first) : severalPolicies(policies)),
    "",
    dim(
      wrap(
        `seed ${seeds[0]}, workload ${run.workloadHash}, schedules ${policies.map(({ label, runs }) => `${label} ${runs[0].scheduleHash}`).join(", ")}`,
        2,
      ),
    ),
    dim(wrap(`${programText(made)}; --json states the rules in words`, 2)),
    "",
  ].join("\n");
}

/** A line per measure. All times have one unit. */
function onePolicy({ label, title, measures }: WingPolicyResult): string[] {
  const [{ mean, values }] = measures;
  const isReplicated = mean !== undefined;
  const times = measures.filter(({ unit }) => unit === "s");
  const timeTexts = columnOf("", times);
  const rows = measures.map((measure) => {
    if (measure.unit !== "s") return [measure.title, columnOf("", [measure]).texts[0]];
    return [`${measure.title}${timeTexts.heading}`, timeTexts.texts[times.indexOf(measure)]];
  });
  const results = table([leftColumn("measure"), rightColumn(isReplicated ? "mean" : "value")], rows);
  return [
    `${bold(label)}: ${title}`,
    "",
    ...(isReplicated ? replicatedTables(values.length, results) : [results]),
  ];
}

function severalPolicies(policies: readonly WingPolicyResult[]): string[] {
  const [first, ...others] = policies;
  const compared = first.measures.flatMap(({ isCompared }, i) => (isCompared ? [i] : []));
  const measured = (i: number) => policies.map(({ measures }) => measures[i]);
  const columns = compared.map((i, dropOrder) => ({
    ...columnOf(first.measures[i].title, measured(i)),
    dropOrder,
  }));
  const results = policyTable("policy", policies, columns);
  const [{ mean, values }] = first.measures;
  if (mean === undefined) return [results];
  const differences = compared.map((i, dropOrder) => ({
    ...differenceColumn(first.measures[i].title, measured(i)),
    dropOrder,
  }));
  return replicatedTables(
    values.length,
    results,
    policyTable(`difference from ${first.label}`, others, differences),
  );
}

type MeasureResult = WingPolicyResult["measures"][number];

/** Values of one unit as a column: of the only run, or means with intervals. */
function columnOf(title: string, measures: readonly MeasureResult[]): TextColumn {
  const unit = measures[0]?.unit ?? "1";
  const means = measures.flatMap(({ mean }) => mean ?? []);
  if (means.length > 0)
    return unit === "share" ? shareColumn(title, means) : intervalColumn({ title, unit }, means);
  const values = measures.map((measure) => measure.values[0]);
  if (unit === "share") return { heading: title, texts: values.map(formatPercent) };
  const { heading, format } = layoutOf(unit, title, values);
  return { heading, texts: values.map(format) };
}

/** Differences from the first, in the unit of the means. */
function differenceColumn(title: string, measures: readonly MeasureResult[]): TextColumn {
  const [{ unit }, ...others] = measures;
  const differences = others.flatMap(({ difference }) => difference ?? []);
  if (unit === "share") return shareColumn(title, differences);
  const means = measures.map(({ mean }) => mean);
  return intervalColumn({ title, unit }, differences, means);
}

function shareColumn(title: string, intervals: readonly Interval[]): TextColumn {
  return {
    heading: title,
    texts: intervals.map(({ mean, half }) => `${formatPercent(mean)} ± ${formatPercent(half)}`),
  };
}

/**
 * One line per policy, seed and measure, with a heading. Each line names the workload and policy that it was
 * made from.
 */
function wingCsv({ label: source, policies, seeds, made }: WingComparison): string {
  const lines = policies.flatMap(({ label, runs }) =>
    runs.flatMap(({ measures, jobs, processors, workloadHash, scheduleHash }, r) =>
      measures.map(({ name, unit, value }) =>
        csvLine([
          ...[label, seeds[r], name, unit, value, source, jobs, processors],
          ...[workloadHash, scheduleHash, made.version, made.revision],
        ]),
      ),
    ),
  );
  return `policy,seed,metric,unit,value,workload,jobs,processors,workload_hash,schedule_hash,version,revision\n${lines.join("")}`;
}
