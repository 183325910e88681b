/**
 * Checks the pages in docs/papers: every paper has one, they are up to date, and they do not depend on the
 * number of workers.
 */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findPaper, PAPERS } from "../src/lab/papers/registry.ts";
import { reproduce } from "../src/lab/papers/reproduce.ts";
import { paperPage } from "../src/report/html/paper-page.ts";

/**
 * Papers that take only seconds are computed again here; `npm run papers` and then `git diff` checks the
 * others.
 */
const CHEAP = ["kawanami2008"];
const REMEDY = "npm run papers makes the pages again";

function committed(name: string): string {
  const file = new URL(`../docs/papers/${name}.html`, import.meta.url);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

describe.each(PAPERS.map(({ key }) => key))("docs/papers/%s.html", (key) => {
  test("names its command and the paper's seed, and the index links it", () => {
    const { defaultSeed } = findPaper(key);
    expect(committed(key), REMEDY).toContain(`tutti reproduce ${key} --seed ${defaultSeed}<`);
    expect(committed("index"), REMEDY).toContain(`href="${key}.html"`);
  });

  test("has a reason for every value beyond 10 %", () => {
    expect(committed(key)).not.toContain("no reason given");
  });
});

test.each(CHEAP)("%s, computed again, gives the committed page, with 1 and with 2 workers", async (key) => {
  for (const workers of [1, 2]) {
    const page = paperPage(await reproduce(findPaper(key), undefined, { workers }));
    expect(page === committed(key), REMEDY).toBe(true);
  }
});
