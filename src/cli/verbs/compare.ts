/** `tutti compare TRACE --policy A,B`: several policies over the same jobs. */
import type { Command } from "commander";
import { openExperiment, runExperiment } from "../../lab/experiments/run.ts";
import { chooseWing } from "../../lab/experiments/wings.ts";
import { asUsage, UsageError } from "../errors.ts";
import {
  addOutputOptions,
  addRunOptions,
  addWorkersOption,
  makeExperiment,
  type OutputOptions,
  RUN_HELP,
  type RunOptions,
} from "../options/options.ts";
import { checkOutputs } from "../options/output-paths.ts";
import { integer, list } from "../options/parse.ts";
import { commandLine, writeResult } from "../text/print-result.ts";
import { Progress } from "../text/progress.ts";
import { comparisonText } from "../text/result-text.ts";

interface CompareOptions extends RunOptions, OutputOptions {
  readonly policy: readonly string[];
  readonly replications: number;
  readonly workers: number;
}

export function configure(command: Command): void {
  command
    .argument("<trace>", RUN_HELP)
    .requiredOption(
      "--policy <list>",
      "policies with commas between: fcfs,easy:order=shortest,./mine.ts",
      list,
    )
    .option("--replications <n>", "repeat with so many seeds; a model only", integer(1, 10_000), 1);
  addRunOptions(command);
  addOutputOptions(command);
  addWorkersOption(command).action(run);
}

async function run(source: string, options: CompareOptions, command: Command): Promise<void> {
  const { seed, replications } = options;
  if (!Number.isSafeInteger(seed + (replications - 1))) {
    throw new UsageError(
      `Cannot use --seed ${seed} with ${replications} replications: the last seed would be above ${Number.MAX_SAFE_INTEGER}, expected a smaller one`,
    );
  }
  const wing = await asUsage(() => chooseWing(source));
  if (wing !== undefined) {
    const { runWing } = await import("../text/wing-run.ts");
    return runWing(source, wing, { ...options, policies: options.policy }, command);
  }
  await checkOutputs(source, { "--html": options.html });
  const experiment = await makeExperiment(source, options.policy, options);
  const opened = await openExperiment(experiment, replications);
  if (options.audit)
    await (await import("../text/audit.ts")).auditPolicies(experiment, opened, options.policy);
  const progress = new Progress("runs", options.progress);
  const comparison = await runExperiment(experiment, {
    policies: options.policy,
    replications: options.replications,
    workers: options.workers,
    command: commandLine(command),
    recordMatrix: options.html !== undefined,
    opened,
    onDone: (done, of) => progress.update(done, of),
  }).finally(() => progress.end());
  await writeResult(comparison, options, comparisonText);
}
