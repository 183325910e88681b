/**
 * Bundles the pages of `packages/web` for browsers: each page's HTML, style, script, and the scripts of its
 * workers. If run as a program, it prints the sizes.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { provenance } from "@tutti/host/version.ts";
import { packPapers } from "@tutti/web/lab/worker/packed-papers.ts";
import { type BuildOptions, build } from "esbuild";
import { oneFile } from "./one-file.ts";
import { buildWorldPrograms } from "./torture-bundle.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The files of a page by name. */
export type PageFiles = ReadonlyMap<string, string>;

/** What all pages have in common. A classic script (iife) also works in a page opened from a file. */
const COMMON: BuildOptions = {
  absWorkingDir: root,
  outdir: "out",
  bundle: true,
  minify: true,
  format: "iife",
  platform: "browser",
  target: "es2024",
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
  write: false,
  logLevel: "warning",
  // Checks of bookkeeping, which only tests call.
  dropLabels: ["AUDIT"],
};

/** The page that reproduces papers, which only programs open. */
export async function buildPapersPage(): Promise<PageFiles> {
  const files = await bundled(
    { papers: "packages/web/papers/page.ts", worker: "packages/web/papers/worker.ts" },
    { minify: false, minifyWhitespace: true },
  );
  const html =
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Papers</title><script src="papers.js"></script></html>';
  return new Map([["", html], ...files]);
}

/** The page of the live scheduler, which `tutti serve` serves. */
export async function buildLivePage(): Promise<PageFiles> {
  const files = await bundled({
    live: "packages/web/live/main.tsx",
    feed: "packages/web/live/feed-worker.ts",
  });
  return new Map([
    ["live.html", source("packages/web/live/page.html")],
    ["icon.svg", source("packages/web/page/icon.svg")],
    ...files,
  ]);
}

/** The laboratory as a page, which needs no server. */
export async function buildLabPage(): Promise<PageFiles> {
  const files = await bundled(
    {
      lab: "packages/web/lab/start.ts",
      "erase-types": "packages/web/lab/own/erase-worker.ts",
      "turns-worker": "packages/web/lab/turns/turns-worker.ts",
    },
    {
      define: {
        ...COMMON.define,
        TUTTI_BUILD: JSON.stringify(provenance()),
        TUTTI_EXAMPLE: JSON.stringify(source("examples/my-policy.ts")),
      },
    },
  );
  return new Map([
    ["lab.html", source("packages/web/lab/page.html")],
    ["icon.svg", source("packages/web/page/icon.svg")],
    // The script of a worker that sends the text, when somebody looks at the papers.
    ["papers.js", `postMessage(${JSON.stringify(packPapers(source("docs/papers/values.json")))})`],
    ...files,
  ]);
}

/** The laboratory in one HTML file. */
export function labFile(files: PageFiles): string {
  return oneFile(files, {
    html: "lab.html",
    script: "lab.js",
    style: "lab.css",
    icon: "icon.svg",
    parts: {
      "erase-types": "erase-types.js",
      papers: "papers.js",
      "turns-worker": "turns-worker.js",
    },
  });
}

/** The page of a recorded life in one HTML file, without the life. */
async function lifeFile(): Promise<string> {
  const files = await bundled({ life: "packages/web/life/main.tsx" });
  const page = new Map([
    ["life.html", source("packages/web/life/page.html")],
    ["icon.svg", source("packages/web/page/icon.svg")],
    ...files,
  ]);
  return oneFile(page, {
    ...{ html: "life.html", script: "life.js", style: "life.css", icon: "icon.svg", parts: {} },
  });
}

/** Writes the pages that the package contains: the live page; in one file each, laboratory and life. */
export async function writeWeb(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of await buildLivePage()) writeFileSync(`${folder}/${name}`, content);
  writeFileSync(`${folder}/lab-one-file.html`, labFile(await buildLabPage()));
  writeFileSync(`${folder}/life-one-file.html`, await lifeFile());
}

/** For a script in which the live scheduler lives in a simulated world: its programs, and SQLite. */
export async function withWorld(): Promise<BuildOptions> {
  const { shared, programs } = await buildWorldPrograms();
  const list = Object.entries(programs).map(([name, text]) => `${name}:${text}`);
  return {
    loader: { ".wasm": "binary" },
    minify: false,
    minifyWhitespace: true,
    banner: { js: `const TUTTI_PROGRAMS={shared:${shared},programs:{${list}}};` },
  };
}

/** Bytes that a server sends. */
export function packedBytes(content: string): number {
  return gzipSync(content, { level: 9 }).length;
}

/** The scripts and styles of a page by the names of their entry points, which are paths in the project. */
export async function bundled(
  entryPoints: Readonly<Record<string, string>>,
  more: BuildOptions = {},
): Promise<PageFiles> {
  const { outputFiles = [] } = await build({ ...COMMON, ...more, entryPoints });
  return new Map(outputFiles.map(({ path, text }) => [path.slice(path.lastIndexOf("/") + 1), text]));
}

function source(path: string): string {
  return readFileSync(root + path, "utf8");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const files of [await buildLivePage(), await buildLabPage()]) {
    let sum = 0;
    for (const [name, content] of files) {
      const bytes = packedBytes(content);
      sum += bytes;
      console.log(`${name}: ${content.length} bytes, ${bytes} compressed`);
    }
    console.log(`together ${sum} bytes compressed`);
  }
  console.log(`the laboratory in one file: ${labFile(await buildLabPage()).length} bytes`);
}
