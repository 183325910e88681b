/** `tutti workload`: describes, generates, converts or scales a workload, which is a trace or a model. */

import { plural } from "@tutti/kernel/core/format.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { describeWorkload } from "@tutti/kernel/workload/describe.ts";
import { type EstimateRule, withEstimates } from "@tutti/kernel/workload/estimates/estimates.ts";
import { hashWorkload } from "@tutti/kernel/workload/hash.ts";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { scaleArrivals, scaleToLoad } from "@tutti/kernel/workload/scale.ts";
import { FORMATS } from "@tutti/kernel/workload/traces/formats.ts";
import { requireJobs } from "@tutti/kernel/workload/traces/swf-rules.ts";
import { writeSwf } from "@tutti/kernel/workload/traces/swf-writer.ts";
import { WRITERS } from "@tutti/kernel/workload/traces/writers.ts";
import { generate as generateJobs, machineSize } from "@tutti/lab/experiments/jobs.ts";
import { chooseModel, openSource } from "@tutti/lab/experiments/source.ts";
import { writeOutput } from "@tutti/lab/files/write-whole.ts";
import { SPREAD_HEADINGS, spreadRows, workloadSentences } from "@tutti/lab/jobs-in-words.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import { chooseWing } from "@tutti/papers/on-wings.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { asUsage, UsageError, unknownName } from "../errors.ts";
import { addProcessorsOption, addSizeFromOption, checkOutputs, SOURCE_HELP } from "../options/options.ts";
import { duration, integer, load, positive } from "../options/parse.ts";
import { diagnosticLines } from "../text/result-text.ts";
import { bold, hint, leftColumn, rightColumn, table, writeOut } from "../text/text.ts";

interface InfoOptions {
  readonly sizeFrom?: string;
  readonly processors?: number;
  readonly seed: number;
  readonly json?: boolean;
}

interface GenerateOptions {
  readonly seed: number;
  readonly estimates?: EstimateRule;
  readonly out?: string;
}

interface ConvertOptions extends GenerateOptions {
  readonly sizeFrom?: string;
  readonly to: string;
}

interface ScaleOptions extends ConvertOptions {
  readonly factor?: number;
  readonly load?: number;
  readonly processors?: number;
}

const ESTIMATES_HELP =
  "new estimates: exact, factor=N (up to N times the run time), tsafrir or tsafrir=LARGEST, such as tsafrir=18h";
const OUT_HELP = "file to write (default: standard output)";

/** Names of the formats that can be written, the usual one first. */
const WRITABLE = [...WRITERS.keys()];

const MODELS_HELP = `
Models: ${MODELS.map(({ name }) => name).join(", ")}.
tutti list models NAME prints the rules and parameters of a model.`;

export function configure(command: Command): void {
  const describing = command
    .command("info")
    .description("describe a trace or a model: jobs, load, run times, sizes and oddities")
    .argument("<trace>", SOURCE_HELP);
  addSizeFromOption(describing);
  addProcessorsOption(describing, "processors of the machine (default: the number that the trace names)")
    .option("--seed <n>", "seed of a model", integer(0), 1)
    .option("--json", "print as JSON")
    .action(info);
  command
    .command("generate")
    .description("write a workload made by a model, in Standard Workload Format")
    .argument("<model>", "such as downey:jobs=1000:load=0.7")
    .option("--seed <n>", "the same seed gives the same jobs", integer(0), 1)
    .option("--estimates <rule>", ESTIMATES_HELP, parseEstimates)
    .option("-o, --out <file>", OUT_HELP)
    .addHelpText("after", MODELS_HELP)
    .action(generate);
  const converting = command
    .command("convert")
    .description("write a trace or a model in another format, or with other estimates")
    .argument("<trace>", SOURCE_HELP);
  addWriteOptions(converting)
    .addHelpText("after", `\nFormats that can be read, recognized by their content:\n${formatsText()}`)
    .action(convert);
  const scaling = command
    .command("scale")
    .description("write a trace or a model with its arrivals closer together or farther apart")
    .argument("<trace>", SOURCE_HELP)
    .option("-f, --factor <x>", "multiply the gaps between submits; 0.5 doubles the load", positive)
    .addOption(
      new Option("-l, --load <x>", "offered load to reach; 1 fills the machine exactly")
        .argParser(load)
        .conflicts("factor"),
    );
  addProcessorsOption(scaling, "processors that the load refers to");
  addWriteOptions(scaling).action(scale);
}

function addWriteOptions(command: Command): Command {
  return addSizeFromOption(command)
    .addOption(new Option("--to <format>", "format to write").choices(WRITABLE).default("swf"))
    .option("--estimates <rule>", ESTIMATES_HELP, parseEstimates)
    .option("--seed <n>", "seed of a model and of estimates", integer(0), 1)
    .option("-o, --out <file>", OUT_HELP);
}

