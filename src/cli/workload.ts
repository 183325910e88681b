/** `tutti workload info TRACE` and `tutti workload generate MODEL`. */
import type { Command } from "commander";
import { closest } from "../core/closest.ts";
import { describeWorkload } from "../lab/describe-workload.ts";
import { writeOutput } from "../lab/output.ts";
import { chooseModel, openSource, workloadHash } from "../lab/source.ts";
import { MODELS, type ModelDefinition } from "../workload/models.ts";
import { writeSwf } from "../workload/swf-writer.ts";
import { asUsage, UsageError } from "./errors.ts";
import { SOURCE_HELP } from "./options.ts";
import { integer } from "./parse.ts";
import { parameterText } from "./policies.ts";
import { diagnosticLines, number } from "./result-text.ts";
import { bold, columns, hint, wrap, writeOut } from "./text.ts";

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
  const description = describeWorkload(workload, options.procs);
  if (options.json) {
    const hash = workloadHash(workload);
    writeOut(
      `${JSON.stringify({ ...description, hash, diagnostics: workload.diagnostics }, undefined, 2)}\n`,
    );
    return;
  }
  const { jobs, processors, spanS, offeredLoad, serialShare, powerOfTwoShare, users } = description;
  const share = (value: number) => (Number.isNaN(value) ? "unknown" : `${(100 * value).toFixed(1)} %`);
  writeOut(
    [
      bold(workload.name),
      `${jobs} jobs over ${(spanS / 86400).toFixed(1)} days, on ${processors ?? "an unknown number of"} processors, offered load ${share(offeredLoad)}`,
      `${share(serialShare)} serial, ${share(powerOfTwoShare)} of a power of two above 1${users === undefined ? "" : `, ${users} users`}`,
      `${description.withoutEstimate} without an estimate, ${description.overEstimate} ran past it`,
      "",
      columns(
        ["", "known", "min", "median", "mean", "p95", "max"],
        description.columns.map(({ name, known, min, median, mean, p95, max }) => [
          name,
          String(known),
          ...[min, median, mean, p95, max].map(number),
        ]),
      ),
      "",
      ...diagnosticLines(workload.diagnostics),
      `workload ${workloadHash(workload)}`,
      "",
    ].join("\n"),
  );
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
