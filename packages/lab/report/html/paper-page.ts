/**
 * Writes the pages on reproduced papers: published values next to ours, figures in the papers' form, and
 * statements with the numbers that decide them. They are plain HTML without scripts. A page names the
 * version, the seed and the command, but nothing that changes from run to run, so the same program writes the
 * same bytes.
 */

import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { formatNumber } from "@tutti/kernel/core/format.ts";
import type {
  ReproducedFigure,
  ReproducedPaper,
  ReproducedStatement,
  ReproducedTable,
} from "../../results/reproduction.ts";
import { pageClaims } from "../paper-counts.ts";
import { anchorsOf, statementAnchor, statementWords } from "../paper-index.ts";
import { type PrintedValue, printedTable } from "../printed-table.ts";
import { figureTitle, inlineFigureSvg, legendMark } from "../svg/figure-svg.ts";
import { matricesFigure } from "../svg/matrix-svg.ts";
import { bullets, dataTable, htmlPage, termList } from "./html-parts.ts";

export const FOOTER = "Made by <code>tutti lab reproduce</code> with Tutti ";

/** The page of one paper. */
export function paperPage(reproduction: ReproducedPaper): string {
  const { paper, tables, figures, matrices = [], statements, notes, seed, tutti } = reproduction;
  const anchors = anchorsOf(reproduction);
  return htmlPage({
    title: paper.title,
    version: tutti.version,
    brand: "Tutti · a paper reproduced",
    lead: `<p>${escapeHtml(`${paper.authors}, ${paper.published}`)}</p>`,
    main: [
      claimsSection(reproduction),
      statements.length === 0 ? "" : statementsSection(statements),
      ...matrices.map((figure) => matricesFigure(figure, anchors.get(figure)!)),
      ...tables.map((table) => tableSection(table, anchors.get(table)!)),
      figuresSection(figures, anchors),
      `<section><h2>How the paper was read</h2>${bullets(notes)}</section>`,
      `<section><h2>How this page was made</h2>${termList([
        ["command", `tutti lab reproduce ${paper.key} --seed ${seed}`],
        ["seed", String(seed)],
        ["program", `tutti ${tutti.version}`],
      ])}<p class="note">The same command prints the same numbers to the last digit, with any number of threads.</p></section>`,
    ].join("\n"),
    footer: `${FOOTER}${escapeHtml(tutti.version)}. <a href="index.html">All papers</a>`,
  });
}

/** What the page claims, and what it does not. */
function claimsSection(reproduction: ReproducedPaper): string {
  const { claimed, notClaimed } = pageClaims(reproduction);
  const section = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? "" : `<section><h2>${title}</h2>${bullets(texts)}</section>`;
  return section("What this page claims", claimed) + section("What it does not claim", notClaimed);
}

function statementsSection(statements: readonly ReproducedStatement[]): string {
  const items = statements.map((said, i) => {
    const words = statementWords(said);
    const style = { holds: "yes", open: "undecided", "does not hold": "no" }[words];
    return `<li id="${statementAnchor(i)}"><span class="verdict ${style}">${words}</span><div>${escapeHtml(said.statement)}<p class="note">${escapeHtml(said.evidence)}</p></div></li>`;
  });
  return `<section><h2>What the paper says</h2><ol class="statements">${items.join("")}</ol></section>`;
}

function tableSection(table: ReproducedTable, anchor: string): string {
  const { id, title, legend, labels, columns, rows, reasons } = printedTable(table);
  const body = rows.map(
    ({ labels, values }) =>
      `<tr>${labels.map((label) => `<th scope="row">${escapeHtml(label)}</th>`).join("")}${values.map(cell).join("")}</tr>`,
  );
  const head = [
    ...labels.map((name) => `<th scope="col" class="label">${escapeHtml(name)}</th>`),
    ...columns.map(({ heading }) => `<th scope="col">${escapeHtml(heading)}</th>`),
  ];
  return `<section id="${anchor}">
<h2>${escapeHtml(`${id}. ${title}`)}</h2>
<p class="note">${escapeHtml(legend)}</p>
<div class="scroll"><table class="paper"><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("\n")}</tbody></table></div>
${reasons.length === 0 ? "" : `<ol class="reasons">${reasons.map((reason) => `<li>${escapeHtml(reason)}</li>`).join("")}</ol>`}
<details><summary>What the columns mean</summary>${termList(columns.map(({ name, meaning }) => [name, meaning]))}</details>
</section>`;
}

function cell(value: PrintedValue): string {
  const [ours, halfWidth, published, compared = "", reason = 0, isBeyond = false] = value;
  const mine = `<b>${ours}</b>${halfWidth === "" ? "" : ` <span class="spread">± ${halfWidth}</span>`}`;
  if (published === undefined) return `<td>${mine}</td>`;
  const missing = isBeyond ? ' <strong class="missing">no reason given</strong>' : "";
  const mark = reason === 0 ? missing : ` <sup>${reason}</sup>`;
  const below = compared === "" ? published : `${published}<br>${compared}`;
  return `<td${isBeyond ? ' class="beyond"' : ""}>${mine}<br><small>${below}${mark}</small></td>`;
}

function figuresSection(figures: readonly ReproducedFigure[], anchors: ReadonlyMap<object, string>): string {
  if (figures.length === 0) return "";
  const drawn = figures.map((figure) => figureOf(figure, anchors.get(figure)!));
  return `<div class="pair">${drawn.join("\n")}</div>`;
}

function figureOf(figure: ReproducedFigure, anchor: string): string {
  const { xAxis, series } = figure;
  const isBars = figure.categories !== undefined;
  const marks = series.flatMap(({ name, published }, i) => [
    `<span>${legendMark(i, isBars ? "bar" : "line")}${escapeHtml(name)}</span>`,
    ...(published === undefined ? [] : [`<span>${legendMark(i, "published")}published</span>`]),
  ]);
  return `<figure id="${anchor}">
<figcaption><h2>${escapeHtml(figureTitle(figure))}</h2></figcaption>
<p class="legend">${marks.join("")}</p>
<div class="drawing">${inlineFigureSvg(figure)}</div>
${dataTable([xAxis, ...columnsOf(figure)], figureRows(figure))}
</figure>`;
}

function columnsOf({ series }: ReproducedFigure): string[] {
  return series.flatMap(({ name, published }) =>
    published === undefined ? [name] : [name, `${name}, published`],
  );
}

/** One row per x that any series has. */
function figureRows({ series, categories }: ReproducedFigure): string[][] {
  const lines = series.flatMap(({ ours, published }) =>
    published === undefined ? [ours] : [ours, published],
  );
  const xs = [...new Set(lines.flatMap((line) => line.map(([x]) => x)))].sort((a, b) => a - b);
  return xs.map((x) => [
    categories?.[x - 1] ?? formatNumber(x),
    ...lines.map((line) => formatNumber(line.find(([at]) => at === x)?.[1] ?? Number.NaN)),
  ]);
}