/** A rule of workload/estimates/estimates.ts. */
function parseEstimates(text: string): EstimateRule {
  const [kind, value, ...more] = text.split("=");
  if (more.length === 0) {
    if (kind === "exact" && value === undefined) return { kind };
    if (kind === "factor" && Number(value) >= 1 && Number(value) <= 1000)
      return { kind, factor: Number(value) };
    if (kind === "tsafrir") {
      return { kind, maxEstimateS: value === undefined ? 0 : duration("above zero")(value) };
    }
  }
  throw new InvalidArgumentError(
    "expected exact, factor=N with N from 1 to 1000, tsafrir, or tsafrir=LARGEST such as tsafrir=18h",
  );
}

function formatsText(): string {
  return FORMATS.map(({ name, title }) => `  ${name.padEnd(8)}${title}`).join("\n");
}

/** @throws UsageError for a wrong model or parameter, and for a wing, whose jobs are of another kind */
async function checkSource(source: string): Promise<void> {
  if ((await asUsage(() => chooseWing(source))) !== undefined) {
    throw new UsageError(
      `Cannot use "${source}" here: its jobs are not for one machine, expected a trace or a model; \`tutti simulate ${source}\` runs them`,
    );
  }
  await asUsage(() => chooseModel(source));
}

async function info(source: string, options: InfoOptions): Promise<void> {
  const workload = await openJobs(source, options);
  const facts = describeWorkload(workload, options.processors);
  const hash = hashWorkload(workload);
  if (options.json) {
    const { name, header, diagnostics } = workload;
    writeOut(jsonDocument("tutti.workload/1", { name, hash, ...facts, header, diagnostics }));
    return;
  }
  writeOut(
    [
      bold(workload.name),
      ...workloadSentences(facts),
      "",
      table([leftColumn(""), ...SPREAD_HEADINGS.map((heading) => rightColumn(heading))], spreadRows(facts)),
      "",
      ...diagnosticLines(workload.diagnostics),
      `workload ${hash}`,
      "",
    ].join("\n"),
  );
}

async function generate(text: string, options: GenerateOptions): Promise<void> {
  await checkSource(text);
  const choice = await asUsage(() => chooseModel(text));
  if (choice === undefined) {
    const names = MODELS.map(({ name }) => name);
    throw unknownName("model", text.split(":")[0], names);
  }
  const generated = generateJobs(choice, options.seed);
  const { estimates, seed } = options;
  await writeParts(
    writeSwf(estimates === undefined ? generated : withEstimates(generated, estimates, seed)),
    options.out,
  );
}

async function convert(source: string, options: ConvertOptions): Promise<void> {
  await checkOutputs(source, { "--out": options.out });
  await writeWorkload(await openJobs(source, options), options);
}

async function scale(source: string, options: ScaleOptions): Promise<void> {
  const { factor, load, processors } = options;
  if ((factor === undefined) === (load === undefined)) {
    throw new UsageError(`Cannot scale "${source}": expected either --factor or --load`);
  }
  await checkOutputs(source, { "--out": options.out });
  const workload = await openJobs(source, options);
  const scaled =
    load === undefined
      ? scaleArrivals(workload, factor as number)
      : scaleToLoad(workload, load, machineSize(workload, processors));
  await writeWorkload(scaled, options);
}

async function openJobs(
  source: string,
  { seed, sizeFrom }: Pick<InfoOptions, "seed" | "sizeFrom">,
): Promise<Workload> {
  await checkSource(source);
  return requireJobs(await openSource(source, seed, sizeFrom));
}

/**
 * Writes the jobs, with new estimates if requested. Reports on standard error what was left out or repaired.
 */
async function writeWorkload(
  workload: Workload,
  { to, estimates, seed, out }: ConvertOptions,
): Promise<void> {
  const jobs = estimates === undefined ? workload : withEstimates(workload, estimates, seed);
  const write = WRITERS.get(to);
  if (write === undefined)
    throw new UsageError(`Cannot write format "${to}": expected one of ${WRITABLE.join(", ")}`);
  for (const line of diagnosticLines(jobs.diagnostics)) hint(line);
  const events = jobs.events?.length ?? 0;
  if (events > 0 && to !== "jsonl") {
    hint(`left out ${plural(events, "event")}, such as pauses and drains: only --to jsonl keeps them`);
  }
  if (jobs.limits !== undefined && to !== "jsonl") {
    hint("left out the limits on users, groups and queues: only --to jsonl keeps them");
  }
  if (jobs.molding !== undefined && to !== "jsonl") {
    hint("left out the other sizes on which jobs can run: only --to jsonl keeps them");
  }
  await writeParts(write(jobs), out);
}

async function writeParts(parts: Iterable<string>, out: string | undefined): Promise<void> {
  if (out === undefined) for (const part of parts) writeOut(part);
  else {
    await writeOutput(out, parts);
    if (!out.startsWith("/dev/")) hint(`The workload is in ${out}`);
  }
}
