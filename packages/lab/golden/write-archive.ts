/** Writes golden schedules to a folder, for other programs (archive.ts, python/check_swf.py). */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { writeSwf } from "@tutti/kernel/workload/traces/swf-writer.ts";
import { runCells, WITH_FILES } from "../experiments/run-cells.ts";
import { writeOutput } from "../files/write-whole.ts";
import { archiveCell, GOLDEN_SEED, GOLDEN_TRACES, type GoldenKey } from "./cells.ts";
import { archiveNotes } from "./page.ts";
import type { GoldenResult } from "./run.ts";
import { formatTable } from "./table.ts";

/** Cells whose tables are in memory together. */
const CELLS_PER_BATCH = 8;

/**
 * Runs the cells and writes their tables, the jobs of models, the rows of the golden table and SHA256SUMS.
 * The same cells give the same bytes. Returns the results without the tables.
 * @throws OutputError if the folder cannot be written to
 */
export async function writeArchive(
  folder: string,
  cells: readonly GoldenKey[],
  onDone?: (done: number, of: number) => void,
): Promise<GoldenResult[]> {
  const sums = new Map<string, string>();
  const write = async (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    await writeOutput(join(folder, name), [text]);
    sums.set(name, createHash("sha256").update(text).digest("hex"));
  };
  const results: GoldenResult[] = [];
  for (let from = 0; from < cells.length; from += CELLS_PER_BATCH) {
    const batch = cells.slice(from, from + CELLS_PER_BATCH);
    const own = await runCells(batch.map(archiveCell), { workers: availableParallelism() });
    for (const [i, { source, policy }] of batch.entries()) {
      const result = own[i];
      if ("refused" in result) {
        results.push(result);
        continue;
      }
      const { tables, ...numbers } = result;
      results.push(numbers);
      const name = `${fileName(source)}/${fileName(policy)}`;
      await write(`${name}.csv`, tables!.schedule);
      if (tables!.places !== undefined) await write(`${name}.places.csv`, tables!.places);
    }
    onDone?.(results.length, cells.length);
  }
  for (const source of new Set(cells.map(({ source }) => source))) {
    if ((GOLDEN_TRACES as readonly string[]).includes(source)) continue;
    const workload = await WITH_FILES.open(source, GOLDEN_SEED);
    await write(`${fileName(source)}.swf`, [...writeSwf(workload)].join(""));
  }
  await write("golden.tsv", formatTable(cells, results));
  await write("README.md", archiveNotes());
  const lines = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`);
  await writeOutput(join(folder, "SHA256SUMS"), lines);
  return results;
}

/** Not every system allows a colon in a name. */
function fileName(text: string): string {
  return text.replaceAll(":", ",");
}
