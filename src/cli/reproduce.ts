/** `tutti reproduce [PAPER]`: a paper's tables and statements beside our own numbers. */
import type { Command } from "commander";
import type { ReproducedTable, ReproducedValue } from "../lab/papers/paper.ts";
import { PAPERS } from "../lab/papers/registry.ts";
import { findPaper, type ReproductionResult, reproduce } from "../lab/reproduce.ts";
import { formatNumber } from "../report/format.ts";
import { jsonDocument } from "../report/json.ts";
import { asUsage } from "./errors.ts";
import { addWorkersOption } from "./options.ts";
import { integer } from "./parse.ts";
import { Progress } from "./progress.ts";
import { left, right, table } from "./result-text.ts";
import { bold, dim, hint, wrap, writeOut } from "./text.ts";

interface ReproduceOptions {
  readonly seed?: number;
  readonly workers: number;
  readonly json?: boolean;
  readonly svg?: string;
  readonly progress: boolean;
}

export function configure(command: Command): void {
  command
    .argument("[paper]", "key of a paper; without it they are listed")
    .option("--seed <n>", "seed of the workloads (default: the paper's own)", integer(0))
    .option("--json", "print as JSON")
    .option("--svg <folder>", "also draw the figures, one file each, in a folder that is there")
    .option("--no-progress", "no progress bar");
  addWorkersOption(command).action(run);
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
  if (options.svg !== undefined) await writeFigures(options.svg, result);
  writeOut(options.json ? jsonDocument("tutti.reproduction/1", result) : resultText(result));
}

async function writeFigures(folder: string, { paper, figures }: ReproductionResult): Promise<void> {
  const [{ lineFigureSvg }, { writeOutput }] = await Promise.all([
    import("../report/svg.ts"),
    import("../lab/output.ts"),
  ]);
  for (const { id, title, xAxis, yAxis, series } of figures) {
    const lines = series.map(({ name, ours, published }) => ({ name, points: ours, published }));
    const file = `${folder}/${paper.key}-${id.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.svg`;
    writeOutput(file, [lineFigureSvg({ title: `${id}. ${title}`, xTitle: xAxis, yTitle: yAxis, lines })]);
    hint(`${id} is in ${file}`);
  }
}

function resultText({ paper, tables, statements, notes, seed, tutti }: ReproductionResult): string {
  return [
    `${bold(paper.title)}\n${wrap(`${paper.authors}, ${paper.published}`, 0)}`,
    ...tables.map(tableText),
    [
      bold("Statements of the paper"),
      ...statements.map(
        ({ statement, holds, evidence }) =>
          `  ${holds ? "holds          " : "does not hold  "}${wrap(`${statement}: ${evidence}`, 17)}`,
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
    table(
      [
        ...labelColumns.map(left),
        left(""),
        right("published"),
        right("ours"),
        right("±", 1),
        right("deviation"),
        left(""),
      ],
      lines,
    ),
    ...valueColumns.map(({ name, meaning }) => dim(`  ${name}: ${wrap(meaning, 4)}`)),
    ...reasons.map((reason, i) => `  [${i + 1}] ${wrap(reason, 6)}`),
  ].join("\n");
}

function valueCells({ published, ours, halfWidth }: ReproducedValue): string[] {
  const deviation = published === null || published === 0 ? Number.NaN : ours / published - 1;
  return [
    formatNumber(published ?? Number.NaN),
    formatNumber(ours),
    halfWidth === null ? "" : formatNumber(halfWidth),
    Number.isNaN(deviation) ? "" : `${deviation < 0 ? "−" : "+"}${Math.abs(100 * deviation).toFixed(1)} %`,
  ];
}

/** The same reason has the same number. */
function reasonNumber(reasons: string[], reason: string): number {
  const known = reasons.indexOf(reason);
  return known >= 0 ? known + 1 : reasons.push(reason);
}
