/**
 * Writes the common parts of the pages: the frame with the style sheet, and small pieces of HTML. All
 * functions escape their texts.
 */
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { styleSheet } from "./style.ts";

interface HtmlPage {
  readonly title: string;
  readonly version: string;
  /** Text above the heading. */
  readonly brand: string;
  /** The heading; default: the title. */
  readonly heading?: string;
  /** HTML below the heading. */
  readonly lead: string;
  readonly main: string;
  /** HTML of the last line. */
  readonly footer: string;
}

/** An HTML document without scripts that loads nothing: its content security policy forbids both. */
export function htmlPage(page: HtmlPage): string {
  const { title, version, brand, heading = title, lead, main, footer } = page;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="Tutti ${escapeHtml(version)}">
<title>${escapeHtml(title)} – Tutti</title>
<link rel="icon" href="data:,">
<style>${styleSheet()}</style>
</head>
<body>
<header>
<p class="brand">${escapeHtml(brand)}</p>
<h1>${escapeHtml(heading)}</h1>
${lead}
</header>
<main>
${main}
</main>
<footer><p>${footer}</p></footer>
</body>
</html>
`;
}

export function termList(entries: readonly (readonly [string, string])[]): string {
  const items = entries.map(([term, text]) => `<dt>${escapeHtml(term)}</dt><dd>${escapeHtml(text)}</dd>`);
  return `<dl class="rules">${items.join("")}</dl>`;
}

export function bullets(texts: readonly string[]): string {
  return `<ul>${texts.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul>`;
}

/** The numbers of a figure, folded away. */
export function dataTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heading.map((title) => `<th scope="col">${escapeHtml(title)}</th>`).join("");
  const body = rows.map(
    ([first, ...rest]) =>
      `<tr><th scope="row">${escapeHtml(first ?? "")}</th>${rest.map((text) => `<td>${escapeHtml(text)}</td>`).join("")}</tr>`,
  );
  return `<details><summary>Show as a table</summary><div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div></details>`;
}
