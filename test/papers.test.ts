/**
 * Checks the pages in docs/papers: every paper has one, they are up to date, and they do not depend on the
 * number of workers.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { paperPage } from "@tutti/lab/report/html/paper-page.ts";
import { markdownPage } from "@tutti/lab/report/markdown/paper-markdown.ts";
import { findPaper, PAPERS } from "@tutti/papers/registry.ts";
import { reproduce } from "@tutti/papers/reproduce.ts";
import { describe, expect, test } from "vitest";
import { hasChromium } from "../scripts/chromium.ts";

/**
 * Papers that take only seconds are computed again here, unless chromium.test.ts does it: its pages have to
 * be the committed ones, too. `npm run papers` and then `git diff` checks the others.
 */
const CHEAP = SOAK || !hasChromium ? ["kawanami2008"] : [];
const REMEDY = "npm run papers writes the pages again";

function committed(name: string): string {
  const file = new URL(`../docs/papers/${name}`, import.meta.url);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

describe.each(PAPERS.map(({ key }) => key))("docs/papers/%s", (key) => {
  test("names its command and the paper's seed, and the index links it", () => {
    const { defaultSeed } = findPaper(key);
    expect(committed(`${key}.md`), REMEDY).toContain(`tutti lab reproduce ${key} --seed ${defaultSeed}\``);
    expect(committed("index.md"), REMEDY).toContain(`](${key}.md)`);
  });

  test("has a reason for every value beyond 10 % and chance", () => {
    expect(committed(`${key}.md`)).not.toContain("no reason given");
  });
});

describe("links of the Markdown pages", () => {
  const pages = [...PAPERS.map(({ key }) => key), "index"].map((key) => [
    `${key}.md`,
    committed(`${key}.md`),
  ]);
  const links = pages.flatMap(([, page]) =>
    Array.from(page.matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link),
  );

  test("lead to files and to anchors that exist", () => {
    expect(links.length).toBeGreaterThan(100);
    const broken = links.filter((link) => {
      const [file, anchor] = link.split("#");
      const target = committed(file);
      return target === "" || (anchor !== undefined && !target.includes(`<a id="${anchor}"></a>`));
    });
    expect(broken).toEqual([]);
  });

  test("lead to every figure in the folder", () => {
    const figures = readdirSync(new URL("../docs/papers/figures", import.meta.url));
    const unlinked = figures.filter((name) => !links.includes(`figures/${name}`));
    expect(unlinked, "figures that no page shows any longer: delete them").toEqual([]);
  });
});

/** The command line's tests compare 1 and 2 workers too. */
const WORKERS = SOAK ? [1, 2] : [2];

test.each(CHEAP)(
  `%s, computed again with ${WORKERS.join(" and ")} workers, gives the committed pages`,
  async (key) => {
    const pages: string[] = [];
    for (const workers of WORKERS) {
      const paper = await reproduce(findPaper(key), undefined, { workers });
      for (const [name, content] of markdownPage(paper))
        expect(content === committed(name), `${name}: ${REMEDY}`).toBe(true);
      pages.push(paperPage(paper));
    }
    expect(new Set(pages).size).toBe(1);
    expect(pages[0]).toContain(`tutti lab reproduce ${key} --seed ${findPaper(key).defaultSeed}<`);
  },
);
