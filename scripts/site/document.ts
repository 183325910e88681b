/** Makes pages of the project's Markdown. */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { Marked } from "marked";
import { isElsewhere, type SitePage, targetFrom } from "./page.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface DocumentPage extends SitePage {
  /** Paths of files below `docs/` that the page links to or shows. */
  readonly files: readonly string[];
}

export function htmlName(path: string): string {
  return path.replace(/\.md$/, ".html");
}

/**
 * A document as a page of the site.
 * @param path from the root of the project
 */
export function documentPage(path: string, text: string): DocumentPage {
  const links: { target: string; from: string }[] = [];
  const files: string[] = [];
  let place = 0;
  /** Where an address of the document leads on the site; undefined for files that it does not have. */
  const targetOf = (address: string, raw: string): string | undefined => {
    if (isElsewhere(address)) return address;
    // Links come in the order of the text, except for those that Markdown collects.
    place = Math.max(0, text.indexOf(raw, place), text.indexOf(raw));
    const from = `${path}:${text.slice(0, place).split("\n").length}`;
    const [file, anchor] = targetFrom(path, address).split("#");
    const isDocument = file.endsWith(".md");
    if (!isDocument && existsSync(root + file)) {
      // Sources and folders are not on the site.
      if (!/^docs\/.*\.\w+$/.test(file)) return undefined;
      files.push(file);
    }
    const target = `${htmlName(file)}${anchor === undefined ? "" : `#${anchor}`}`;
    links.push({ target, from });
    return address.startsWith("#") ? address : posix.relative(posix.dirname(path), target);
  };
  const html = htmlOf(text, targetOf);
  const title = /^# (.+)$/m.exec(text)?.[1].replaceAll("`", "") ?? path;
  return { path: htmlName(path), title, html, links, files };
}

type TargetOf = (address: string, raw: string) => string | undefined;

function htmlOf(text: string, targetOf: TargetOf): string {
  const used = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${anchorOf(heading, used)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens, raw }) {
        const content = this.parser.parseInline(tokens);
        const target = targetOf(href, raw);
        return target === undefined ? content : `<a href="${escapeHtml(target)}">${content}</a>`;
      },
      image({ href, text: words, raw }) {
        return `<img src="${escapeHtml(targetOf(href, raw) ?? href)}" alt="${escapeHtml(words)}">`;
      },
      table(token) {
        const cells = (
          row: readonly { readonly tokens: object[]; readonly align: string | null }[],
          tag: string,
        ) =>
          row
            .map(({ tokens, align }) => {
              const inner = this.parser.parseInline(tokens as never);
              return `<${tag}${align === "right" ? ' class="number"' : ""}>${inner}</${tag}>`;
            })
            .join("");
        const rows = token.rows
          .map((row) => {
            // As in the glossary: a word that the row defines.
            const [, term] = /^\*\*([^*]+)\*\*$/.exec(row[0].text) ?? [];
            const id = term === undefined ? "" : ` id="${anchorOf(term, used)}"`;
            return `<tr${id}>${cells(row, "td")}</tr>`;
          })
          .join("\n");
        return `<div class="scroll" tabindex="0"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>\n${rows}\n</tbody></table></div>\n`;
      },
    },
  });
  return marked.parse(text, { async: false });
}

/** The name of a heading, as code hosts make it, so that links of the documents work. */
function anchorOf(heading: string, used: Map<string, number>): string {
  const plain = heading
    .replace(/<\/?a\b[^>]*>/g, "")
    .replace(/[`*_]/g, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, "")
    .replaceAll(" ", "-");
  const count = used.get(plain) ?? 0;
  used.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}
