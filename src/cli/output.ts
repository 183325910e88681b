/** What `simulate` and `compare` do with a result: the report, then the table, JSON or CSV. */
import type { Command } from "commander";
import type { Comparison } from "../report/comparison.ts";
import type { OutputOptions } from "./options.ts";
import { hint, writeOut } from "./text.ts";

/** Options that do not decide the result. */
const BESIDE_THE_POINT = ["json", "csv", "html", "swf", "workers", "progress", "audit"];

export async function writeResult(
  comparison: Comparison,
  options: OutputOptions,
  text: (comparison: Comparison) => string,
): Promise<void> {
  if (options.html !== undefined) {
    const { writeReport } = await import("../lab/html.ts");
    await writeReport(options.html, comparison);
    hint(`The report is in ${options.html}`);
  }
  if (options.json) {
    const { comparisonJson } = await import("../report/json.ts");
    writeOut(comparisonJson(comparison));
  } else if (options.csv) {
    const { summariesCsv } = await import("../report/csv.ts");
    writeOut(summariesCsv(comparison));
  } else writeOut(text(comparison));
}

/** The command that makes the same result again: the verb, what was given to it, and the options that matter. */
export function commandLine(command: Command): string {
  const options = command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .filter((option) => !BESIDE_THE_POINT.includes(option.attributeName()))
    .flatMap((option) => [
      option.long ?? option.flags,
      optionText(command.getOptionValue(option.attributeName())),
    ]);
  return ["tutti", command.name(), ...command.args, ...options].map(quoted).join(" ");
}

function optionText(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" && value !== null && "seconds" in value
    ? String(value.seconds)
    : String(value);
}

/** For a shell. */
function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
