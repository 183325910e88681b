/** Cuts the pages into what the search finds: a heading, or a word that a table defines, and what follows. */
import type { FoundPage } from "@tutti/web/site/find.ts";
import type { SitePage } from "./page.ts";

const HEADING = /<(?:h[1-6](?: id="([^"]*)")?|tr id="([^"]*)"><td)>(.*?)<\/(?:h[1-6]|td)>/gs;
const SIGNS: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

export function searchPage({ path, title, html }: SitePage): FoundPage {
  const headings = [...html.matchAll(HEADING)];
  return {
    path,
    title,
    sections: headings.map(({ 0: whole, 1: ofHeading = "", 2: anchor = ofHeading, 3: heading, index }, i) => [
      anchor,
      plain(heading),
      plain(html.slice(index + whole.length, headings[i + 1]?.index)),
    ]),
  };
}

/** The text of HTML, as far as this project writes it, in one line. */
function plain(html: string): string {
  return html
    .replace(/<\/?(?:a|b|code|em|strong|span|kbd)\b[^>]*>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => SIGNS[name])
    .replace(/\s+/g, " ")
    .trim();
}
