/** The search of the site, on pages of a few words. */
import { expect, test } from "vitest";
import { type FoundPage, find } from "./find.ts";

const PAGES: readonly FoundPage[] = [
  {
    path: "guide.html",
    title: "User guide",
    sections: [
      ["", "User guide", "How to submit a job and cancel it."],
      [
        "arrays",
        "Arrays of jobs",
        `Use --array. ${"Nothing else matters here. ".repeat(20)}The end: resubmit it.`,
      ],
    ],
  },
  {
    path: "reference/commands.html",
    title: "Commands",
    sections: [
      ["submit", "tutti submit", "--array LIST, --time LIMIT"],
      ["cancel", "tutti cancel", "Cancel jobs."],
    ],
  },
];
const targets = (question: string) => find(PAGES, question).map(({ target }) => target);

test("a heading is better than text, and a whole word better than a part of one", () => {
  expect(targets("submit")).toEqual(["reference/commands.html#submit", "guide.html", "guide.html#arrays"]);
  expect(targets("Tutti CANCEL")).toEqual(["reference/commands.html#cancel"]);
});

test("a section has all words, in any order, with signs as they are", () => {
  expect(targets("time --array")).toEqual(["reference/commands.html#submit"]);
  expect(targets("job cancel")).toEqual(["reference/commands.html#cancel", "guide.html"]);
  expect(targets("time zebra")).toEqual([]);
  expect(targets(".*")).toEqual([]);
  expect(targets("  ")).toEqual([]);
});

test("the excerpt is around the first of the words", () => {
  const [{ page, heading, excerpt }] = find(PAGES, "resubmit");
  expect([page, heading]).toEqual(["User guide", "Arrays of jobs"]);
  expect(excerpt).toMatch(/^… .{20,60}resubmit it\.$/);
  expect(find(PAGES, "arrays")[0].excerpt).toMatch(/^Use --array\. /);
});
