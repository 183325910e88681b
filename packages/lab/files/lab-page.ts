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

function reportPage(comparison: Comparison): string {
  return pageWith("result", pageText(pageData(comparison)), labPage());
}

/** @throws InputError if the page was not built */
export function labPage(): string {
  return builtPage("lab-one-file.html");
}

/**
 * Writes a page that has a text inside, packed, which it shows when it is opened.
 * @param id of the element with the text
 * @param name of the page in dist/web
 * @throws InputError if the page was not built, OutputError if the file cannot be written
 */
export async function writePageWith(path: string, id: string, text: string, name: string): Promise<void> {
  await writeOutput(path, [pageWith(id, text, builtPage(name))]);
}

/** Only base64 comes from the text, so nothing in it can be markup. */
function pageWith(id: string, text: string, page: string): string {
  const packed = gzipSync(text, { level: 9 }).toString("base64");
  const body = page.indexOf("<body>") + "<body>".length;
  return `${page.slice(0, body)}\n<script id="${id}" type="text/plain">${packed}</script>${page.slice(body)}`;
}

function builtPage(name: string): string {
  const file = new URL(`web/${name}`, DIST);
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(`Cannot read "${file.pathname}": the page is missing; run npm ci to build it`, {
      cause,
    });
  }
}
