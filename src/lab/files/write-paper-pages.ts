/** Writes the HTML pages on reproduced papers. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { paperPage, papersIndex } from "../../report/html/paper-page.ts";
import type { ReproducedPaper } from "../../results/reproduction.ts";
import { OutputError, writeOutput } from "./write-whole.ts";

/** @throws OutputError if the file cannot be written */
export async function writePaperPage(path: string, result: ReproducedPaper): Promise<void> {
  await writeOutput(path, [paperPage(result)]);
}

/**
 * Writes `<key>.html` for each paper and `index.html` into a folder, which is created if it does not exist.
 * @returns the path of the index
 * @throws OutputError if a page cannot be written
 */
export async function writePaperPages(folder: string, results: readonly ReproducedPaper[]): Promise<string> {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new OutputError(
      `Cannot write pages to "${folder}": ${cause instanceof Error ? cause.message : cause}, expected a folder`,
      { cause },
    );
  }
  for (const result of results) await writePaperPage(join(folder, `${result.paper.key}.html`), result);
  const index = join(folder, "index.html");
  await writeOutput(index, [papersIndex(results)]);
  return index;
}
