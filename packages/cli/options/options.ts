/** Defines the options that several commands share, and builds the experiment that they describe. */
import { availableParallelism } from "node:os";
import { DEFAULT_RULES, type Rules } from "@tutti/kernel/core/rules.ts";
import { DEFAULT_METRIC_PARAMETERS } from "@tutti/kernel/metrics/registry.ts";
import { describePolicy } from "@tutti/lab/experiments/apart.ts";
import type { Experiment } from "@tutti/lab/experiments/comparison-of.ts";
import { MAX_GANG_PROCESSORS } from "@tutti/lab/experiments/inputs.ts";
import { chooseModel } from "@tutti/lab/experiments/source.ts";
import { findTrace } from "@tutti/lab/files/read-trace.ts";
import { isSameFile } from "@tutti/lab/files/write-whole.ts";
import { wingOfPolicy } from "@tutti/papers/wings/wings.ts";
import { type Command, Option } from "commander";
import { asUsage, UsageError } from "../errors.ts";
import { duration, integer, load, missingEstimate, processors, share, sizeFrom } from "./parse.ts";
import { addRenamedOption } from "./renamed.ts";

export const SOURCE_HELP =
  "a trace: a file (SWF, a workload file of tutti export, output of sacct --parsable2 or Batsim JSON, plain or .gz), - for standard input, or the beginning of a file's name in the folder TUTTI_TRACES; or a model such as downey:jobs=1000:load=0.7";

/** The source of jobs of `simulate` and `compare`. */
export const RUN_HELP = `${SOURCE_HELP}; or a machine with its own jobs, such as sites:sizes=64,64:load=0.8 (see tutti list models)`;

/** With shorter slots, slot numbers would exceed the integers that a number holds exactly. */
const MIN_SLOT_S = 1e-6;

export interface RunOptions {
  readonly sizeFrom?: string;
  readonly processors?: number;
  /** Number of jobs to use, from the first. */
  readonly first?: number;
  /** Offered load to which the arrivals are scaled. */
  readonly load?: number;
  readonly overrun: Rules["overrun"];
  readonly missingEstimate: Rules["missingEstimate"];
  readonly oversize: Rules["oversize"];
  readonly warmup: number;
  readonly cooldown: number;
  readonly bound: number;
  readonly slot: number;
  readonly switch: number;
  readonly seed: number;
  readonly audit?: boolean;
  readonly progress: boolean;
}

export interface OutputOptions {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly html?: string;
}

const notCounted = (end: "first" | "last") => `${end} jobs to simulate but not count, as a share of all jobs`;

/** The size of the machine as `--processors`. */
export function addProcessorsOption(command: Command, description: string): Command {
  return addRenamedOption(command, "-p, --processors <n>", "--procs <n>", description, processors);
}

/** Where in a trace the sizes of jobs are, as `--size-from`. */
export function addSizeFromOption(command: Command): Command {
  return command.option(
    "--size-from <place>",
    "where in a line of an SWF trace the job's size is: allocated (default), requested, field=N, or frontier (nodes of the log of Frontier)",
    sizeFrom,
  );
}

/**
 * Machine, rules, window and seed: everything that determines a result, except the jobs and the policies.
 */
export function addRunOptions(command: Command): Command {
  addSizeFromOption(command);
  addProcessorsOption(command, "processors of the machine (default: the number that the trace names)");
  return addRenamedOption(command, "--first <n>", "--limit <n>", "use only the first n jobs", integer(1))
    .option("--load <x>", "scale the gaps between submits to this offered load; 1 fills the machine", load)
    .option("--seed <n>", "seed of a model", integer(0), 1)
    .optionsGroup("Rules:")
    .addOption(
      new Option("--overrun <rule>", "what happens when a job runs past its estimate")
        .choices(["raise", "kill"])
        .default(DEFAULT_RULES.overrun),
    )
    .option(
      "--missing-estimate <rule>",
      "estimate for jobs without one: run (their run time) or a duration",
      missingEstimate,
      DEFAULT_RULES.missingEstimate,
    )
    .addOption(
      new Option("--oversize <rule>", "what happens to a job larger than the machine")
        .choices(["drop", "clip"])
        .default(DEFAULT_RULES.oversize),
    )
    .option(
      "--slot <duration>",
      "time sharing: length of a slot, in seconds unless a unit is given",
      duration(MIN_SLOT_S),
      60,
    )
    .option("--switch <duration>", "time sharing: time lost at each change of slot", duration("zero"), 0)
    .optionsGroup("Statistics:")
    .option("--warmup <share>", notCounted("first"), share, 0)
    .option("--cooldown <share>", notCounted("last"), share, 0)
    .option(
      "--bound <duration>",
      "threshold of the bounded slowdown, in seconds unless a unit is given",
      duration("above zero"),
      DEFAULT_METRIC_PARAMETERS.boundS,
    );
}

