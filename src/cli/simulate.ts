/** `tutti simulate TRACE --policy P`: one policy, in full. */
import type { Command } from "commander";
import type { PolicyRun } from "../lab/run.ts";
import { runExperiment } from "../lab/run.ts";
import {
  addOutputOptions,
  addRunOptions,
  makeExperiment,
  type OutputOptions,
  type RunOptions,
  SOURCE_HELP,
} from "./options.ts";
import { Progress } from "./progress.ts";
import { resultCsv, resultJson, simulationTable } from "./result-text.ts";
import { hint, writeOut } from "./text.ts";

interface SimulateOptions extends RunOptions, OutputOptions {
  readonly policy: string;
  readonly swf?: string;
}

export function configure(command: Command): void {
  command
    .argument("<trace>", SOURCE_HELP)
    .requiredOption(
      "--policy <policy>",
      "name:parameter=value, or a file with a policy of your own; see tutti policies",
    );
  addRunOptions(command);
  addOutputOptions(command)
    .option("--swf <file>", "also write the schedule as SWF, the waits filled in")
    .action(run);
}

async function run(source: string, options: SimulateOptions): Promise<void> {
  const experiment = await makeExperiment(source, [options.policy], options);
  const progress = new Progress("jobs", options.progress);
  const { result, instance } = await runExperiment(experiment, {
    policies: [options.policy],
    seed: options.seed,
    replications: 1,
    workers: 1,
    keepSchedules: options.swf !== undefined || options.html !== undefined,
    onJobs: (arrived, of) => progress.update(arrived, of),
  }).finally(() => progress.end());
  const [simulated] = result.runs[0] as readonly PolicyRun[];
  const schedule = simulated?.schedule;
  if (options.swf !== undefined && simulated !== undefined && schedule !== undefined) {
    const [{ writeScheduleSwf }, { writeOutput }] = await Promise.all([
      import("../workload/swf-writer.ts"),
      import("../lab/output.ts"),
    ]);
    const { workload, rules, tutti } = result;
    writeOutput(
      options.swf,
      writeScheduleSwf(instance, schedule, [
        `policy ${simulated.policy}`,
        ...simulated.rules,
        ...rules,
        `workload ${workload.hash}, seed ${simulated.seed}, schedule ${simulated.scheduleHash}`,
        `tutti ${tutti.version}, revision ${tutti.revision}`,
      ]),
    );
    hint(`The schedule is in ${options.swf}`);
  }
  if (options.html !== undefined) {
    const { writeReport } = await import("../lab/html.ts");
    writeReport(options.html, result, instance);
    hint(`The report is in ${options.html}`);
  }
  writeOut(options.json ? resultJson(result) : options.csv ? resultCsv(result) : simulationTable(result));
}
