/**
 * Checks the English of documents, of texts that users read, and of comments: lines fit into an editor, and
 * no phrase needs decoding. Pages that a program writes (GENERATED, docs/papers and docs/studies)
 * repeat texts of src and of docs/*.{claims,texts}.json, which are checked there.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root, type Source, source, sourcesIn } from "./sources.ts";
import { textsOf } from "./texts.ts";

const MAX_LINE_LENGTH = 120;
/** The width to which Biome formats code. */
const MAX_COMMENT_LENGTH = 110;
const GENERATED = ["docs/golden.md", "docs/findings.md", "docs/phases.md", "docs/pilots.md"];
const DOCUMENTS = ["", "docs"]
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .filter((path) => path.endsWith(".md") && !GENERATED.includes(path))
  .sort();

/** Each phrase with what to write instead. */
const BANNED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bso many\b/i, "a number, or “that many”"],
  [/\banew\b/i, "again, or a verb: restart, redraw, refit"],
  [/\bwhoever\b/i, "anyone who, or the noun"],
  [/\btold\b/i, "report, show, list, receive"],
  [/\bwhat is no\b/i, "what is not a"],
  [/(?<!\bthere )\b(?:is|are) no (?:JSON|list|folder|number|object|file|directory|integer)\b/i, "is not a"],
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
  [/\b(?:is|are|was|were|be) met by\b/i, "answers, handles"],
  [/\b(?:by|for|of|to|with) whom\b/i, "who, or the noun"],
  [/\bfor how long\b/i, "how long"],
  [/\b(?:refused|said|says so) in words\b/i, "with a message"],
  [/\bso as (?:few|little|many|much)\b/i, "thus the fewest, so that"],
  [/\bas good as\b/i, "almost"],
  [/\bhangs? on (?:the|its|a|an|how|whether)\b/i, "depends on"],
  [/\bcomes? to itself\b/i, "continues, restarts"],
  [/\bany more(?! \w+s\b)/i, "no longer"],
  [/\b(?:here|there|where)(?:by|in|of|upon|with)\b/i, "by it, in it, of it"],
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
    .replace(/`[^`]*`: "[^"]*"/g, "");
}

function bannedIn(at: string, prose: string): string[] {
  const words = prose.replace(/`[^`]*`/g, "`").replace(/\s+/g, " ");
  return BANNED.flatMap(([phrase, instead]) =>
    [...words.matchAll(new RegExp(phrase, "gi"))].map(
      ({ 0: found, index }) =>
        `${at}: "${words.slice(Math.max(0, index - 30), index + found.length + 30)}": not "${found}" but ${instead}`,
    ),
  );
}

const bannedInDocument = (path: string, document: string) => bannedIn(path, proseOf(path, document));

/**
 * Strings that are more than a word: help, messages, rules of policies, notes of papers, and titles of tests,
 * which are read when one fails.
 */
const bannedInStrings = ({ path, text }: Source) =>
  textsOf(text)
    .strings.filter((string) => string.text.includes(" "))
    .flatMap((string) => bannedIn(`${path}:${string.line}`, string.text));

const bannedInComments = ({ path, text }: Source) =>
  textsOf(text).comments.flatMap((comment) => bannedIn(`${path}:${comment.line}`, comment.text));

/** Lines that end in or belong to a comment; the address of a page cannot be broken. */
const longComments = ({ path, text }: Source) => {
  const lines = text.split("\n");
  return textsOf(text).comments.flatMap((comment) =>
    comment.text
      .split("\n")
      .map((_, i) => comment.line + i)
      .map((line) => ({ line, length: lines[line - 1].replace(/https?:\S+/g, "").length }))
      .filter(({ length }) => length > MAX_COMMENT_LENGTH)
      .map(({ line, length }) => `${path}:${line}: ${length} characters`),
  );
};

/** Texts that are data: a program makes a page of them. */
const DATA = ["docs", "docs/papers"]
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .filter((path) => /\.(?:claims|texts)\.json$/.test(path));

function bannedInData(path: string, json: string): string[] {
  const found: string[] = [];
  JSON.parse(json, (_, value) => {
    if (typeof value === "string") found.push(...bannedIn(path, value));
    return value;
  });
  return found;
}

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
    expect(bannedInDocument("x.md", "Tutti starts it anew.")).toHaveLength(1);
    expect(bannedInDocument("x.md", "It is\ntold. None\nare left.")).toHaveLength(2);
    expect(
      bannedInDocument("x.md", '`anew` and `a.test.ts`: "it is told"\n```\nanew\n```\nIt is renewed.'),
    ).toHaveLength(0);
  });

  test("none of the banned phrases occurs", () => {
    expect(documents.flatMap(([path, text]) => bannedInDocument(path, text))).toEqual([]);
  });
});

describe("words of texts that are data", () => {
  test("a banned phrase is found in every text", () => {
    expect(
      bannedInData("x.json", '{ "notes": ["It is told.", "fine"], "title": "None are left" }'),
    ).toHaveLength(2);
  });

  test("none of the banned phrases occurs", () => {
    expect(DATA).toContain("docs/findings.texts.json");
    expect(DATA.flatMap((path) => bannedInData(path, readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});

describe("strings and comments", () => {
  const launcher = source("bin/tutti.js", readFileSync(join(root, "bin/tutti.js"), "utf8"));
  const all = [
    ...["packages", "test", "attack", "bench", "scripts", "examples"].flatMap(sourcesIn),
    launcher,
  ];
  const planted = source(
    "packages/kernel/core/x.ts",
    [
      "/**",
      ` * ${"word ".repeat(22)}`,
      " * The job is",
      " * told of. // anew",
      " */",
      'const a = "anew"; // one word is code',
      'const b = "starts it anew"; const c = value! / 2; const d = /"anew it is told/;',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a template
      "const e = `none are ${jobs.map((job) => `${job} likewise`)} left, see \\`anew\\``;",
      `const f = ${JSON.stringify("long ".repeat(30))};`,
      `const g = 1; ${" ".repeat(90)} // too far`,
      `// https://example.com/${"x".repeat(100)}`,
    ].join("\n"),
  );

  test("a banned phrase is found in strings of several words, in templates and in their holes", () => {
    expect(bannedInStrings(planted).map((found) => found.replace(/"[^"]*": not/, "not"))).toEqual([
      'packages/kernel/core/x.ts:7: not "anew" but again, or a verb: restart, redraw, refit',
      'packages/kernel/core/x.ts:8: not "likewise" but also',
      'packages/kernel/core/x.ts:8: not "none are" but no NOUN is',
    ]);
  });

  test("a banned phrase is found in comments, also across a line break", () => {
    expect(bannedInComments(planted)).toHaveLength(2);
    expect(bannedInComments(planted).join("\n")).toMatch(/x\.ts:1: .*is told.*\n.*x\.ts:1: .*anew/s);
  });

  test("a long line of a comment is found, but not one of code or with an address", () => {
    expect(longComments(planted).map((found) => found.split(":")[1])).toEqual(["2", "10"]);
  });

  test("no string of the program or of its tests has a banned phrase", () => {
    const others = all.filter(({ path }) => path !== "test/house-rules-words.test.ts");
    expect(others).toHaveLength(all.length - 1);
    expect(others.flatMap(bannedInStrings)).toEqual([]);
  });

  test("no comment has a banned phrase", () => {
    expect(all.length).toBeGreaterThan(600);
    expect(all.flatMap(bannedInComments)).toEqual([]);
  });

  test(`lines with comments have at most ${MAX_COMMENT_LENGTH} characters`, () => {
    expect(all.flatMap(longComments)).toEqual([]);
  });
});
