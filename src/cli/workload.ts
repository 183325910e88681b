/** `tutti workload info TRACE` and `tutti workload generate MODEL`. */
import type { Command } from "commander";
import { closest } from "../core/closest.ts";
import { writeOutput } from "../lab/output.ts";
import { chooseModel, openSource } from "../lab/source.ts";
import { formatNumber } from "../report/format.ts";
import { jsonDocument } from "../report/json.ts";
import { describeWorkload, type Spread } from "../workload/describe.ts";
import { hashWorkload } from "../workload/hash.ts";
import { MODELS, type ModelDefinition } from "../workload/models.ts";
import { writeSwf } from "../workload/swf-writer.ts";
import { asUsage, UsageError } from "./errors.ts";
import { SOURCE_HELP } from "./options.ts";
import { integer } from "./parse.ts";
import { parameterText } from "./policies.ts";
import { diagnosticLines, left, right, table } from "./result-text.ts";
import { bold, hint, wrap, writeOut } from "./text.ts";

interface InfoOptions {
  readonly procs?: number;
  readonly seed: number;
  readonly json?: boolean;
}

interface GenerateOptions {
  readonly seed: number;
  readonly out?: string;
}

export function configure(command: Command): void {
  command
    .command("info")
    .description("what a trace or a model is like: jobs, load, run times, sizes, and what is odd about it")
    .argument("<trace>", SOURCE_HELP)
    .option(
      "-p, --procs <n>",
      "processors of the machine (default: what the trace names)",
      integer(1, 2 ** 31 - 1),
    )
    .option("--seed <n>", "seed of a model", integer(0), 1)
    .option("--json", "print as JSON")
    .action(info);
  command
    .command("generate")
    .description("write a workload made by a model, in Standard Workload Format")
    .argument("<model>", "such as downey:jobs=1000:load=0.7")
    .option("--seed <n>", "the same seed gives the same jobs", integer(0), 1)
    .option("-o, --out <file>", "file to write (default: standard output)")
    .addHelpText("after", `\nModels:\n${MODELS.map(modelText).join("\n")}`)
    .action(generate);
}

function modelText({ name, summary, parameters, source }: ModelDefinition): string {
  const specs = parameters.map((parameter) => parameterText(name, parameter)).join("\n");
  return `${bold(name)}: ${wrap(summary, 2)}\n${specs}\n  ${wrap(`Source: ${source}`, 2)}\n`;
}

async function info(source: string, options: InfoOptions): Promise<void> {
  await asUsage(() => chooseModel(source));
  const workload = await openSource(source, options.seed);
  const facts = describeWorkload(workload, options.procs);
  const hash = hashWorkload(workload);
  if (options.json) {
    const { name, header, diagnostics } = workload;
    writeOut(jsonDocument("tutti.workload/1", { name, hash, ...facts, header, diagnostics }));
    return;
  }
  const { jobs, processors, spanS, users } = facts;
  const days = spanS === undefined ? "an unknown time" : `${(spanS / 86400).toFixed(1)} days`;
  writeOut(
    [
      bold(workload.name),
      `${jobs} jobs over ${days}, on ${processors ?? "an unknown number of"} processors, offered load ${share(facts.offeredLoad)}`,
      `${facts.zeroRunJobs} with run time 0; all below is over the others`,
      `${share(facts.serialShare)} serial, ${share(facts.powerOfTwoShare)} of a power of two above 1${users === undefined ? "" : `, ${users} users`}`,
      `${facts.estimates} with an estimate, ${facts.overruns} ran past it`,
      "",
      table(
        [left(""), right("min"), right("median"), right("mean"), right("max")],
        [
          spreadRow("run time, s", facts.runS),
          spreadRow("processors", facts.size),
          spreadRow("wait in the log, s", facts.waitS),
        ],
      ),
      "",
      ...diagnosticLines(workload.diagnostics),
      `workload ${hash}`,
      "",
    ].join("\n"),
  );
}

function spreadRow(name: string, spread: Spread | undefined): string[] {
  const { min, median, mean, max } = spread ?? {
    min: Number.NaN,
    median: Number.NaN,
    mean: Number.NaN,
    max: Number.NaN,
  };
  return [name, ...[min, median, mean, max].map(formatNumber)];
}

function share(value: number | undefined): string {
  return value === undefined ? "unknown" : `${(100 * value).toFixed(1)} %`;
}

async function generate(text: string, options: GenerateOptions): Promise<void> {
  const choice = await asUsage(() => chooseModel(text));
  if (choice === undefined) {
    const names = MODELS.map(({ name }) => name);
    const [name = ""] = text.split(":");
    throw new UsageError(
      `Cannot find model "${name}"${closest(name, names)}: expected one of ${names.join(", ")}`,
    );
  }
  const swf = writeSwf(choice.model.generate(choice.parameters, options.seed));
  if (options.out === undefined) for (const part of swf) writeOut(part);
  else {
    writeOutput(options.out, swf);
    hint(`The workload is in ${options.out}`);
  }
}
