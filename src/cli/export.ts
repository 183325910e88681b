/** `tutti export`: what ran here, as SWF (which `tutti simulate` reads) or CSV. */
import { type Command, Option } from "commander";
import { Client } from "../api/client.ts";
import type { Job, MatrixAnswer } from "../api/contract.ts";
import { writeOutput } from "../lab/output.ts";
import { csvLine } from "../report/csv.ts";
import { isoText } from "./job-text.ts";
import { commandName, hint, writeOut } from "./text.ts";

interface Options {
  readonly format: "swf" | "csv";
  readonly output?: string;
}

/** More than there can be: the scheduler lists only the newest ended jobs when nobody says how many. */
const ALL = 999_999_999_999_999;

const COLUMNS: readonly (readonly [string, (job: Job) => string | number])[] = [
  ["job", ({ job }) => job],
  ["array", ({ array }) => array ?? ""],
  ["array_index", ({ arrayIndex }) => arrayIndex ?? ""],
  ["name", ({ name }) => name],
  ["user", ({ user }) => user],
  ["queue", ({ queue }) => queue],
  ["state", ({ state }) => state],
  ["tasks", ({ tasks }) => tasks],
  ["priority", ({ priority }) => priority],
  ["submitted", ({ submittedAtMs }) => isoText(submittedAtMs)],
  ["started", ({ startedAtMs }) => (startedAtMs === undefined ? "" : isoText(startedAtMs))],
  ["ended", ({ endedAtMs }) => (endedAtMs === undefined ? "" : isoText(endedAtMs))],
  [
    "wait_s",
    ({ submittedAtMs, startedAtMs }) =>
      startedAtMs === undefined ? "" : (startedAtMs - submittedAtMs) / 1000,
  ],
  ["run_s", ({ ranMs }) => ranMs / 1000],
  ["limit_s", ({ limitMs }) => (limitMs === undefined ? "" : limitMs / 1000)],
  ["memory_bytes", ({ memoryBytes }) => memoryBytes ?? ""],
  ["exit_code", ({ code }) => code ?? ""],
  ["signal", ({ signal }) => signal ?? ""],
  ["attempt", ({ attempt }) => attempt],
];

export function configure(command: Command): void {
  command
    .addOption(
      new Option("--format <format>", "SWF goes straight back into tutti simulate")
        .choices(["swf", "csv"])
        .default("swf"),
    )
    .option("-o, --output <file>", "write to a file instead of standard output")
    .action(run);
}

async function run({ format, output }: Options): Promise<void> {
  const client = new Client();
  const text =
    format === "swf" ? await client.text("/v1/export.swf") : csvOf((await client.jobs({ last: ALL })).jobs);
  if (output === undefined) return writeOut(text);
  await writeOutput(output, [text]);
  if (format === "csv") return hint(`The jobs are in ${output}`);
  // The laboratory's own slot is that of the papers, a minute.
  const { policy, slotMs } = await client.ask<MatrixAnswer>("/v1/matrix");
  // Rows are limited here, in the laboratory only when asked.
  const policies = [...new Set([policy === "gang" ? "gang:rows=4" : policy, "gang:rows=4", "easy"])].join(
    ",",
  );
  hint(
    `The workload is in ${output}; next: ${commandName()} compare ${output} --policy ${policies} --slot ${slotMs}ms`,
  );
}

function csvOf(jobs: readonly Job[]): string {
  const lines = jobs.map((job) => csvLine(COLUMNS.map(([, value]) => safeCell(value(job)))));
  return csvLine(COLUMNS.map(([title]) => title)) + lines.join("");
}

/** A spreadsheet would take a text that begins like this for a formula. */
function safeCell(value: string | number): string | number {
  return typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}
