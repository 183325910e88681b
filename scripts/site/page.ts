/** Defines a page of the site, the frame that all of them share, and the check of their links. */
import { posix } from "node:path";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";

export interface SitePage {
  /** From the root of the site, such as `docs/findings.html`. */
  readonly path: string;
  readonly title: string;
  /** What is in the element `main`. */
  readonly html: string;
  readonly links: readonly Link[];
  /** A script of its own, in addition to the search. */
  readonly script?: string;
  /** Its own script has the search in it: both use the page's one Trusted Types policy. */
  readonly hasSearch?: true;
  /** Rules of its policy, in place of the usual ones of that name or in addition to them. */
  readonly policy?: readonly string[];
}

/** A link to a page or file of the site. */
interface Link {
  /** From the root of the site, with the anchor. */
  readonly target: string;
  /** File and line of the source that has it. */
  readonly from: string;
}

/** A title with a path from the root of the site, as the header has it. */
export type Entry = readonly [title: string, target: string];

const POLICY: readonly string[] = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types tutti",
];

function policyText(own: readonly string[]): string {
  const nameOf = (rule: string) => rule.split(" ")[0];
  const names = own.map(nameOf);
  return [...POLICY.filter((rule) => !names.includes(nameOf(rule))), ...own].join("; ");
}

/** The page as a file: with header and search. All its addresses are relative. */
export function framed(
  { path, title, html, script, hasSearch, policy = [] }: SitePage,
  header: readonly Entry[],
): string {
  const upward = "../".repeat(path.split("/").length - 1);
  const links = header.map(
    ([name, target]) =>
      `<a href="${upward}${target}"${target === path ? ' aria-current="page"' : ""}>${escapeHtml(name)}</a>`,
  );
  const scripts = [...(hasSearch ? [] : ["search.js"]), ...(script === undefined ? [] : [script])].map(
    (name) => `<script src="${upward}${name}" defer></script>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyText(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Tutti</title>
<link rel="icon" href="${upward}icon.svg">
<link rel="stylesheet" href="${upward}site.css">
${scripts.join("\n")}
</head>
<body class="document">
<a class="skip" href="#main">Skip to the content</a>
<header>
<nav aria-label="Site">
${links.join("\n")}
</nav>
<search><input type="search" placeholder="Search" aria-label="Search all pages (key /)" autocomplete="off" spellcheck="false"></search>
</header>
<main id="main">
${html}
</main>
</body>
</html>
`;
}

/** The links to the site's own pages in HTML whose lines are those of its source. */
export function linksIn(html: string, path: string, source = path): Link[] {
  return html.split("\n").flatMap((line, i) =>
    [...line.matchAll(/ (?:href|src)="([^"]*)"/g)]
      .map(([, address]) => address)
      .filter((address) => !isElsewhere(address))
      .map((address) => ({ target: targetFrom(path, address), from: `${source}:${i + 1}` })),
  );
}

/** Whether an address leads away from the site. */
export function isElsewhere(address: string): boolean {
  return /^(?:https?|mailto|data):/.test(address);
}

/** An address that a page has, from the root of the site. */
export function targetFrom(path: string, address: string): string {
  return address.startsWith("#") ? path + address : posix.join(posix.dirname(path), address);
}

/**
 * Checks that every link leads to a page, to a heading of it, or to another file.
 * @param files paths of the files that are no pages of the list
 * @throws Error that names each link that does not, with the file and line that has it
 */
export function checkLinks(pages: readonly SitePage[], files: ReadonlySet<string>): void {
  const anchors = new Map(
    pages.map(({ path, html }) => [
      path,
      new Set(["main", ...Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id)]),
    ]),
  );
  const faults = pages.flatMap(({ links }) =>
    links.flatMap(({ target, from }) => {
      const [path, anchor] = target.split("#");
      const ids = anchors.get(path);
      if (ids === undefined && !files.has(path)) return [`${from}: there is no page or file "${path}"`];
      if (ids === undefined || anchor === undefined || ids.has(decodeURIComponent(anchor))) return [];
      return [`${from}: "${path}" has no heading "${anchor}"`];
    }),
  );
  if (faults.length > 0) throw new Error(`Cannot make the site: links lead nowhere\n${faults.join("\n")}`);
}
