/**
 * `npm run build:site [-- FOLDER]`: writes a static site (default: out/site). Its front page is the
 * laboratory; guides, findings, studies and the pages on papers follow. All links are relative, so any file
 * server serves it from any path, without special headers.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { explainError } from "@tutti/cli/errors.ts";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { Marked } from "marked";
import { buildLabPage } from "./build-web.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
/** A file that only a site has, so that no other folder is ever emptied. */
const MARK = ".tutti-site";
/** Pages at the root of the project that the documents link to. */
const ROOT_PAGES = ["README.md", "CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
/** Every page's header: title and path from the root of the site. */
const HEADER: readonly (readonly [string, string])[] = [
  ["Laboratory", "index.html"],
  ["What Tutti is", "README.html"],
  ["User guide", "docs/guide-user.html"],
  ["Administrator guide", "docs/guide-administrator.html"],
  ["Laboratory guide", "docs/guide-laboratory.html"],
  ["Papers", "docs/papers/index.html"],
  ["Findings", "docs/findings.html"],
];
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

/** Writes the site. @throws Error if the folder contains anything but an earlier site */
export async function buildSite(folder: string): Promise<void> {
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, MARK)))
    throw new Error(`Cannot write the site to "${folder}": the folder contains other files`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, MARK), "");
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  const links = HEADER.slice(1).map(
    ([title, path]) => `<link rel="help" href="${path}" title="${escapeHtml(title)}">`,
  );
  for (const [name, content] of await buildLabPage())
    if (name === "lab.html") write("index.html", content.replace("</head>", `${links.join("\n")}\n</head>`));
    else write(name, content);
  write(
    "site.css",
    `${readFileSync(`${root}packages/web/page/style.css`, "utf8")}\n${readFileSync(`${root}packages/web/site/site.css`, "utf8")}`,
  );
  const pages = [...ROOT_PAGES, ...markdownIn("docs")];
  const written = new Set(pages.map(htmlName));
  for (const path of pages) write(htmlName(path), pageOf(path, written));
  for (const name of ["docs/papers/figures", "docs/images"])
    cpSync(root + name, join(folder, name), { recursive: true });
  for (const name of readdirSync(`${root}docs/studies`))
    if (name.endsWith(".svg")) cpSync(`${root}docs/studies/${name}`, join(folder, "docs/studies", name));
}

/** The Markdown pages below a folder. */
function markdownIn(folder: string): string[] {
  return readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`)
    .sort();
}

function htmlName(path: string): string {
  return path.replace(/\.md$/, ".html");
}

/** A document as a page of the site. */
function pageOf(path: string, written: ReadonlySet<string>): string {
  const text = readFileSync(root + path, "utf8");
  const upward = "../".repeat(path.split("/").length - 1);
  const own = htmlName(path);
  const header = HEADER.map(
    ([title, target]) =>
      `<a href="${upward}${target}"${target === own ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a>`,
  );
  const title = /^# (.+)$/m.exec(text)?.[1] ?? path;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Tutti</title>
<link rel="icon" href="${upward}icon.svg">
<link rel="stylesheet" href="${upward}site.css">
</head>
<body class="document">
<nav aria-label="Site">${header.join("\n")}</nav>
<main>
${htmlOf(text, path, written)}
</main>
</body>
</html>
`;
}

function htmlOf(text: string, path: string, written: ReadonlySet<string>): string {
  const used = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${anchorOf(heading, used)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const target = targetOf(href, path, written);
        return target === undefined ? content : `<a href="${escapeHtml(target)}">${content}</a>`;
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
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return `<div class="scroll" tabindex="0"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>\n${rows}\n</tbody></table></div>\n`;
      },
    },
  });
  return marked.parse(text, { async: false });
}

/**
 * Where a link of a document leads on the site: pages to their HTML, other sites as they are. Undefined for
 * files that the site does not have, such as sources.
 */
function targetOf(href: string, from: string, written: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href;
  const [file, anchor] = href.split("#");
  const target = posix.join(posix.dirname(from), file);
  const html = htmlName(target);
  const isHere =
    written.has(html) || (/^docs\/(?:papers|images|studies)\/./.test(target) && existsSync(root + html));
  if (!isHere) return undefined;
  return `${posix.relative(posix.dirname(from), html)}${anchor === undefined ? "" : `#${anchor}`}`;
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? join(root, "out/site");
  try {
    await buildSite(folder);
    console.log(`The site is in ${folder}: serve this folder with any file server.`);
  } catch (error) {
    const { message, exitCode } = explainError(error);
    console.error(`build:site: ${message}`);
    process.exitCode = exitCode;
  }
}
