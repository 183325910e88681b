/** Checks that the documents stay readable: each decision has a subject, and links lead somewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { documentPage } from "../scripts/site/document.ts";
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
