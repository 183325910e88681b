/** The committed pages of the studies; `npm run studies` makes them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { STUDIES } from "@tutti/papers/studies/registry.ts";
import { pagePath, studyPage } from "@tutti/papers/studies/study.ts";
import { expect, test } from "vitest";

test.each(STUDIES)("the page of $key has its text, its command, tables and pictures", (study) => {
  const path = pagePath(study);
  const page = readFileSync(path, "utf8");
  expect(study.text.length).toBeGreaterThan(0);
  // Without tables, the page is what stands above them.
  expect(page.startsWith(studyPage(study, []))).toBe(true);
  expect(page).toMatch(/\n\| --- \|/);
  for (const [, picture] of page.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g))
    expect(existsSync(join(dirname(path), picture)), picture).toBe(true);
});

test("every page belongs to a study", () => {
  const pages = readdirSync("docs/studies").filter((name) => name.endsWith(".md"));
  const paths = new Set(STUDIES.map(pagePath));
  expect(pages.filter((name) => !paths.has(`docs/studies/${name}`))).toEqual([]);
});
