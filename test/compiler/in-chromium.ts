/**
 * The proof of many.ts for browsers, where nobody can set the flag: the program that V8 compiles wrongly,
 * and cells of papers, run in many new processes of Chromium as users start them. Cells must have the results
 * that they have in Node. A page of papers computes each once, so nothing hides a difference.
 *
 *   node test/compiler/in-chromium.ts 150
 */
import "@tutti/papers/kinds.ts";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import { PAPERS } from "@tutti/papers/registry.ts";
import { runCells } from "@tutti/papers/run-cells.ts";
import { buildPapersPage } from "../../scripts/build-web.ts";
import { CHROMIUM, launchChromium, serveFiles } from "../../scripts/chromium.ts";
import { lostNumbers } from "./shared-numbers.ts";

const RIGHT = JSON.stringify({ loop: 0, recursion: 0 });
const PROGRAM = `JSON.stringify((${lostNumbers})())`;

/**
 * How often Chromium leaves Maglev's code of the program where it needs an object. Only there can it fail,
 * so the proof is worth nothing if this is 0. Only a browser of one process writes it where we can read it.
 */
function timesLeft(chromium: string): number {
  const folder = mkdtempSync(join(tmpdir(), "tutti-compiler-"));
  try {
    const file = join(folder, "program.html");
    writeFileSync(file, `<!DOCTYPE html><title></title><script>document.title = ${PROGRAM}</script>`);
    const words = ["--no-sandbox", "--single-process", "--js-flags=--trace-deopt", "--dump-dom", file];
    const lines = execFileSync(chromium, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return lines.match(/begin\. deoptimizing \S+ <JSFunction (add|descend) .*<Code MAGLEV>/g)?.length ?? 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const processes = Number(process.argv[2] ?? 150);
if (CHROMIUM === undefined) console.log("Chromium is not installed, so it is left out");
else {
  // Of the paper whose cells once went wrong, and the first of each other one that is short.
  const cells = PAPERS.flatMap((paper) => {
    const all = paper.cells(paper.defaultSeed).map(({ cell }) => cell);
    return paper.key === "dimitriadou2009" ? [all[375], all[749]] : [all[all.length >> 1]];
  });
  const expected = jsonDocument("tutti.cells/1", { results: await runCells(cells, { workers: 1 }) });
  const files = new Map([...(await buildPapersPage()), ["program.js", `postMessage(${PROGRAM})`]]);
  let wrongProgram = 0;
  let wrongCells = 0;
  let version = "";
  for (let i = 0; i < processes; i++) {
    const browser = await launchChromium();
    try {
      version = browser.version();
      const page = await browser.newPage();
      await serveFiles(page, files);
      const said = await page.evaluate(
        `new Promise((resolve) => { new Worker("program.js").onmessage = ({ data }) => resolve(data); })`,
      );
      if (said !== RIGHT) wrongProgram++;
      const results = await page.evaluate(`tuttiPapers.results(${JSON.stringify(cells)}, 1)`);
      if (results !== expected) wrongCells++;
    } finally {
      await browser.close();
    }
    if ((i + 1) % 10 === 0) console.log(`${i + 1} of ${processes}: ${wrongProgram} and ${wrongCells} wrong`);
  }
  console.log(
    `Chromium ${version}: of ${processes} processes, the program was wrong in ${wrongProgram} and ` +
      `${cells.length} cells of papers in ${wrongCells} (the program's code was left ${timesLeft(CHROMIUM)} times)`,
  );
  if (wrongProgram + wrongCells > 0) process.exitCode = 1;
}
