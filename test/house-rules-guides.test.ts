/** Checks that documents stay readable: guides are short, decisions have a subject, links lead somewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { documentPage } from "../scripts/site/document.ts";
import { GUIDES, REFERENCES } from "../scripts/site/guides.ts";
import { checkLinks } from "../scripts/site/page.ts";
import { root } from "./sources.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const inFolder = (folder: string, recursive: boolean) =>
  readdirSync(join(root, folder), { recursive, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
const pages = [...inFolder("", false), ...inFolder("docs", true)].map((path) =>
  documentPage(path, read(path)),
);

test("links of documents lead to pages and headings that there are", () => {
  expect(pages.length).toBeGreaterThan(25);
  checkLinks(pages, new Set(pages.flatMap(({ files }) => files)));
});

describe("guides", () => {
  /** As `wc -w` counts: with code, tables and marks of Markdown. */
  const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;
  const MAX_WORDS = 1500;

  test.each(GUIDES)(
    "docs/%s can be read in ten minutes, begins with the first minute, ends in an example",
    (name) => {
      const text = read(`docs/${name}`);
      expect(wordsIn(text)).toBeLessThanOrEqual(MAX_WORDS);
      const sections = Array.from(text.matchAll(/^## (.+)$/gm), ([, title]) => title);
      expect(sections[0]).toBe("The first minute");
      expect(sections.filter((title) => / from start to end$/.test(title))).toHaveLength(1);
      expect(sections.at(-1)).toMatch(/ from start to end$/);
    },
  );

  test("the README leads to all of them and to their references, and fits on a screen", () => {
    const readme = read("README.md");
    for (const name of [...GUIDES, ...REFERENCES]) expect(readme).toContain(`](docs/${name})`);
    // Of a large window: with two or three lines for a long one.
    expect(readme.split("\n").length).toBeLessThanOrEqual(60);
    expect(wordsIn(readme)).toBeLessThanOrEqual(600);
  });
});

describe("docs/decisions.md", () => {
  const [head, ...subjects] = read("docs/decisions.md").split(/^## /m);
  const decisionsIn = (text: string) => text.match(/^- .+(?:\n {2}.*)*/gm) ?? [];

  test("each decision ends with its day and a revision", () => {
    const decisions = subjects.flatMap(decisionsIn);
    expect(decisions.length).toBeGreaterThan(50);
    expect(decisions.filter((text) => !/ \(\d{4}-\d\d-\d\d, [0-9a-f]{7}\)$/.test(text))).toEqual([]);
  });

  test("each decision is in a subject, and the index has each subject once, in the same order", () => {
    expect(decisionsIn(head)).toEqual([]);
    const titles = subjects.map((text) => text.slice(0, text.indexOf("\n")));
    expect(Array.from(head.matchAll(/^\| \[(.+?)\]\(#/gm), ([, title]) => title)).toEqual(titles);
    for (const [i, text] of subjects.entries()) {
      const [title, ...lines] = text.split("\n");
      expect(decisionsIn(text).length, title).toBeGreaterThan(0);
      // A subject of a page and a half is still found; a longer one is several.
      expect(decisionsIn(text).length, title).toBeLessThanOrEqual(20);
      expect(
        lines.filter((line) => !/^(?:- | {2}|$)/.test(line)),
        `after subject ${i}: ${title}`,
      ).toEqual([]);
    }
  });

  test("no decision is there twice", () => {
    const leads = subjects.flatMap(decisionsIn).map((text) => /\*\*([\s\S]+?)\*\*/.exec(text)?.[1]);
    expect(leads.filter((lead, i) => lead === undefined || leads.indexOf(lead) !== i)).toEqual([]);
  });
});