/** Options that do not change the result, together with the option for help. */
export function addOtherOptions(command: Command): Command {
  return command
    .optionsGroup("Options:")
    .option("--audit", "first check that no policy breaks a rule; takes as long as ten simulations or more")
    .option("--no-progress", "show no progress bar");
}

export function addWorkersOption(command: Command): Command {
  const workers = availableParallelism();
  return command.addOption(
    new Option("--workers <n>", "worker threads; their number never changes a result")
      .argParser(integer(1, 1024))
      .default(workers, "all cores"),
  );
}

export function addOutputOptions(command: Command): Command {
  return command
    .optionsGroup("Output:")
    .addOption(new Option("--json", "print the result as JSON").conflicts("csv"))
    .option("--csv", "print the result as CSV")
    .option("--html <file>", "also write a report: one file with charts, to open in a browser");
}

/** The experiment that the options describe. Checks policies and models before any trace is read. */
export async function makeExperiment(
  source: string,
  policies: readonly string[],
  options: RunOptions,
): Promise<Experiment> {
  await asUsage(() => chooseModel(source));
  const labels = new Set<string>();
  for (const policy of policies) {
    requireOneMachine(policy);
    const { label, definition } = await asUsage(() => describePolicy(policy));
    if (definition.sharing === "time" && (options.processors ?? 0) > MAX_GANG_PROCESSORS) {
      throw new UsageError(
        `Cannot use policy "${label}" with --processors ${options.processors}: time sharing keeps a record of every processor, expected at most ${MAX_GANG_PROCESSORS} processors`,
      );
    }
    if (labels.has(label))
      throw new UsageError(`Cannot use policy "${label}" twice: expected different policies`);
    labels.add(label);
  }
  if (options.warmup + options.cooldown >= 1) {
    throw new UsageError(
      `Cannot use --warmup ${options.warmup} with --cooldown ${options.cooldown}: no job would be counted, expected a sum below 1`,
    );
  }
  return {
    source: {
      jobs: source,
      seed: options.seed,
      sizeFrom: options.sizeFrom,
      limit: options.first,
      ...(options.load !== undefined && { load: options.load, loadOn: options.processors }),
    },
    processors: options.processors,
    rules: { overrun: options.overrun, missingEstimate: options.missingEstimate, oversize: options.oversize },
    window: { warmupShare: options.warmup, cooldownShare: options.cooldown },
    parameters: { boundS: options.bound },
    slotS: options.slot,
    switchS: options.switch,
  };
}

/**
 * Checks the output files before any trace is read.
 * @param files output files by option, such as `--html`
 * @throws UsageError when two outputs are the same file, or when one is the input
 */
export async function checkOutputs(
  source: string,
  files: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const named = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (named.length === 0) return;
  const isModel = (await asUsage(() => chooseModel(source))) !== undefined;
  const input = isModel || source === "-" ? undefined : findTrace(source);
  for (const [i, [option, file]] of named.entries()) {
    if (input !== undefined && isSameFile(input, file)) {
      throw new UsageError(`Cannot use ${option} "${file}": that is the trace itself, expected another file`);
    }
    for (const [other, taken] of named.slice(0, i)) {
      if (!isSameFile(taken, file)) continue;
      throw new UsageError(
        `Cannot use ${option} "${file}": ${other} names the same file, expected another file`,
      );
    }
  }
}

/** @throws UsageError for a policy of a wing, which does not schedule the jobs of one machine */
function requireOneMachine(policy: string): void {
  const wing = wingOfPolicy(policy);
  if (wing === undefined) return;
  throw new UsageError(
    `Cannot use policy "${policy.split(":")[0]}" here: it schedules ${wing.machine}, expected a policy for the jobs of one machine; ` +
      `\`tutti simulate ${wing.name} --policy ${policy}\` runs it`,
  );
}
