/** Writes the HTML pages on reproduced papers. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PageFile } from "../report/markdown/paper-markdown.ts";
import { OutputError, writeOutput } from "./write-whole.ts";

/**
 * Writes files into a folder, which is created if it does not exist.
 * @throws OutputError if a file cannot be written
 */
export async function writePages(folder: string, files: readonly PageFile[]): Promise<void> {
  for (const [name, content] of files) {
    const path = join(folder, name);
    try {
      mkdirSync(dirname(path), { recursive: true });
    } catch (cause) {
      throw new OutputError(
        `Cannot write pages to "${folder}": ${cause instanceof Error ? cause.message : cause}, expected a folder`,
        { cause },
      );
    }
    await writeOutput(path, [content]);
  }
}
