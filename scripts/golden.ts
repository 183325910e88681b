/**
 * `npm run golden [-- [--write] [--defaults] [--archive FOLDER] [SOURCE …]]`: runs the golden schedules and
 * compares them with docs/golden.tsv. With `--write`, writes that table and its page instead. With
 * `--archive`, also writes the schedules themselves to the folder (packages/lab/golden/archive.ts), with
 * their rows of the table and SHA256SUMS. `--defaults` leaves out policies with settings. Without traces it
 * runs only the models, and says so.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { explainError } from "@tutti/cli/errors.ts";
import { tracesFolder } from "@tutti/host/traces-folder.ts";
import { runCells } from "@tutti/lab/experiments/run-cells.ts";
import { GOLDEN_TRACES, goldenCell, goldenKeys, goldenSources } from "@tutti/lab/golden/cells.ts";
import { goldenPage } from "@tutti/lab/golden/page.ts";
import { differences, formatTable, orphanLines, parseTable } from "@tutti/lab/golden/table.ts";
import { writeArchive } from "@tutti/lab/golden/write-archive.ts";

const tableFile = fileURLToPath(new URL("../docs/golden.tsv", import.meta.url));
const pageFile = fileURLToPath(new URL("../docs/golden.md", import.meta.url));
const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, defaults: { type: "boolean" }, archive: { type: "string" } },
});

try {
  process.exitCode = await run();
} catch (error) {
  const { message, exitCode } = explainError(error);
  process.stderr.write(`\ngolden: ${message}\n`);
  process.exitCode = exitCode;
}

async function run(): Promise<number> {
  const sources = goldenSources().filter(
    (source) => wanted.length === 0 || wanted.some((word) => source.startsWith(word)),
  );
  const missing = sources.filter((source) => !isHere(source));
  if (missing.length > 0) {
    process.stderr.write(`skipped, no such file in TUTTI_TRACES: ${missing.join(", ")}\n`);
    if (values.write)
      return usage("Cannot write the table without all traces: set TUTTI_TRACES to their folder");
  }
  if (sources.length === 0) return usage(`Cannot find a source that begins with ${wanted.join(" or ")}`);
  if (values.write && (wanted.length > 0 || values.defaults))
    return usage("Cannot write a part of the table: leave --defaults and the sources out");
  const cells = goldenKeys(sources.filter(isHere)).filter(
    ({ policy }) => !values.defaults || !policy.includes(":"),
  );
  const startedMs = performance.now();
  const onDone = (done: number, of: number) => process.stderr.write(`\r${done} of ${of} schedules`);
  const results =
    values.archive === undefined
      ? await runCells(cells.map(goldenCell), { workers: availableParallelism(), onDone })
      : await writeArchive(values.archive, cells, onDone);
  process.stderr.write(`, ${Math.round((performance.now() - startedMs) / 1000)} s\n`);
  if (values.write) {
    const text = formatTable(cells, results);
    writeFileSync(tableFile, text);
    writeFileSync(pageFile, goldenPage(parseTable(text)));
    return 0;
  }
  const table = parseTable(readFileSync(tableFile, "utf8"));
  const lines = [
    ...differences(table, cells, results),
    ...orphanLines(table).map((key) => `no such cell: ${key}`),
  ];
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.stdout.write(
    lines.length === 0
      ? `all ${cells.length} schedules are those of docs/golden.tsv\n`
      : `${lines.length} of ${cells.length} schedules differ\n`,
  );
  return lines.length === 0 ? 0 : 1;
}

function isHere(source: string): boolean {
  const isTrace = (GOLDEN_TRACES as readonly string[]).includes(source);
  return !isTrace || existsSync(join(tracesFolder() ?? "", source));
}

function usage(message: string): number {
  process.stderr.write(`golden: ${message}\n`);
  return 64;
}
