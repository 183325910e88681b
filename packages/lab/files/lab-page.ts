/**
 * The laboratory as one HTML file, as scripts/build.ts has made it, and the report: the same file with a
 * result inside, which the page shows when it is opened.
 */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { DIST } from "@tutti/host/programs.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { pageData, pageText } from "../report/page/page-data.ts";
import type { Comparison } from "../results/comparison.ts";
import { writeOutput } from "./write-whole.ts";

/** @throws OutputError if the file cannot be written */
export async function writeReport(path: string, comparison: Comparison): Promise<void> {
  await writeOutput(path, [reportPage(comparison)]);
}

/** Only base64 comes from the comparison, so nothing in it can be markup. */
function reportPage(comparison: Comparison): string {
  const packed = gzipSync(pageText(pageData(comparison)), { level: 9 }).toString("base64");
  const page = labPage();
  const body = page.indexOf("<body>") + "<body>".length;
  return `${page.slice(0, body)}\n<script id="result" type="text/plain">${packed}</script>${page.slice(body)}`;
}

/** @throws InputError if the page was not built */
export function labPage(): string {
  const file = new URL("web/lab-one-file.html", DIST);
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(`Cannot read "${file.pathname}": the page is missing; run npm ci to build it`, {
      cause,
    });
  }
}
