/** `npm run findings [FILE]`: runs the simulations for docs/findings.md on all cores and writes the page. */

import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { explainError } from "@tutti/cli/errors.ts";
import { runCells } from "@tutti/lab/experiments/run-cells.ts";
import { findingsCells, findingsPage } from "@tutti/lab/findings/page.ts";

const file = process.argv[2] ?? fileURLToPath(new URL("../docs/findings.md", import.meta.url));
const cells = findingsCells();
try {
  const results = await runCells(cells, {
    workers: availableParallelism(),
    onDone: (done, of) => process.stderr.write(`\r${done} of ${of} runs`),
  });
  process.stderr.write("\n");
  writeFileSync(file, findingsPage(cells, results));
} catch (error) {
  const { message, exitCode } = explainError(error);
  process.stderr.write(`\nfindings: ${message}\n`);
  process.exitCode = exitCode;
}
