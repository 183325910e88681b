/**
 * The common part of `simulate` and `compare`: runs the policies, writes the report, and prints a table, JSON
 * or CSV.
 */

import { formatCount, plural } from "@tutti/kernel/core/format.ts";
import { AUDIT_RULES } from "@tutti/lab/audit/checker.ts";
import type { Experiment } from "@tutti/lab/experiments/comparison-of.ts";
import type { OpenedJobs } from "@tutti/lab/experiments/inputs.ts";
import { openExperiment, requireUsablePolicies, runExperiment } from "@tutti/lab/experiments/run.ts";
import { runCells } from "@tutti/lab/experiments/run-cells.ts";
import type { Comparison } from "@tutti/lab/results/comparison.ts";
import { quoted } from "@tutti/words/command-line.ts";
import type { Command } from "commander";
import { CheckFailed } from "../errors.ts";
import { checkOutputs, makeExperiment, type OutputOptions, type RunOptions } from "../options/options.ts";
import { withBar } from "../text/progress.ts";
import { hint, writeOut } from "../text/text.ts";

export interface PolicyRun extends RunOptions, OutputOptions {
  readonly policies: readonly string[];
  readonly replications: number;
  readonly workers: number;
  readonly swf?: string;
  /** The job to explain. */
  readonly explain?: string;
}

/** Options that have no influence on the result. */
const IRRELEVANT_OPTIONS = ["json", "csv", "html", "swf", "workers", "progress", "audit"];

/**
 * Runs the policies over the jobs of one machine; with --audit, first under the checker.
 * @param counted the unit of the progress bar
 */
export async function runPolicies(
  source: string,
  options: PolicyRun,
  counted: "jobs" | "runs",
  command: Command,
): Promise<Comparison> {
  const { policies, replications, workers, html, swf } = options;
  await checkOutputs(source, { "--html": html, "--swf": swf });
  const experiment = await makeExperiment(source, policies, options);
  const opened = await openExperiment(experiment, replications);
  const audited = options.audit ? await auditPolicies(experiment, opened, options) : undefined;
  const comparison = await withBar(counted, options.progress, (update) =>
    runExperiment(experiment, {
      ...{ policies, replications, workers, opened },
      command: commandLine(command),
      recordMatrix: html !== undefined,
      ...(counted === "jobs" ? { progress: update } : { onDone: update }),
    }),
  );
  if (audited !== undefined) requireAudited(comparison, audited);
  return comparison;
}

/**
 * Reports on standard error what was checked: for every policy and every seed, since each of these runs is
 * part of the result.
 * @returns the hashes of the schedules, by seed and then by policy
 * @throws CheckFailed after the first policy that breaks a rule
 */
async function auditPolicies(
  experiment: Experiment,
  opened: OpenedJobs,
  { policies, replications }: PolicyRun,
): Promise<string[][]> {
  const { auditLines } = await import("@tutti/lab/audit/audit.ts");
  await requireUsablePolicies(experiment, { policies, replications, opened });
  const { window: _, parameters: __, ...machine } = experiment;
  const hashes: string[][] = [];
  for (let r = 0; r < replications; r++) {
    const source = { ...machine.source, seed: machine.source.seed + r };
    const ofSeed: string[] = [];
    for (const policy of policies) {
      const cell = { kind: "audit", ...machine, source, policy } as const;
      const [result] = await runCells([cell], { workers: 1, opened });
      const label = replications === 1 ? result.label : `${result.label}, seed ${source.seed}`;
      for (const line of auditLines(label, result)) hint(line);
      if (!result.ok) throw new CheckFailed(`${label} breaks a rule`);
      ofSeed.push(result.scheduleHash!);
    }
    hashes.push(ofSeed);
  }
  return hashes;
}

/**
 * A policy could behave while it is checked and not when its result is made: the schedules must be the same.
 * @throws CheckFailed if they are not, before anything is printed
 */
function requireAudited({ policies }: Comparison, audited: readonly (readonly string[])[]): void {
  for (const [p, { label, scheduleHash, replicationHashes }] of policies.entries()) {
    for (const [r, { [p]: hash }] of audited.entries()) {
      const made = replicationHashes?.[r].schedule ?? scheduleHash;
      if (made === hash) continue;
      hint(`audit of ${label}: rule "other-run" is broken`);
      hint(`  the rule: ${AUDIT_RULES["other-run"]}`);
      hint(`  The schedule that was checked has the hash ${hash}, that of the result ${made}`);
      throw new CheckFailed(`${label} breaks a rule`);
    }
  }
}

export async function writeResult(
  comparison: Comparison,
  options: OutputOptions,
  text: (comparison: Comparison) => string,
): Promise<void> {
  if (options.html !== undefined) {
    const { writeReport } = await import("@tutti/lab/files/lab-page.ts");
    await writeReport(options.html, comparison);
    hint(`The report is in ${options.html}`);
  }
  if (options.json) {
    const { comparisonJson } = await import("@tutti/lab/report/text/json.ts");
    writeOut(comparisonJson(comparison));
  } else if (options.csv) {
    const { summariesCsv } = await import("@tutti/lab/report/text/csv.ts");
    writeOut(summariesCsv(comparison));
  } else writeOut(text(comparison));
  reportWindow(comparison);
  checkStarted(comparison);
}

/** Reports the number of counted jobs, because the shares of --warmup and --cooldown do not show it. */
function reportWindow({ policies, instance }: Comparison): void {
  const window = policies[0]?.summary.window;
  if (window === undefined || window.countedJobs === instance.count) return;
  hint(
    `${formatCount(window.countedJobs)} of ${plural(instance.count, "job")} ${window.countedJobs === 1 ? "is" : "are"} counted`,
  );
}

/**
 * A policy that never starts some jobs has not run the workload: its means cover only the other jobs.
 * @throws CheckFailed when some policy has done so, after reporting all such policies
 */
export function checkStarted({ policies }: Comparison): void {
  const unfinished = policies.map(({ label, summary, replications = [summary] }) => ({
    label,
    count: replications.reduce((sum, { jobs }) => sum + jobs.neverStarted, 0),
  }));
  requireAllFinished("started", unfinished);
}

/** @throws CheckFailed when some policy has unfinished jobs, after reporting all such policies */
export function requireAllFinished(
  done: "started" | "ended",
  unfinished: readonly { readonly label: string; readonly count: number }[],
): void {
  const failed = unfinished.filter(({ count }) => count > 0);
  for (const { label, count } of failed)
    hint(
      `tutti: ${label} never ${done} ${plural(count, "job")}: the numbers above cover only the other jobs`,
    );
  if (failed.length > 0) throw new CheckFailed(`jobs were never ${done}`);
}

/**
 * The command line that makes the same result again: the command with its arguments and the options that
 * influence the result.
 */
function commandLine(command: Command): string {
  const options = command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .filter((option) => !IRRELEVANT_OPTIONS.includes(option.attributeName()))
    .flatMap((option) => [
      option.long ?? option.flags,
      optionText(command.getOptionValue(option.attributeName())),
    ]);
  return ["tutti", command.name(), ...command.args, ...options].map(quoted).join(" ");
}

function optionText(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" && value !== null && "seconds" in value
    ? String(value.seconds)
    : String(value);
}
