/** `tutti lab reproduce [PAPER]`: prints tables, figures and statements of papers next to our results. */

import type { PageFile } from "@tutti/lab/report/markdown/paper-markdown.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import type { Paper } from "@tutti/papers/paper.ts";
import { findPaper, PAPERS } from "@tutti/papers/registry.ts";
import { type ReproductionResult, reproduce } from "@tutti/papers/reproduce.ts";
import { type Command, Option } from "commander";
import { asUsage, UsageError } from "../errors.ts";
import { addWorkersOption } from "../options/options.ts";
import { integer } from "../options/parse.ts";
import { withBar } from "../text/progress.ts";
import { overviewText, reproductionText } from "../text/reproduction-text.ts";
import { bold, hint, wrap, writeOut } from "../text/text.ts";

interface ReproduceOptions {
  readonly all?: boolean;
  readonly seed?: number;
  readonly workers: number;
  readonly json?: boolean;
  readonly svg?: string;
  readonly html?: string;
  readonly markdown?: string;
  readonly progress: boolean;
}

const JSON_SCHEMA = "tutti.reproduction/1";

/** Adds description, options and action to `reproduce [PAPER]`. */
export function configureReproduce(command: Command): void {
  command
    .description("print a paper's tables next to our numbers; without PAPER, list the papers")
    .option("--all", "reproduce all papers, one after the other")
    .addOption(
      new Option("--seed <n>", "seed of the workloads (default: the paper's own)")
        .argParser(integer(0))
        .conflicts("all"),
    )
    .option("--json", "print as JSON")
    .option(
      "--html <path>",
      "also write a page to this file; with --all, write a page per paper and an index to this folder",
    )
    .option(
      "--markdown <folder>",
      "also write the page as Markdown, with its figures, to this folder; with --all, all pages and an index",
    )
    .option("--svg <folder>", "also write the figures to this existing folder, one file each")
    .option("--no-progress", "show no progress bar");
  addWorkersOption(command).action(run);
}

async function run(key: string | undefined, options: ReproduceOptions): Promise<void> {
  if (options.all) return runAll(key, options);
  if (key === undefined) {
    const lines = PAPERS.map(({ key, authors, title, published }) =>
      wrap(`${key}: ${authors}, ${title}, ${published}`, 2).replace(key, bold(key)),
    );
    writeOut(
      `${lines.join("\n")}\n\ntutti lab reproduce KEY reproduces one, tutti lab reproduce --all reproduces all of them.\n`,
    );
    return;
  }
  const paper = await asUsage(() => findPaper(key));
  const result = await reproduceOne(paper, `cells of ${key}`, options);
  if (options.svg !== undefined) await writeFigures(options.svg, result);
  if (options.html !== undefined) {
    const [{ paperPage }, { writeOutput }] = await Promise.all([
      import("@tutti/lab/report/html/paper-page.ts"),
      import("@tutti/lab/files/write-whole.ts"),
    ]);
    await writeOutput(options.html, [paperPage(result)]);
    hint(`The page is in ${options.html}`);
  }
  if (options.markdown !== undefined) {
    const { markdownPage } = await import("@tutti/lab/report/markdown/paper-markdown.ts");
    await writeTo(options.markdown, markdownPage(result), `${key}.md`);
  }
  writeOut(options.json ? jsonDocument(JSON_SCHEMA, result) : reproductionText(result));
}

async function runAll(key: string | undefined, options: ReproduceOptions): Promise<void> {
  if (key !== undefined)
    throw new UsageError(`Cannot use --all with paper "${key}": expected one or the other`);
  const results: ReproductionResult[] = [];
  for (const [i, paper] of PAPERS.entries()) {
    const what = `cells of ${paper.key}, paper ${i + 1} of ${PAPERS.length}`;
    const result = await reproduceOne(paper, what, options);
    if (options.svg !== undefined) await writeFigures(options.svg, result);
    const isWritten = options.html !== undefined || options.markdown !== undefined;
    if (!isWritten && !options.json) writeOut(`${reproductionText(result)}\n`);
    results.push(result);
  }
  const { htmlFiles, markdownFiles } = await import("@tutti/lab/report/paper-files.ts");
  if (options.html !== undefined) await writeTo(options.html, htmlFiles(results), "index.html");
  if (options.markdown !== undefined) await writeTo(options.markdown, markdownFiles(results), "index.md");
  writeOut(options.json ? jsonDocument("tutti.reproductions/1", { papers: results }) : overviewText(results));
}

async function writeTo(folder: string, files: readonly PageFile[], first: string): Promise<void> {
  const { writePages } = await import("@tutti/lab/files/write-paper-pages.ts");
  await writePages(folder, files);
  hint(`Begin with ${folder}/${first}`);
}

function reproduceOne(
  paper: Paper,
  what: string,
  { seed, workers, progress }: ReproduceOptions,
): Promise<ReproductionResult> {
  return withBar(what, progress, (onDone) => reproduce(paper, seed, { workers, onDone }));
}

async function writeFigures(folder: string, { paper, figures }: ReproductionResult): Promise<void> {
  const [{ lineFigureSvg }, { writeOutput }] = await Promise.all([
    import("@tutti/lab/report/svg/figure-svg.ts"),
    import("@tutti/lab/files/write-whole.ts"),
  ]);
  for (const figure of figures) {
    const file = `${folder}/${paper.key}-${figure.id.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.svg`;
    await writeOutput(file, [lineFigureSvg(figure)]);
    hint(`${figure.id} is in ${file}`);
  }
}
