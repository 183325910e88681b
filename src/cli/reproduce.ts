/** `tutti reproduce [PAPER]`: a paper's tables and statements beside our own numbers. */
import type { Command } from "commander";
import type { ReproducedTable, ReproducedValue } from "../lab/papers/paper.ts";
import { PAPERS } from "../lab/papers/registry.ts";
import { findPaper, type ReproductionResult, reproduce } from "../lab/reproduce.ts";
import { defaultWorkers } from "../lab/workers.ts";
import { asUsage } from "./errors.ts";
import { integer } from "./parse.ts";
import { Progress } from "./progress.ts";
import { number } from "./result-text.ts";
import { bold, columns, dim, wrap, writeOut } from "./text.ts";

interface ReproduceOptions {
  readonly seed?: number;
  readonly workers: number;
  readonly json?: boolean;
  readonly progress: boolean;
}

export function configure(command: Command): void {
  command
    .argument("[paper]", "key of a paper; without it they are listed")
    .option("--seed <n>", "seed of the workloads (default: the paper's own)", integer(0))
    .option("--workers <n>", "threads to use", integer(1, 1024), defaultWorkers())
    .option("--json", "print as JSON")
    .option("--no-progress", "no progress bar")
    .action(run);
}

async function run(key: string | undefined, options: ReproduceOptions): Promise<void> {
  if (key === undefined) {
    const lines = PAPERS.map(
      (paper) => `${bold(paper.key)}: ${wrap(`${paper.authors}, ${paper.title}, ${paper.published}`, 2)}`,
    );
    writeOut(`${lines.join("\n")}\n\ntutti reproduce KEY runs one.\n`);
    return;
  }
  const paper = await asUsage(() => findPaper(key));
  const progress = new Progress("cells", options.progress);
  const result = await reproduce(paper, options.seed, {
    workers: options.workers,
    onDone: (done, of) => progress.update(done, of),
  }).finally(() => progress.end());
  writeOut(options.json ? `${JSON.stringify(result, undefined, 2)}\n` : resultText(result));
}

function resultText({ paper, tables, statements, notes, seed, tutti }: ReproductionResult): string {
  return [
    `${bold(paper.title)}\n${wrap(`${paper.authors}, ${paper.published}`, 0)}`,
    ...tables.map(tableText),
    [
      bold("Statements of the paper"),
      ...statements.map(
        ({ statement, holds, evidence }) =>
          `  ${holds ? "holds     " : "does not  "}${wrap(`${statement}: ${evidence}`, 12)}`,
      ),
    ].join("\n"),
    [bold("Notes"), ...notes.map((note) => `  - ${wrap(note, 4)}`)].join("\n"),
    dim(`seed ${seed}, tutti ${tutti.version}, revision ${tutti.revision}\n`),
  ].join("\n\n");
}

/** One line per value, so that every deviation has its place for a reason. */
function tableText({ id, title, labelColumns, valueColumns, rows }: ReproducedTable): string {
  const reasons: string[] = [];
  const lines = rows.flatMap(({ labels, values }) =>
    values.map((value, i) => {
      const column = valueColumns[i];
      const mark = value.reason === undefined ? "" : `[${reasonNumber(reasons, value.reason)}]`;
      const name = column?.unit === undefined ? column?.name : `${column.name}, ${column.unit}`;
      return [...(i === 0 ? labels : labels.map(() => "")), name ?? "", ...valueCells(value), mark];
    }),
  );
  return [
    bold(`${id}. ${title}`),
    columns([...labelColumns, "", "published", "ours", "±", "deviation", ""], lines, labelColumns.length + 1),
    ...valueColumns.map(({ name, meaning }) => dim(`  ${name}: ${wrap(meaning, 4)}`)),
    ...reasons.map((reason, i) => `  [${i + 1}] ${wrap(reason, 6)}`),
  ].join("\n");
}

function valueCells({ published, ours, halfWidth }: ReproducedValue): string[] {
  const deviation = published === null || published === 0 ? Number.NaN : ours / published - 1;
  return [
    number(published ?? Number.NaN),
    number(ours),
    halfWidth === null ? "" : number(halfWidth),
    Number.isNaN(deviation) ? "" : `${deviation < 0 ? "−" : "+"}${Math.abs(100 * deviation).toFixed(1)} %`,
  ];
}

/** The same reason has the same number. */
function reasonNumber(reasons: string[], reason: string): number {
  const known = reasons.indexOf(reason);
  return known >= 0 ? known + 1 : reasons.push(reason);
}
