/** What `simulate` and `compare` do with a result: the report, then the table, JSON or CSV. */
import type { Command } from "commander";
import { formatCount } from "../../report/text/format.ts";
import type { Comparison } from "../../results/comparison.ts";
import { CheckFailed } from "../errors.ts";
import type { OutputOptions } from "../options/options.ts";
import { hint, plural, writeOut } from "./text.ts";

/** Options that do not decide the result. */
const BESIDE_THE_POINT = ["json", "csv", "html", "swf", "workers", "progress", "audit"];

export async function writeResult(
  comparison: Comparison,
  options: OutputOptions,
  text: (comparison: Comparison) => string,
): Promise<void> {
  if (options.html !== undefined) {
    const { writeReport } = await import("../../lab/files/write-report.ts");
    await writeReport(options.html, comparison);
    hint(`The report is in ${options.html}`);
  }
  if (options.json) {
    const { comparisonJson } = await import("../../report/text/json.ts");
    writeOut(comparisonJson(comparison));
  } else if (options.csv) {
    const { summariesCsv } = await import("../../report/text/csv.ts");
    writeOut(summariesCsv(comparison));
  } else writeOut(text(comparison));
  tellWindow(comparison);
  checkStarted(comparison);
}

/** The shares alone do not say how few jobs are left. */
function tellWindow({ policies, instance }: Comparison): void {
  const window = policies[0]?.summary.window;
  if (window === undefined || window.countedJobs === instance.count) return;
  hint(
    `Of ${plural(instance.count, "job")} ${formatCount(window.countedJobs)} ${window.countedJobs === 1 ? "is" : "are"} counted`,
  );
}

/**
 * A policy that leaves jobs waiting for ever has not run the workload, and its means are of the other jobs.
 * @throws CheckFailed when any policy has done so, all of them being told
 */
export function checkStarted({ policies }: Comparison): void {
  let isComplete = true;
  for (const { label, summary, replications = [summary] } of policies) {
    const left = replications.reduce((sum, { jobs }) => sum + jobs.neverStarted, 0);
    if (left === 0) continue;
    isComplete = false;
    hint(`tutti: ${label} never started ${plural(left, "job")}: the numbers above are of the others`);
  }
  if (!isComplete) throw new CheckFailed("jobs were never started");
}

/** The command that makes the same result again: the verb, what was given to it, and the options that matter. */
export function commandLine(command: Command): string {
  const options = command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .filter((option) => !BESIDE_THE_POINT.includes(option.attributeName()))
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

/** For a shell. */
function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
