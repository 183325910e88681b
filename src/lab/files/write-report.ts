/**
 * Writes the HTML report: the page of report/html/html.ts, with the script for its charts that
 * scripts/build.ts has bundled.
 */
import { readFileSync } from "node:fs";
import { InputError } from "../../core/errors.ts";
import { DIST } from "../../host/programs.ts";
import { htmlReport } from "../../report/html/html.ts";
import type { Comparison } from "../../results/comparison.ts";
import { writeOutput } from "./write-whole.ts";

/** @throws OutputError if the file cannot be written */
export async function writeReport(path: string, comparison: Comparison): Promise<void> {
  await writeOutput(path, [htmlReport(comparison, { chartScript: chartScript() })]);
}

function chartScript(): string {
  const file = new URL("report-page.js", DIST);
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(
      `Cannot read "${file.pathname}": the chart script is missing; run npm ci to build it`,
      {
        cause,
      },
    );
  }
}
