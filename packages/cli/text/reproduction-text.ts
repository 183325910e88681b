/**
 * Formats reproduced papers for a terminal: tables of published values next to our results, then statements
 * and notes. Also formats an overview of several papers.
 */

import {
  deviates,
  deviationText,
  isCompared,
  reasonNumber,
  testLegend,
  testText,
  valueColumns,
} from "@tutti/lab/report/deviations.ts";
import { COUNT_TITLES, countTexts, pageClaims } from "@tutti/lab/report/paper-counts.ts";
import { statementWords } from "@tutti/lab/report/paper-index.ts";
import type { ReproducedPaper, ReproducedTable, ReproducedValue } from "@tutti/lab/results/reproduction.ts";
import { bold, bullet, dim, leftColumn, rightColumn, table, wrap } from "./text.ts";

/** One paper in full. */
export function reproductionText(reproduction: ReproducedPaper): string {
  const { paper, tables, statements, notes, seed, tutti } = reproduction;
  const { claimed, notClaimed } = pageClaims(reproduction);
  const bullets = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [[bold(title), ...texts.map(bullet)].join("\n")];
  const verdicts = statements.map(
    (said) => `  ${statementWords(said).padEnd(15)}${wrap(`${said.statement}: ${said.evidence}`, 17)}`,
  );
  return [
    `${bold(paper.title)}\n${wrap(`${paper.authors}, ${paper.published}`, 0)}`,
    ...bullets("What this reproduction claims", claimed),
    ...bullets("What it does not claim", notClaimed),
    ...tables.map(tableText),
    ...(verdicts.length === 0 ? [] : [[bold("Statements of the paper"), ...verdicts].join("\n")]),
    ...bullets("Notes", notes),
    dim(`seed ${seed}, tutti ${tutti.version}\n`),
  ].join("\n\n");
}

/** One line per paper: how many values and statements agree. */
export function overviewText(papers: readonly ReproducedPaper[]): string {
  const rows = papers.map((reproduction) => [reproduction.paper.key, ...countTexts(reproduction)]);
  const columns = [leftColumn("paper"), ...COUNT_TITLES.map((title, i) => rightColumn(title, i % 4))];
  return `${table(columns, rows)}\n`;
}

function tableText(reproduced: ReproducedTable): string {
  const { id, title } = reproduced;
  const reasons: string[] = [];
  const test = testLegend(reproduced);
  return [
    bold(`${id}. ${title}`),
    isCompared(reproduced) ? comparedTable(reproduced, reasons) : plainTable(reproduced),
    ...(test === "" ? [] : [dim(`  ${wrap(test, 4)}`)]),
    ...reproduced.valueColumns.map(({ name, meaning }) => dim(`  ${name}: ${wrap(meaning, 4)}`)),
    ...reasons.map((reason, i) => `  [${i + 1}] ${wrap(reason, 6)}`),
  ].join("\n");
}

/** A table without published values, in its own form. */
function plainTable(reproduced: ReproducedTable): string {
  const columns = valueColumns(reproduced);
  const cell = (value: ReproducedValue, i: number) => {
    const { ours, halfWidth } = columns[i].textsOf(value);
    return halfWidth === "" ? ours : `${ours} ± ${halfWidth}`;
  };
  return table(
    [...reproduced.labelColumns.map(leftColumn), ...columns.map(({ heading }, i) => rightColumn(heading, i))],
    reproduced.rows.map(({ labels, values }) => [...labels, ...values.map(cell)]),
  );
}

/** A table with published values, one line per value, so that each deviation can have its reason. */
function comparedTable(reproduced: ReproducedTable, reasons: string[]): string {
  const columns = valueColumns(reproduced);
  const isTested = testLegend(reproduced) !== "";
  const lines = reproduced.rows.flatMap(({ labels, values }) =>
    values.map((value, i) => {
      const { heading, textsOf } = columns[i];
      const { published, ours, halfWidth } = textsOf(value);
      return [
        ...(i === 0 ? labels : labels.map(() => "")),
        heading,
        ...[published, ours, halfWidth, deviationText(value)],
        ...(isTested ? [testText(value).replace("t ", "")] : []),
        reasonMark(value, reasons),
      ];
    }),
  );
  return table(
    [
      ...reproduced.labelColumns.map(leftColumn),
      leftColumn(""),
      rightColumn("published"),
      rightColumn("ours"),
      rightColumn("±", 1),
      rightColumn("deviation"),
      ...(isTested ? [rightColumn("t")] : []),
      leftColumn(""),
    ],
    lines,
  );
}

function reasonMark(value: ReproducedValue, reasons: string[]): string {
  const { reason = "" } = value;
  if (reason === "") return deviates(value) ? "no reason given" : "";
  return `[${reasonNumber(reason, reasons)}]`;
}
