/** The Markdown page of all papers: counts, and the index of what each paper claims. */
import type { ReproducedPaper } from "../../results/reproduction.ts";
import { COUNT_TITLES, countTexts } from "../paper-counts.ts";
import { indexLines, statusCounts } from "../paper-index.ts";
import { markdownTable, prose } from "./paper-markdown.ts";

/** Each paper links to its page, `<key>.md`. */
export function papersIndexMarkdown(papers: readonly ReproducedPaper[]): string {
  const version = papers[0]?.tutti.version ?? "";
  const counts = papers.map((reproduction) => {
    const { key, title, authors, published } = reproduction.paper;
    return [
      `[${prose(title)}](${key}.md)<br>${prose(`${authors}, ${published}`)}`,
      ...countTexts(reproduction),
    ];
  });
  return `${[
    "# Papers reproduced",
    statusCounts(papers),
    'Every table, figure and sentence of the papers: reproduced, deviating with its cause, open (neither shown nor refuted), or not claimed with the reason. Where the paper says "much" or "greatly", the direction decides, unless the statement has a factor.',
    markdownTable(["paper", ...COUNT_TITLES], [":--", ...COUNT_TITLES.map(() => "--:")], counts),
    ...papers.flatMap(indexParts),
    "## How these pages were made",
    `\`npm run papers\` with Tutti ${version}. Seeds: ${papers.map(({ paper, seed }) => `${paper.key} ${seed}`).join(", ")}.`,
  ].join("\n\n")}\n`;
}

function indexParts(reproduction: ReproducedPaper): string[] {
  const { key, title } = reproduction.paper;
  const rows = indexLines(reproduction).map(({ at, says, status, why, parts }) => {
    const links = parts.map(({ name, anchor }) => `[${prose(name)}](${key}.md#${anchor})`);
    return [
      prose(at),
      prose(says),
      status,
      [prose(why), links.join(", ")].filter((text) => text !== "").join("<br>"),
    ];
  });
  const head = ["in the paper", "what it says", "here", "why"];
  return [
    `## ${prose(title)}`,
    `${statusCounts([reproduction])}`,
    markdownTable(
      head,
      head.map(() => ":--"),
      rows,
    ),
  ];
}
