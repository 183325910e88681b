/** Reproduced papers on a terminal: tables with published values beside ours, statements, notes; an overview of several. */

import {
  countReproduction,
  deviates,
  deviationText,
  valueColumns,
  valueTexts,
} from "../../report/deviations.ts";
import { formatCount } from "../../report/text/format.ts";
import type { ReproducedPaper, ReproducedTable, ReproducedValue } from "../../results/reproduction.ts";
import { left, right, table } from "./result-text.ts";
import { bold, dim, wrap } from "./text.ts";

/** One paper in full. */
export function reproductionText({ paper, tables, statements, notes, seed, tutti }: ReproducedPaper): string {
  const said = statements.map(
    ({ statement, holds, evidence }) =>
      `  ${holds ? "holds          " : "does not hold  "}${wrap(`${statement}: ${evidence}`, 17)}`,
  );
  return [
    `${bold(paper.title)}\n${wrap(`${paper.authors}, ${paper.published}`, 0)}`,
    ...tables.map(tableText),
    ...(said.length === 0 ? [] : [[bold("Statements of the paper"), ...said].join("\n")]),
    [bold("Notes"), ...notes.map((note) => `  - ${wrap(note, 4)}`)].join("\n"),
    dim(`seed ${seed}, tutti ${tutti.version}\n`),
  ].join("\n\n");
}

/** One line per paper: how many values and statements agree. */
export function overviewText(papers: readonly ReproducedPaper[]): string {
  const rows = papers.map((reproduction) => {
    const { compared, within, explained, unexplained, statements, holding } = countReproduction(reproduction);
    return [
      reproduction.paper.key,
      shareText(within, compared),
      formatCount(explained),
      formatCount(unexplained),
      shareText(holding, statements),
    ];
  });
  const columns = [
    left("paper"),
    right("values within 10 %"),
    right("beyond, with a reason", 1),
    right("beyond, without", 2),
    right("statements that hold"),
  ];
  return `${table(columns, rows)}\n`;
}

function shareText(count: number, of: number): string {
  return of === 0 ? "–" : `${formatCount(count)} of ${formatCount(of)}`;
}

function tableText(reproduced: ReproducedTable): string {
  const { id, title, rows } = reproduced;
  const reasons: string[] = [];
  const isCompared = rows.some(({ values }) => values.some(({ published }) => published !== null));
  return [
    bold(`${id}. ${title}`),
    isCompared ? comparedTable(reproduced, reasons) : plainTable(reproduced),
    ...reproduced.valueColumns.map(({ name, meaning }) => dim(`  ${name}: ${wrap(meaning, 4)}`)),
    ...reasons.map((reason, i) => `  [${i + 1}] ${wrap(reason, 6)}`),
  ].join("\n");
}

/** Nothing is published: in the form of the table itself. */
function plainTable(reproduced: ReproducedTable): string {
  const columns = valueColumns(reproduced);
  const cell = (value: ReproducedValue, i: number) => {
    const { ours, halfWidth } = valueTexts(value, columns[i]?.areDurations ?? false);
    return halfWidth === "" ? ours : `${ours} ± ${halfWidth}`;
  };
  return table(
    [...reproduced.labelColumns.map(left), ...columns.map(({ heading }, i) => right(heading, i))],
    reproduced.rows.map(({ labels, values }) => [...labels, ...values.map(cell)]),
  );
}

/** One line per value, so that every deviation has its place for a reason. */
function comparedTable(reproduced: ReproducedTable, reasons: string[]): string {
  const columns = valueColumns(reproduced);
  const lines = reproduced.rows.flatMap(({ labels, values }) =>
    values.map((value, i) => {
      const { heading = "", areDurations = false } = columns[i] ?? {};
      return [
        ...(i === 0 ? labels : labels.map(() => "")),
        heading,
        ...valueCells(value, areDurations),
        reasonMark(value, reasons),
      ];
    }),
  );
  return table(
    [
      ...reproduced.labelColumns.map(left),
      left(""),
      right("published"),
      right("ours"),
      right("±", 1),
      right("deviation"),
      left(""),
    ],
    lines,
  );
}

function valueCells(value: ReproducedValue, areDurations: boolean): string[] {
  const { published, ours, halfWidth } = valueTexts(value, areDurations);
  return [published, ours, halfWidth, deviationText(value)];
}

/** The same reason has the same number. */
function reasonMark(value: ReproducedValue, reasons: string[]): string {
  const { reason = "" } = value;
  if (reason === "") return deviates(value) ? "no reason given" : "";
  const known = reasons.indexOf(reason);
  return `[${known >= 0 ? known + 1 : reasons.push(reason)}]`;
}
