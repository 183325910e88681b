/**
 * Claims about other programs: a sentence of a document or of the program that compares Tutti with all others
 * must be carried by a command or a table that it can be checked with. WORDS finds such sentences; those that
 * are right are in CARRIED, each with what carries it.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, sourcesIn } from "./sources.ts";
import { textsOf } from "./texts.ts";

const PROGRAM = "(?:scheduler|simulator|laboratory|system|tool|program|project|checker)";
const COMPARISONS = [
  String.raw`\bstate[- ]of[- ]the[- ]art\b`,
  String.raw`\b(?:is|are) (?:very |extremely )?fast\b|\b(?:faster|better) than (?:any|all|other|every)\b`,
  String.raw`\bthe (?:first|only|best|fastest) (?:\w+ )?${PROGRAM}s? (?!\`)`,
  String.raw`\bno other (?:\w+ )?${PROGRAM}\b`,
  String.raw`\b(?:nobody|no one) else (?:has|does|offers|publishes|checks)\b`,
  String.raw`\bnone of the (?:\w+ )?(?:papers|peers|others|competitors)\b`,
  String.raw`\bno (?:paper|peer|competitor) (?:has|have|does|shows|reports)\b(?! cells)`,
  String.raw`\bunlike (?:any|all|every|other)\b|\bas no (?:other|${PROGRAM})\b`,
  String.raw`\b(?:more|less|fewer) (?:\w+ )?than any (?:other )?${PROGRAM}\b`,
];
/** In the program's strings, these words are about jobs, CPUs and CSS. */
const SUPERLATIVES = [
  String.raw`\bbest\b(?! fit| of \d)`,
  String.raw`\b(?:fastest|unique(?:ly)?|unmatched|unrivalled|unprecedented|superior|novel)\b`,
];
const IN_STRINGS = new RegExp(COMPARISONS.join("|"), "i");
const WORDS = new RegExp([...COMPARISONS, ...SUPERLATIVES].join("|"), "i");

/** The beginning of a sentence, and the place that carries it: a file, and words in it. */
const CARRIED: readonly (readonly [sentence: string, file: string, words: string])[] = [
  [
    "The page compares space sharing, gangs, and two things that none of the five papers has",
    "docs/papers/index.md",
    "| paper | values within 10 %",
  ],
];

/** Sentences with one of the words that compare nothing with Tutti. */
const NO_CLAIMS: readonly string[] = [
  "None of the others was run for this page",
  "No other simulator was run for this table",
  "The best report is a file for `attack/`",
  "In a grid, the last variable changes fastest",
  "- `#SBATCH` lines take unique abbreviations",
];

/** Decisions are records of their day; the papers' pages quote claims of others, each with a verdict. */
const NOT_READ = /^docs\/(?:decisions\.md$|papers\/|studies\/)/;
const FOLDERS = ["docs", "paper", "packaging", "python"].filter((folder) => existsSync(join(root, folder)));
const DOCUMENTS = [
  ...readdirSync(root),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  ),
].filter((path) => /\.(?:md|cff|py|html)$/.test(path) && !NOT_READ.test(path));

/** The sentences of a text that make a claim. Blocks of code do not count; a table's row is a sentence. */
function claimsIn(at: string, text: string, words = WORDS): string[] {
  return text
    .replace(/^ *```[\s\S]*?^ *```/gm, "")
    .replace(/\n(?= *[-*|#] )/g, "\n\n")
    .split(/\n\s*\n/)
    .flatMap((paragraph) =>
      paragraph
        .replace(/\s+/g, " ")
        .trim()
        .split(/(?<=[.!?:]) /),
    )
    .filter((sentence) => words.test(sentence))
    .map((sentence) => `${at}: ${sentence}`);
}

const found = [
  ...DOCUMENTS.flatMap((path) => claimsIn(path, readFileSync(join(root, path), "utf8"))),
  ...sourcesIn("packages")
    .filter(({ isTest, text }) => !isTest && IN_STRINGS.test(text))
    .flatMap(({ path, text }) =>
      textsOf(text)
        .strings.filter((string) => string.text.includes(" "))
        .flatMap((string) => claimsIn(path, string.text, IN_STRINGS)),
    ),
];
const known = [...CARRIED.map(([sentence]) => sentence), ...NO_CLAIMS];

test.each([
  "Tutti is the first scheduler that shows a matrix.",
  "It is\nthe only simulator with a checker.",
  "No other\nsimulator has this.",
  "- **It is fast.** It needs a second.",
  "This is state of the art.",
  "Nobody else publishes golden schedules.",
  "It has what no paper has.",
  "| gangs | better than any peer |",
  "It checks more than any other simulator.",
])("a planted claim is found: %j", (text) => {
  expect(claimsIn("x.md", `Before. ${text}\n\nAfter.`)).toHaveLength(1);
});

test("best fit, and the first job, are no claims", () => {
  const text = "Best fit takes the first program `x`. No other job gets it.\n```\nthe fastest\n```\n";
  expect(claimsIn("x.md", text)).toEqual([]);
});

test("every claim is carried by a command or a table", () => {
  expect(DOCUMENTS).toEqual(expect.arrayContaining(["README.md", "CITATION.cff", "docs/comparison.md"]));
  expect(found.filter((claim) => !known.some((sentence) => claim.includes(sentence)))).toEqual([]);
});

test("each known sentence still exists, and so does what carries it", () => {
  expect(known.filter((sentence) => !found.some((claim) => claim.includes(sentence)))).toEqual([]);
  for (const [sentence, file, words] of CARRIED)
    expect([sentence, readFileSync(join(root, file), "utf8")]).toEqual([
      sentence,
      expect.stringContaining(words),
    ]);
});
