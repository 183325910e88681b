/**
 * Makes the files of `tutti lab reproduce`: a page for each paper, and an index of all papers. docs/papers
 * has those in Markdown.
 */
import type { ReproducedPaper } from "../results/reproduction.ts";
import { paperPage } from "./html/paper-page.ts";
import { papersIndex } from "./html/papers-index.ts";
import { markdownPage, type PageFile } from "./markdown/paper-markdown.ts";
import { papersIndexMarkdown } from "./markdown/papers-index.ts";
import { printedPapers } from "./printed-table.ts";

const PRINTED_PAPERS = "values.json";

/** The index comes last. */
export function htmlFiles(papers: readonly ReproducedPaper[]): PageFile[] {
  const pages = papers.map((paper): PageFile => [`${paper.paper.key}.html`, paperPage(paper)]);
  return [...pages, ["index.html", papersIndex(papers)]];
}

/** With the figures that the pages link, and the tables for the laboratory. The index comes last. */
export function markdownFiles(papers: readonly ReproducedPaper[]): PageFile[] {
  return [
    ...papers.flatMap(markdownPage),
    [PRINTED_PAPERS, printedPapers(papers)],
    ["index.md", papersIndexMarkdown(papers)],
  ];
}
