/** `tutti compare TRACE --policy A,B`: runs several policies on the same jobs. */
import type { Command } from "commander";
import { UsageError } from "../errors.ts";
import { writeResult } from "../experiments/policy-run.ts";
import { runSource } from "../experiments/source-run.ts";
import {
  addOtherOptions,
  addOutputOptions,
  addRunOptions,
  addWorkersOption,
  type OutputOptions,
  RUN_HELP,
  type RunOptions,
} from "../options/options.ts";
import { integer, list } from "../options/parse.ts";
import { comparisonText } from "../text/result-text.ts";

interface CompareOptions extends RunOptions, OutputOptions {
  readonly policy: readonly string[];
  readonly replications: number;
  readonly workers: number;
}

export function configure(command: Command): void {
  command
    .argument("<trace>", RUN_HELP)
    .optionsGroup("Jobs, machine and policies:")
    .requiredOption(
      "--policy <list>",
      "policies separated by commas: fcfs,easy:order=shortest,./mine.ts",
      list,
    )
    .option("--replications <n>", "number of seeds to run; only with a model", integer(1, 10_000), 1);
  addRunOptions(command);
  addOutputOptions(command);
  addOtherOptions(command);
  addWorkersOption(command).action(run);
}

async function run(source: string, options: CompareOptions, command: Command): Promise<void> {
  const { seed, replications, policy: policies } = options;
  if (!Number.isSafeInteger(seed + (replications - 1))) {
    throw new UsageError(
      `Cannot use --seed ${seed} with ${replications} replications: the last seed would be above ${Number.MAX_SAFE_INTEGER}, expected a smaller seed`,
    );
  }
  const comparison = await runSource(source, { ...options, policies }, "runs", command);
  if (comparison !== undefined) await writeResult(comparison, options, comparisonText);
}
