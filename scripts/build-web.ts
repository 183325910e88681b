/** Bundles the pages of `src/web` for browsers: each page's script, and the script of its workers. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The files of the page that reproduces papers, by name. */
export async function buildPapersPage(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { papers: "src/web/papers/page.ts", worker: "src/web/papers/worker.ts" },
    outdir: "out",
    bundle: true,
    format: "iife",
    platform: "browser",
    target: "es2024",
    minifyWhitespace: true,
    charset: "utf8",
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    write: false,
    logLevel: "warning",
  });
  const scripts = outputFiles.map(({ path, text }) => [path.slice(path.lastIndexOf("/") + 1), text] as const);
  return new Map([
    [
      "",
      '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Papers</title><script src="papers.js"></script></html>',
    ],
    ...scripts,
  ]);
}
