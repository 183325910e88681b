/**
 * Tests what researchers read first: the commands of REPRODUCING.md do what it says, and the paper has the
 * form that the Journal of Open Source Software asks for.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");
/** Guards against a hang: in a soak, packages are installed and schedules written. */
const MAX_MS = 1_800_000;
const sections = read("REPRODUCING.md").split(/^## /m).slice(1);
const titles = sections.map((section) => section.split("\n")[0]);

/** The text of the first block of a kind in a section. */
function block(section: string, kind: string): string {
  const [, text] = new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\`$`, "ms").exec(section) ?? [];
  if (text === undefined) throw new Error(`no block ${kind} in: ${section}`);
  return text;
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The commands as they stand there end with 0 and print what stands there; `…` stands for any text. */
function typed(section: string, folder: string): void {
  const answer = spawnSync("sh", ["-ec", block(section, "sh")], { cwd: folder, encoding: "utf8" });
  const expected = block(section, "output").split("…").map(literally).join("[^]*");
  expect(answer.stdout, answer.stderr).toMatch(new RegExp(`^${expected}$`));
  expect(answer.status).toBe(0);
}

test("a section for each badge", () => expect(titles).toEqual(["Available", "Functional", "Reproduced"]));

test.skipIf(SOAK).each(titles.slice(0, 2))("%s: the commands do what the page says", (title) => {
  typed(sections[titles.indexOf(title)], root);
});

test.runIf(SOAK)(
  "all commands of REPRODUCING.md do what it says, in a clone",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-clone-"));
    try {
      const clone = join(folder, "tutti");
      execFileSync("git", ["clone", "--quiet", root, clone]);
      execFileSync("sh", ["-ec", block(sections[0], "")], { cwd: clone, stdio: "ignore" });
      for (const section of sections) typed(section, clone);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  MAX_MS,
);

const paper = read("paper/paper.md");
const [, head, body] = paper.split(/^---$/m);

test("the paper has at most 1,000 words and the sections that the journal requires", () => {
  expect(body.split(/\s+/).length).toBeLessThanOrEqual(1000);
  expect(body.match(/^# .+$/gm)).toEqual([
    "# Summary",
    "# Statement of need",
    "# State of the field",
    "# Software design",
    "# Research impact statement",
    "# AI usage disclosure",
    "# Acknowledgements",
    "# References",
  ]);
  for (const name of ["title", "tags", "authors", "affiliations", "date", "bibliography"])
    expect(head).toMatch(new RegExp(`^${name}:`, "m"));
});

test("every citation of the paper has an entry, and every entry is cited", () => {
  const cited = new Set(Array.from(body.matchAll(/@([a-z]+\d*)/g), ([, key]) => key));
  const entries = Array.from(read("paper/paper.bib").matchAll(/^@\w+\{(\w+),$/gm), ([, key]) => key);
  expect([...cited].sort()).toEqual(entries.toSorted());
});
