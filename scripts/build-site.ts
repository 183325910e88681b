/**
 * `npm run build:site [-- FOLDER]`: writes a static site (default: out/site): a first page, the laboratory,
 * the documents, and references of the commands and the API. All links are relative and checked, so the site
 * works from any path of a file server, without special headers, and from a disk.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { explainError } from "@tutti/cli/errors.ts";
import { ownVersion } from "@tutti/host/version.ts";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { plural } from "@tutti/kernel/core/format.ts";
import { buildLabPage, labFile } from "./build-web.ts";
import { apiPage } from "./site/api-page.ts";
import { breakPage, breakScripts } from "./site/break-page.ts";
import { commandPage } from "./site/command-page.ts";
import { documentPage, htmlName } from "./site/document.ts";
import { firstPage, firstScript } from "./site/first-page.ts";
import { GUIDES, REFERENCES } from "./site/guides.ts";
import { checkLinks, type Entry, framed, type SitePage } from "./site/page.ts";
import { searchPage } from "./site/sections.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
/** A file that only a site has, so that no other folder is ever emptied. */
const MARK = ".tutti-site";
/** Every page's header: title and path from the root of the site. */
const HEADER: readonly Entry[] = [
  ["Tutti", "index.html"],
  ["Laboratory", "lab.html"],
  ["Break it", "break.html"],
  ["Run jobs", "docs/guide-user.html"],
  ["Commands", "reference/commands.html"],
  ["Papers", "docs/papers/index.html"],
  ["Findings", "docs/findings.html"],
  ["All pages", "index.html#pages"],
];
/** Pages by heading, the most important ones first; a folder stands for its pages, in the order of names. */
const GROUPS: readonly (readonly [heading: string, paths: readonly string[]])[] = [
  [
    "Guides",
    [
      "break.html",
      "README.html",
      ...GUIDES.map((name) => `docs/${htmlName(name)}`),
      "docs/slurm.html",
      "docs/ssh.html",
    ],
  ],
  [
    "To look something up",
    [
      ...REFERENCES.map((name) => `docs/${htmlName(name)}`),
      "docs/cli.html",
      "reference/commands.html",
      "docs/api.html",
      "reference/api.html",
      "docs/library.html",
      "docs/workloads.html",
      "docs/glossary.html",
    ],
  ],
  [
    "Results",
    [
      "docs/findings.html",
      "docs/phases.html",
      "docs/pilots.html",
      "docs/comparison.html",
      "docs/golden.html",
      "docs/torture.html",
      "docs/papers/index.html",
      "docs/papers/",
      "docs/studies/",
    ],
  ],
  ["The project", [""]],
];

/**
 * Writes the site.
 * @returns its pages, files and bytes in words
 * @throws Error if the folder contains anything but an earlier site, or if a link leads nowhere
 */
export async function buildSite(folder: string): Promise<string> {
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, MARK)))
    throw new Error(`Cannot write the site to "${folder}": the folder contains other files`);
  const documents = markdown().map((path) => documentPage(path, source(path)));
  const groups = grouped([...documents, breakPage(), await commandPage(), apiPage(ownVersion())]);
  const first = await firstPage(
    groups.map(([heading, pages]) => [heading, pages.map(({ title, path }) => [title, path] as const)]),
  );
  const pages = [first, ...groups.flatMap(([, own]) => own)];
  const copied = new Set(documents.flatMap(({ files }) => files));
  checkLinks(pages, new Set([...copied, "lab.html"]));

  rmSync(folder, { recursive: true, force: true });
  const files = new Map([
    [MARK, ""],
    ["icon.svg", source("packages/web/page/icon.svg")],
    ["site.css", style()],
    ...(await scripts(pages)),
    ["lab.html", labWithHeader(labFile(await buildLabPage()))],
    ...pages.map((page) => [page.path, framed(page, HEADER)] as const),
  ]);
  for (const [name, content] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  for (const name of copied) cpSync(root + name, join(folder, name));
  const bytes = [...files.keys(), ...copied].reduce(
    (sum, name) => sum + statSync(join(folder, name)).size,
    0,
  );
  return `${plural(pages.length + 1, "page")}, ${plural(files.size + copied.size, "file")}, ${(bytes / 1e6).toFixed(1)} MB`;
}

/** The Markdown files that become pages. */
function markdown(): string[] {
  const inFolder = (folder: string, recursive: boolean) =>
    readdirSync(root + folder, { recursive, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => folder + name)
      .sort();
  return [...inFolder("", false), ...inFolder("docs/", true)];
}

/** Each page in the first group that names it or its folder. */
function grouped(pages: readonly SitePage[]): [heading: string, pages: SitePage[]][] {
  const rest = new Set(pages);
  return GROUPS.map(([heading, paths]) => {
    const own = new Set(
      paths.flatMap((path) => [...rest].filter((page) => page.path === path || isIn(page.path, path))),
    );
    for (const page of own) rest.delete(page);
    return [heading, [...own]];
  });
}

function isIn(path: string, folder: string): boolean {
  return (folder === "" || folder.endsWith("/")) && path.startsWith(folder);
}

function style(): string {
  return ["page/style.css", "matrix/matrix.css", "timeline/timeline.css", "site/site.css"]
    .map((name) => source(`packages/web/${name}`))
    .join("\n");
}

/** Scripts of the pages, and the text in which the search looks, which is a script, too. */
async function scripts(pages: readonly SitePage[]): Promise<[string, string][]> {
  const made = [...(await firstScript()), ...(await breakScripts())].filter(([name]) => name.endsWith(".js"));
  return [...made, ["search-text.js", `globalThis.tuttiPages=${JSON.stringify(pages.map(searchPage))}`]];
}

/** The laboratory names the other pages in its list of views. */
function labWithHeader(html: string): string {
  const links = HEADER.filter(([, path]) => path !== "lab.html").map(
    ([title, path]) => `<link rel="help" href="${path}" title="${escapeHtml(title)}">`,
  );
  return html.replace("</head>", () => `${links.join("\n")}\n</head>`);
}

function source(path: string): string {
  return readFileSync(root + path, "utf8");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? join(root, "out/site");
  try {
    const size = await buildSite(folder);
    console.log(`The site is in ${folder}: ${size}. Open its index.html, or serve it with any file server.`);
  } catch (error) {
    const { message, exitCode } = explainError(error);
    console.error(`build:site: ${message}`);
    process.exitCode = exitCode;
  }
}
