/** `tutti export`: writes the jobs of the scheduler as SWF, as a workload file or as CSV. */

import { writeOutput } from "@tutti/lab/files/write-whole.ts";
import { csvLine } from "@tutti/lab/report/text/csv.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { unitsText, useText } from "@tutti/protocol/resources.ts";
import type { Job, MatrixAnswer } from "@tutti/protocol/schema.ts";
import { isoText } from "@tutti/words/times.ts";
import { type Command, Option } from "commander";
import { jobPages } from "../live/job-lists.ts";
import { Progress, withProgress } from "../text/progress.ts";
import { commandName, hint, writePiece } from "../text/text.ts";

interface Options {
  readonly format: "swf" | "jsonl" | "csv";
  readonly output?: string;
}

/** Columns of the CSV by heading. */
const COLUMNS: Readonly<Record<string, (job: Job) => string | number>> = {
  job: ({ job }) => job,
  array: ({ array }) => array ?? "",
  array_index: ({ arrayIndex }) => arrayIndex ?? "",
  name: ({ name }) => name,
  user: ({ user }) => user,
  queue: ({ queue }) => queue,
  state: ({ state }) => state,
  tasks: ({ tasks }) => tasks,
  threads: ({ threads = 1 }) => threads,
  priority: ({ priority }) => priority,
  submitted: ({ submittedAtMs }) => isoText(submittedAtMs),
  started: ({ startedAtMs }) => (startedAtMs === undefined ? "" : isoText(startedAtMs)),
  ended: ({ endedAtMs }) => (endedAtMs === undefined ? "" : isoText(endedAtMs)),
  wait_s: ({ submittedAtMs, startedAtMs }) =>
    startedAtMs === undefined ? "" : (startedAtMs - submittedAtMs) / 1000,
  run_s: ({ ranMs }) => ranMs / 1000,
  limit_s: ({ limitMs }) => (limitMs === undefined ? "" : limitMs / 1000),
  memory_bytes: ({ memoryBytes }) => memoryBytes ?? "",
  use: ({ use }) => (use === undefined ? "" : useText(use)),
  units: ({ units }) => (units === undefined ? "" : unitsText(units)),
  cpu_s: ({ usage }) => (usage?.cpuMs === undefined ? "" : usage.cpuMs / 1000),
  peak_memory_bytes: ({ usage }) => usage?.peakMemoryBytes ?? "",
  read_bytes: ({ usage }) => usage?.readBytes ?? "",
  written_bytes: ({ usage }) => usage?.writtenBytes ?? "",
  gpus_measured: ({ usage }) => usage?.gpus ?? "",
  gpu_share: ({ usage }) => usage?.gpuShare ?? "",
  peak_gpu_memory_bytes: ({ usage }) => usage?.peakGpuMemoryBytes ?? "",
  exit_code: ({ code }) => code ?? "",
  signal: ({ signal }) => signal ?? "",
  attempt: ({ attempt }) => attempt,
};

export function configure(command: Command): void {
  command
    .addOption(
      new Option(
        "--format <format>",
        "format of the output; tutti simulate reads swf and jsonl, which also has begin times, resources, pauses and drains",
      )
        .choices(["swf", "jsonl", "csv"])
        .default("swf"),
    )
    .option("-o, --output <file>", "write to a file instead of standard output")
    .action(run);
}

async function run({ format, output }: Options): Promise<void> {
  const client = new Client();
  const pieces = format === "csv" ? csvPieces(client) : filePieces(client, format);
  if (output === undefined) {
    for await (const piece of pieces) await writePiece(piece);
    return;
  }
  await writeOutput(output, pieces);
  if (format === "csv") return hint(`The jobs are in ${output}`);
  // The laboratory's default slot is a minute, as in the papers.
  const { policy, slotMs } = await client.ask<MatrixAnswer>("/v1/matrix");
  // The live scheduler always limits the rows, the laboratory only on request.
  const policies = [...new Set([policy === "gang" ? "gang:rows=4" : policy, "gang:rows=4", "easy"])].join(
    ",",
  );
  hint(
    `The workload is in ${output}; next: ${commandName()} compare ${output} --policy ${policies} --slot ${slotMs}ms`,
  );
}

async function* filePieces(client: Client, format: "swf" | "jsonl"): AsyncGenerator<Uint8Array> {
  const progress = new Progress("bytes", !process.stdout.isTTY);
  const pieces = client.pieces(await client.open(`/v1/export.${format}`));
  yield* withProgress(progress, pieces, ({ length }) => length);
}

async function* csvPieces(client: Client): AsyncGenerator<string> {
  const progress = new Progress("jobs", !process.stdout.isTTY);
  const columns = Object.values(COLUMNS);
  yield csvLine(Object.keys(COLUMNS));
  for await (const { jobs } of withProgress(progress, jobPages(client, {}), ({ jobs }) => jobs.length))
    yield jobs.map((job) => csvLine(columns.map((of) => safeCell(of(job))))).join("");
}

/** A quote before a text that a spreadsheet would take for a formula. */
function safeCell(value: string | number): string | number {
  return typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}
