/** Makes sweeps of jobs: `--each-line FILE` and `--grid NAME=VALUES` turn a job into an array with values. */

import { InputError } from "@tutti/kernel/core/errors.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import { parseArray } from "@tutti/protocol/array.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { LINE_VARIABLE } from "@tutti/protocol/sweep-values.ts";
import type { Command } from "commander";
import { UsageError } from "../errors.ts";
import { readLines } from "./each-line.ts";
import { parseGrid } from "./grid.ts";
import { nameOfInput } from "./read-text.ts";

export interface SweepOptions {
  readonly eachLine?: string;
  readonly grid?: readonly string[];
  readonly fromJson?: string;
  readonly resume?: boolean;
}

export function addSweepOptions(command: Command): Command {
  return command
    .optionsGroup("Sweeps:")
    .option(
      "--each-line <file>",
      "one job per line of the file (-: standard input), which is {} in the command and in TUTTI_LINE; its index is the line's number; -a 3,7 takes only these lines, -a %4 runs at most four at once",
    )
    .option(
      "--grid <name=values...>",
      "one job per combination of values, such as --grid lr=0.1,0.01 seed=1..5; a value is {lr} in the command and in the variable lr; -a %4 runs at most four at once",
    )
    .option(
      "--from-json <file>",
      "the jobs of the file (-: standard input), a JSON array or one job per line, with the fields of the API (docs/api.md); other options win over the file",
    )
    .option("--resume", "with a workflow file: run only what has not succeeded and does not wait or run");
}

/**
 * The job as an array with values, if the options ask for a sweep.
 * @throws UsageError, InputError
 */
export async function sweepOf(job: SubmitJob, { eachLine, grid }: SweepOptions): Promise<SubmitJob> {
  if (eachLine !== undefined && grid !== undefined) {
    throw new UsageError(
      "Cannot combine --each-line with --grid: expected one of them; write all combinations into the file",
    );
  }
  if (grid !== undefined) return { ...job, values: parseGrid(grid) };
  return eachLine === undefined ? job : sweepOfLines(job, eachLine);
}

async function sweepOfLines(job: SubmitJob, file: string): Promise<SubmitJob> {
  const [, list = "", atOnce = ""] = /^([^%]*)(%.*)?$/.exec(job.array ?? "") ?? [];
  const wanted = list === "" ? undefined : parseArray(list);
  if (typeof wanted === "string") throw new UsageError(wanted);
  const lines = await readLines(file, wanted && new Set(wanted.indices));
  const what = nameOfInput(file);
  if (lines.length === 0) {
    throw new InputError(
      wanted === undefined
        ? `Cannot submit the lines of ${what}: there are none, expected one job per line`
        : `Cannot submit the lines ${list} of ${what}: they are empty or beyond its end`,
    );
  }
  const numbers = new Set(lines.map(({ number }) => number));
  const missing = wanted?.indices.filter((index) => !numbers.has(index)) ?? [];
  if (missing.length > 0) {
    throw new InputError(
      `Cannot submit line ${rangesText(rangesOf(missing)).slice(0, 100)} of ${what}: it is empty or beyond the end, expected lines with a job`,
    );
  }
  return {
    ...job,
    array: rangesText(rangesOf(numbers)) + atOnce,
    values: { [LINE_VARIABLE]: lines.map(({ text }) => text) },
  };
}
