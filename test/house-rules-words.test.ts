/**
 * The English of the documents that are written by hand: lines that can be read in an editor, and no phrases
 * that a reader has to decode. Pages that a program writes (docs/golden.md, docs/findings.md, docs/papers)
 * are not checked.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./sources.ts";

const MAX_LINE_LENGTH = 120;
const GENERATED = ["docs/golden.md", "docs/findings.md"];
const DOCUMENTS = ["", "docs"]
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .filter((path) => path.endsWith(".md") && !GENERATED.includes(path))
  .sort();

/** Each phrase with what to write instead. */
const BANNED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bso many\b/i, "a number, or “that many”"],
  [/\banew\b/i, "again, or a verb: restart, redraw, refit"],
  [/\bwhoever\b/i, "anyone who, or the noun"],
  [/\b(?:is|are|was|were|be|been) told\b/i, "report, show, list, receive"],
  [/\bwhat is no\b/i, "what is not a"],
  [/\b(?:is|are) no (?:JSON|list|folder|number|object|file|directory|integer)\b/i, "is not a"],
  [/\b(?:of|is|are) (?:ours|yours|theirs)\b/i, "our, or the owner's name"],
  [/\blets? it go\b/i, "releases it"],
  [/\bnevertheless\b/i, "still, or a sentence of its own"],
  [/\blikewise\b/i, "also"],
  [/\bnone are\b/i, "no NOUN is"],
  [/\bsuch a job\b/i, "that job, or say which"],
  [/\bas whom\b/i, "under which user"],
  [/\b(?:is|are) to be\b/i, "must be, or a verb"],
  [/\bbeside\b/i, "next to, besides, in addition to, during"],
  [/\bexacter\b/i, "more exact"],
  [/\bas ever\b/i, "still"],
  [/\bnot yet given\b/i, "not used yet"],
  [/\bfor want of\b/i, "because there is no"],
  [/\bone's own\b/i, "your own, or the owner's"],
  [/\bwhere (?:none|there (?:is|are) no|there is none)\b/i, "if there is no"],
  [/\bis none of\b/i, "is not a, or does not belong to"],
  [/\bby the letter\b/i, "to the letter, exactly"],
  [/\bin place of this\b/i, "instead of"],
  [/\btells? of\b/i, "reports, names, says"],
  [/\bknows? nothing of\b/i, "does not know"],
  [/\bshall\b/i, "should, must, will"],
];

interface Line {
  readonly at: string;
  readonly text: string;
  readonly isTable: boolean;
}

/** The lines of a document outside its blocks of code. */
function linesOf(path: string, document: string): Line[] {
  const lines: Line[] = [];
  let isCode = false;
  for (const [i, text] of document.split("\n").entries()) {
    if (/^\s*```/.test(text)) isCode = !isCode;
    else if (!isCode) lines.push({ at: `${path}:${i + 1}`, text, isTable: text.startsWith("|") });
  }
  return lines;
}

/** A table has one row per line, and the target of a link cannot be broken. */
const longLines = (lines: readonly Line[]) =>
  lines
    .filter(({ text, isTable }) => !isTable && text.replace(/\]\([^)]*\)/g, "]").length > MAX_LINE_LENGTH)
    .map(({ at, text }) => `${at}: ${text.length} characters`);

/**
 * The words of a document as sentences, without code, quotations and tables that repeat what the program
 * says.
 */
function proseOf(path: string, document: string): string {
  const isFromCode = (line: Line) => path === "docs/workloads.md" && line.text.startsWith("| `");
  return linesOf(path, document)
    .filter((line) => !isFromCode(line))
    .map(({ text }) => text)
    .join(" ")
    .replace(/`[^`]*`: "[^"]*"/g, "")
    .replace(/`[^`]*`/g, "`")
    .replace(/\s+/g, " ");
}

const bannedIn = (path: string, document: string) =>
  BANNED.flatMap(([phrase, instead]) =>
    [...proseOf(path, document).matchAll(new RegExp(phrase, "gi"))].map(
      ({ 0: found, index, input }) =>
        `${path}: "${input.slice(Math.max(0, index - 30), index + found.length + 30)}": not "${found}" but ${instead}`,
    ),
  );

const documents = DOCUMENTS.map((path) => [path, readFileSync(join(root, path), "utf8")] as const);

describe("lines of documents", () => {
  test("a long one is found, but not in a table or in code, and not for a link", () => {
    const long = "word ".repeat(30);
    const found = (document: string) => longLines(linesOf("x.md", document));
    expect(found(`short\n${long}`)).toEqual(["x.md:2: 150 characters"]);
    expect(found(`| ${long} |\n\`\`\`sh\n${long}\n\`\`\`\n[here](https://${"x".repeat(150)})`)).toEqual([]);
  });

  test(`have at most ${MAX_LINE_LENGTH} characters`, () => {
    expect(DOCUMENTS).toContain("docs/guide-user.md");
    expect(documents.flatMap(([path, text]) => longLines(linesOf(path, text)))).toEqual([]);
  });
});

describe("words of documents", () => {
  test("a banned phrase is found, also across a line break, but not in code or in a quotation", () => {
    expect(bannedIn("x.md", "Tutti starts it anew.")).toHaveLength(1);
    expect(bannedIn("x.md", "It is\ntold. None\nare left.")).toHaveLength(2);
    expect(
      bannedIn("x.md", '`anew` and `a.test.ts`: "it is told"\n```\nanew\n```\nIt is renewed.'),
    ).toHaveLength(0);
  });

  test("none of the banned phrases occurs", () => {
    expect(documents.flatMap(([path, text]) => bannedIn(path, text))).toEqual([]);
  });
});
