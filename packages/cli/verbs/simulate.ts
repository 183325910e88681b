/** `tutti simulate TRACE --policy P`: simulates one policy and prints all its results. */

import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import type { Comparison } from "@tutti/lab/results/comparison.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { checkStarted, writeResult } from "../experiments/policy-run.ts";
import { jobNumber, runSource } from "../experiments/source-run.ts";
import {
  addOtherOptions,
  addOutputOptions,
  addRunOptions,
  type OutputOptions,
  RUN_HELP,
  type RunOptions,
} from "../options/options.ts";
import { simulationText } from "../text/result-text.ts";
import { hint, wrap, writeOut } from "../text/text.ts";

interface SimulateOptions extends RunOptions, OutputOptions {
  readonly policy: string;
  readonly swf?: string;
  readonly explain?: string;
}

export function configure(command: Command): void {
  command
    .argument("<trace>", RUN_HELP)
    .optionsGroup("Jobs, machine and policy:")
    .requiredOption(
      "--policy <policy>",
      "name:parameter=value, or a file with your own policy; see tutti list policies",
      onePolicy,
    );
  addRunOptions(command);
  addOutputOptions(command)
    .addOption(
      new Option(
        "--explain <job>",
        "instead of the table, explain why this job started when it did",
      ).conflicts(["csv", "html"]),
    )
    .option("--swf <file>", "also write the schedule as SWF, with the waits filled in");
  addOtherOptions(command).action(run);
}

function onePolicy(text: string, before: string | undefined): string {
  if (before === undefined) return text;
  throw new InvalidArgumentError("expected one policy; tutti compare takes several");
}

async function run(source: string, options: SimulateOptions, command: Command): Promise<void> {
  const alone = { ...options, policies: [options.policy], replications: 1, workers: 1 };
  const comparison = await runSource(source, alone, "jobs", command);
  if (comparison === undefined) return;
  if (options.swf !== undefined) await writeSchedule(options.swf, comparison);
  if (options.explain === undefined) return writeResult(comparison, options, simulationText);
  await writeExplanation(comparison.instance, jobNumber(options.explain), options);
  checkStarted(comparison);
}

/** @throws InputError when the job is not among those simulated */
async function writeExplanation(
  instance: Instance,
  job: number,
  { policy, slot: slotS, switch: switchS, json }: SimulateOptions,
): Promise<void> {
  const [{ explainAnywhere }, { explanationLines }] = await Promise.all([
    import("@tutti/lab/experiments/explain-anywhere.ts"),
    import("@tutti/lab/report/text/explanation-text.ts"),
  ]);
  const explanation = await explainAnywhere(instance, { policy, slotS, switchS }, job);
  const lines = explanationLines(explanation).map((line) => `${wrap(line, 2)}\n`);
  writeOut(json ? jsonDocument("tutti.explanation/1", explanation) : lines.join(""));
}

async function writeSchedule(path: string, comparison: Comparison): Promise<void> {
  const [{ writeScheduleSwf }, { writeOutput }] = await Promise.all([
    import("@tutti/kernel/workload/traces/swf-writer.ts"),
    import("@tutti/lab/files/write-whole.ts"),
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
