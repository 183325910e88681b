/** `tutti simulate TRACE --policy P`: one policy, in full. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { openExperiment, runExperiment } from "../../lab/experiments/run.ts";
import { chooseWing } from "../../lab/experiments/wings.ts";
import type { Comparison } from "../../results/comparison.ts";
import { asUsage } from "../errors.ts";
import {
  addOutputOptions,
  addRunOptions,
  makeExperiment,
  type OutputOptions,
  RUN_HELP,
  type RunOptions,
} from "../options/options.ts";
import { checkOutputs } from "../options/output-paths.ts";
import { integer } from "../options/parse.ts";
import { checkStarted, commandLine, writeResult } from "../text/print-result.ts";
import { Progress } from "../text/progress.ts";
import { simulationText } from "../text/result-text.ts";
import { hint } from "../text/text.ts";

interface SimulateOptions extends RunOptions, OutputOptions {
  readonly policy: string;
  readonly swf?: string;
  readonly explain?: number;
}

export function configure(command: Command): void {
  command
    .argument("<trace>", RUN_HELP)
    .requiredOption(
      "--policy <policy>",
      "name:parameter=value, or a file with a policy of your own; see tutti policies",
      onePolicy,
    );
  addRunOptions(command);
  addOutputOptions(command)
    .addOption(
      new Option("--explain <job>", "say why this job started when it did, instead of the table")
        .argParser(integer(0))
        .conflicts(["csv", "html"]),
    )
    .option("--swf <file>", "also write the schedule as SWF, the waits filled in")
    .action(run);
}

function onePolicy(text: string, before: string | undefined): string {
  if (before === undefined) return text;
  throw new InvalidArgumentError("Expected one policy; tutti compare takes several.");
}

async function run(source: string, options: SimulateOptions, command: Command): Promise<void> {
  const wing = await asUsage(() => chooseWing(source));
  if (wing !== undefined) {
    const { runWing } = await import("../text/wing-run.ts");
    const alone = { ...options, policies: [options.policy], replications: 1, workers: 1 };
    return runWing(source, wing, alone, command);
  }
  await checkOutputs(source, { "--html": options.html, "--swf": options.swf });
  const experiment = await makeExperiment(source, [options.policy], options);
  const opened = await openExperiment(experiment, 1);
  if (options.audit)
    await (await import("../text/audit.ts")).auditPolicies(experiment, opened, [options.policy]);
  const progress = new Progress("jobs", options.progress);
  const comparison = await runExperiment(experiment, {
    policies: [options.policy],
    replications: 1,
    workers: 1,
    command: commandLine(command),
    recordMatrix: options.html !== undefined,
    opened,
    progress: (arrived, of) => progress.update(arrived, of),
  }).finally(() => progress.end());
  if (options.swf !== undefined) await writeSchedule(options.swf, comparison);
  if (options.explain === undefined) return writeResult(comparison, options, simulationText);
  const { policy, explain: job, slot, switch: switchS, json = false } = options;
  const { writeExplanation } = await import("../text/explain.ts");
  await writeExplanation(comparison.instance, { policy, job, slot, switch: switchS, json });
  checkStarted(comparison);
}

async function writeSchedule(path: string, comparison: Comparison): Promise<void> {
  const [{ writeScheduleSwf }, { writeOutput }] = await Promise.all([
    import("../../workload/traces/swf-writer.ts"),
    import("../../lab/files/write-whole.ts"),
  ]);
  const { instance, policies, rules, workloadHash, made } = comparison;
  for (const { label, rules: own, schedule, scheduleHash } of policies) {
    const notes = [
      `policy ${label}`,
      ...own,
      ...rules,
      `workload ${workloadHash}, schedule ${scheduleHash}`,
      `tutti ${made.version}, revision ${made.revision}`,
    ];
    await writeOutput(path, writeScheduleSwf(instance, schedule, notes));
  }
  if (!path.startsWith("/dev/")) hint(`The schedule is in ${path}`);
}
