/**
 * Writes the pages on papers as Markdown that a code host shows: tables with our values above the published
 * ones, figures as links to SVG files, matrices as text. The same reproduction makes the same bytes.
 */

import { withoutControls } from "@tutti/kernel/core/escape.ts";
import type {
  ReproducedFigure,
  ReproducedMatrices,
  ReproducedPaper,
  ReproducedTable,
  ReproducedValue,
} from "../../results/reproduction.ts";
import {
  comparisonText,
  deviates,
  isCompared,
  reasonNumber,
  testLegend,
  type ValueTexts,
  valueColumns,
} from "../deviations.ts";
import { pageClaims } from "../paper-counts.ts";
import { anchorsOf, statementAnchor, statementWords } from "../paper-index.ts";
import { lineFigureSvg } from "../svg/figure-svg.ts";

/** A file's name, relative to the folder of the pages, and its content. */
export type PageFile = readonly [name: string, content: string];

/** The page `<key>.md` and the figures that it links. */
export function markdownPage(reproduction: ReproducedPaper): PageFile[] {
  const { paper, figures } = reproduction;
  const anchors = anchorsOf(reproduction);
  const drawn = figures.map((figure): PageFile => {
    const name = `figures/${paper.key}-${anchors.get(figure)}.svg`;
    return [name, lineFigureSvg(figure)];
  });
  const links = new Map(figures.map((figure, i) => [figure, drawn[i][0]]));
  return [[`${paper.key}.md`, page(reproduction, anchors, links)], ...drawn];
}

function page(
  reproduction: ReproducedPaper,
  anchors: ReadonlyMap<object, string>,
  links: ReadonlyMap<ReproducedFigure, string>,
): string {
  const { paper, tables, figures, matrices = [], statements, notes, seed, tutti } = reproduction;
  const { claimed, notClaimed } = pageClaims(reproduction);
  const titled = (part: ReproducedTable | ReproducedFigure | ReproducedMatrices) =>
    `## <a id="${anchors.get(part)}"></a>${prose(`${part.id}. ${part.title}`)}`;
  const listed = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [`## ${title}`, texts.map((text) => `- ${prose(text)}`).join("\n")];
  const said = statements.map((said, i) => {
    const words = statementWords(said);
    const verdict = words[0].toUpperCase() + words.slice(1);
    return `${i + 1}. <a id="${statementAnchor(i)}"></a>**${verdict}**: ${prose(said.statement)}<br>\n   ${prose(said.evidence)}`;
  });
  return `${[
    `# ${prose(paper.title)}`,
    `${prose(`${paper.authors}, ${paper.published}`)}. [All papers](index.md)`,
    ...listed("What this page claims", claimed),
    ...listed("What it does not claim", notClaimed),
    ...(said.length === 0 ? [] : ["## What the paper says", said.join("\n")]),
    ...matrices.flatMap((figure) => [titled(figure), ...figure.steps.flatMap(matrixParts)]),
    ...tables.flatMap((table) => [titled(table), ...tableParts(table)]),
    ...figures.flatMap((figure) => [
      titled(figure),
      `![${prose(`${figure.id}. ${figure.title}`)}](${links.get(figure)})`,
    ]),
    ...listed("How the paper was read", notes),
    "## How this page was made",
    `\`tutti lab reproduce ${paper.key} --seed ${seed}\` with Tutti ${tutti.version}; \`npm run papers\` writes all pages.`,
  ].join("\n\n")}\n`;
}

function matrixParts({ caption, rows }: ReproducedMatrices["steps"][number]): string[] {
  const lines = rows.map((row) => row.map((name) => name ?? ".").join(" "));
  return [`${prose(caption)}:`, `\`\`\`text\n${lines.join("\n")}\n\`\`\``];
}

function tableParts(table: ReproducedTable): string[] {
  const reasons: string[] = [];
  const columns = valueColumns(table);
  const rows = table.rows.map(({ labels, values }) => [
    ...labels.map(prose),
    ...values.map((value, i) => cell(value, columns[i].textsOf(value), reasons)),
  ]);
  const head = [...table.labelColumns, ...columns.map(({ heading }) => heading)].map(prose);
  const align = [...table.labelColumns.map(() => ":--"), ...columns.map(() => "--:")];
  const test = testLegend(table);
  const legend = [
    isCompared(table) ? "Ours; below it the published value and our deviation from it." : "Ours.",
    ...(test === "" ? [] : [`${prose(test)}.`]),
    ...table.valueColumns.map(({ name, meaning }) => `${prose(name)}: ${prose(meaning)}.`),
  ];
  return [
    markdownTable(head, align, rows),
    legend.join(" "),
    ...(reasons.length === 0 ? [] : [reasons.map((reason, i) => `${i + 1}. ${prose(reason)}`).join("\n")]),
  ];
}

function cell(value: ReproducedValue, { published, ours, halfWidth }: ValueTexts, reasons: string[]): string {
  const { reason = "" } = value;
  const mine = `**${ours}**${halfWidth === "" ? "" : ` ± ${halfWidth}`}`;
  if (value.published === null) return mine;
  const missing = deviates(value) ? " no reason given" : "";
  const mark = reason === "" ? missing : ` [${reasonNumber(reason, reasons)}]`;
  const compared = comparisonText(value);
  return `${[mine, published, ...(compared === "" ? [] : [compared])].join("<br>")}${mark}`;
}

/** A table; the texts of the cells are Markdown. */
export function markdownTable(
  head: readonly string[],
  align: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return [head, align, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Text in which nothing is Markdown or HTML. */
export function prose(text: string): string {
  return withoutControls(text)
    .replace(/[\\`*_[\]|~#]/g, (character) => `\\${character}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
