/**
 * Runs the pages of `packages/web` in Debian's Chromium, without a network: the browser asks this process for
 * every file.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { COMPILER_FLAG } from "@tutti/lab/experiments/compiler-flag.ts";
import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import type { PageFile } from "@tutti/lab/report/markdown/paper-markdown.ts";
import type { PapersPage } from "@tutti/web/papers/messages.ts";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildPapersPage, type PageFiles } from "./build-web.ts";

/**
 * Where Debian's packages put it. The one that never has windows comes first: the other one builds a window,
 * with tabs and buttons, around each page, which takes more CPU time than most pages.
 */
export const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) =>
  existsSync(path),
);
/** No such host: a page that is secure, as pages of a server are, with an origin for its workers. */
const ORIGIN = "https://tutti.invalid/";

export const hasChromium = CHROMIUM !== undefined;

/**
 * Debian's Chromium without a window.
 * @param flags further ones for the browser
 */
export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  if (CHROMIUM === undefined)
    throw new Error("Cannot start Chromium: expected Debian's package chromium-headless-shell or chromium");
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      // Chromium refuses to sandbox pages of root.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-dev-shm-usage",
      ...flags,
    ],
  });
}

/** Answers every request of a page with one of its files; the first page has an empty name. */
export async function serveFiles(page: Page, files: PageFiles): Promise<void> {
  await page.route("**/*", (route) => {
    const body = files.get(route.request().url().slice(ORIGIN.length));
    if (body === undefined) return route.fulfill({ status: 404 });
    const name = route.request().url();
    const contentType = body.startsWith("<")
      ? "text/html"
      : name.endsWith(".css")
        ? "text/css"
        : "text/javascript";
    return route.fulfill({ body, contentType });
  });
  await page.goto(ORIGIN);
}

/** The page that reproduces papers, open in Chromium. It uses all processors of this machine. */
interface OpenPapersPage {
  /**
   * The files of the pages on papers.
   * @param version of Tutti, which the pages name
   */
  files(keys: readonly string[], version: string): Promise<readonly PageFile[]>;
  /** The results of cells, as JSON. */
  results(cells: readonly Cell[]): Promise<string>;
  close(): Promise<void>;
}

export async function openPapersPage(): Promise<OpenPapersPage> {
  const scripts = await buildPapersPage();
  // As bin/tutti.js does; see docs/decisions.md, Numbers.
  const browser = await launchChromium([`--js-flags=${COMPILER_FLAG}`]);
  const page = await browser.newPage();
  await serveFiles(page, scripts);
  const workers = availableParallelism();
  return {
    files: (keys, version) =>
      page.evaluate((request) => (globalThis as unknown as InPage).tuttiPapers.files(request), {
        keys,
        workers,
        version,
      }),
    results: (cells) =>
      page.evaluate(
        (request) => (globalThis as unknown as InPage).tuttiPapers.results(request.cells, request.workers),
        { cells, workers },
      ),
    close: () => browser.close(),
  };
}

interface InPage {
  readonly tuttiPapers: PapersPage;
}
