/**
 * The page of all papers: counts, and the index of every table, figure and sentence that claims something.
 */

import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import type { ReproducedPaper } from "../../results/reproduction.ts";
import { COUNT_TITLES, countTexts } from "../paper-counts.ts";
import { indexLines, statusCounts } from "../paper-index.ts";
import { htmlPage, termList } from "./html-parts.ts";
import { FOOTER } from "./paper-page.ts";

/** Each paper links to its page, `<key>.html`. */
export function papersIndex(papers: readonly ReproducedPaper[]): string {
  const version = papers[0]?.tutti.version ?? "";
  const rows = papers.map((reproduction) => {
    const { paper } = reproduction;
    const cells = countTexts(reproduction).map((text) => `<td>${text}</td>`);
    return `<tr><th scope="row" class="words"><a href="${escapeHtml(paper.key)}.html">${escapeHtml(paper.title)}</a><br><span class="note">${escapeHtml(`${paper.authors}, ${paper.published}`)}</span></th>${cells.join("")}</tr>`;
  });
  const head = ["paper", ...COUNT_TITLES].map((title) => `<th scope="col">${title}</th>`);
  return htmlPage({
    title: "Papers reproduced",
    version,
    brand: "Tutti · laboratory",
    lead: `<p>${statusCounts(papers)}</p><p>Every table, figure and sentence of the papers: reproduced, deviating with its cause, open (neither shown nor refuted), or not claimed with the reason. Where the paper says "much" or "greatly", the direction decides, unless the statement has a factor.</p>`,
    main: `<section><div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div></section>
${papers.map(indexSection).join("\n")}
<section><h2>How these pages were made</h2>${termList([
      ["command", "tutti lab reproduce --all --html FOLDER"],
      ["seeds", papers.map(({ paper, seed }) => `${paper.key} ${seed}`).join(", ")],
      ["program", `tutti ${version}`],
    ])}</section>`,
    footer: `${FOOTER}${escapeHtml(version)}.`,
  });
}

function indexSection(reproduction: ReproducedPaper): string {
  const { paper } = reproduction;
  const key = escapeHtml(paper.key);
  const rows = indexLines(reproduction).map(({ at, says, status, why, parts }) => {
    const links = parts.map(({ name, anchor }) => `<a href="${key}.html#${anchor}">${escapeHtml(name)}</a>`);
    const cells = [
      escapeHtml(says),
      `<span class="status ${status.replace(" ", "-")}">${status}</span>`,
      `${escapeHtml(why)}${links.length === 0 ? "" : ` <span class="note">${links.join(", ")}</span>`}`,
    ];
    return `<tr><th scope="row">${escapeHtml(at)}</th>${cells.map((cell) => `<td class="words">${cell}</td>`).join("")}</tr>`;
  });
  const head = ["in the paper", "what it says", "here", "why"].map(
    (title) => `<th scope="col" class="words">${title}</th>`,
  );
  return `<section id="${key}"><h2>${escapeHtml(paper.title)}</h2><p class="note">${statusCounts([reproduction])}</p>
<div class="scroll"><table class="left"><thead><tr>${head.join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div></section>`;
}
