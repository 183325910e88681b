/** `tutti compare TRACE --policy A,B`: several policies over the same jobs. */
import type { Command } from "commander";
import { runExperiment } from "../lab/run.ts";
import {
  addOutputOptions,
  addRunOptions,
  makeExperiment,
  type OutputOptions,
  type RunOptions,
  SOURCE_HELP,
} from "./options.ts";
import { integer, list } from "./parse.ts";
import { Progress } from "./progress.ts";
import { comparisonTable, resultCsv, resultJson } from "./result-text.ts";
import { hint, writeOut } from "./text.ts";

interface CompareOptions extends RunOptions, OutputOptions {
  readonly policy: readonly string[];
  readonly replications: number;
}

export function configure(command: Command): void {
  command
    .argument("<trace>", SOURCE_HELP)
    .requiredOption(
      "--policy <list>",
      "policies with commas between: fcfs,easy:order=shortest,./mine.ts",
      list,
    )
    .option("--replications <n>", "repeat with so many seeds; a model only", integer(1, 10_000), 1);
  addRunOptions(command);
  addOutputOptions(command).action(run);
}

async function run(source: string, options: CompareOptions): Promise<void> {
  const experiment = await makeExperiment(source, options.policy, options);
  const progress = new Progress("runs", options.progress);
  const { result, instance } = await runExperiment(experiment, {
    policies: options.policy,
    seed: options.seed,
    replications: options.replications,
    workers: options.workers,
    keepSchedules: options.html !== undefined,
    onDone: (done, of) => progress.update(done, of),
  }).finally(() => progress.end());
  if (options.html !== undefined) {
    const { writeReport } = await import("../lab/html.ts");
    writeReport(options.html, result, instance);
    hint(`The report is in ${options.html}`);
  }
  writeOut(options.json ? resultJson(result) : options.csv ? resultCsv(result) : comparisonTable(result));
}
