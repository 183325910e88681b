/** The committed pages of the studies; `npm run studies` makes them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { STUDIES } from "@tutti/papers/studies/registry.ts";
import { studyPage } from "@tutti/papers/studies/study.ts";
import { expect, test } from "vitest";

const FOLDER = "docs/studies/";

test.each(STUDIES)("the page of $key has its text, its command, tables and pictures", (study) => {
  const page = readFileSync(`${FOLDER}${study.key}.md`, "utf8");
  expect(study.text.length).toBeGreaterThan(0);
  // Without tables, the page is what stands above them.
  expect(page.startsWith(studyPage(study, []))).toBe(true);
  expect(page).toMatch(/\n\| --- \|/);
  for (const [, picture] of page.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g))
    expect(existsSync(FOLDER + picture), picture).toBe(true);
});

test("every page belongs to a study", () => {
  const pages = readdirSync(FOLDER).filter((name) => name.endsWith(".md"));
  expect(pages.sort()).toEqual(STUDIES.map(({ key }) => `${key}.md`).sort());
});
