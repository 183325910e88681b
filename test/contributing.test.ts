/** Follows CONTRIBUTING.md to the letter in a copy of the project. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./sources.ts";

const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
const sections = page.split(/^## /m).slice(1);
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "tutti-contributing-"));
  const names = [
    "src",
    "test",
    "scripts",
    "bench",
    "attack",
    "examples",
    "bin",
    "docs/golden.tsv",
    "docs/studies",
  ];
  const files = [
    "package.json",
    "tsconfig.json",
    "tsconfig.browser.json",
    "tsconfig.browser-tests.json",
    "vitest.config.ts",
    "biome.json",
    ".gitignore",
  ];
  const pages = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md", "docs/decisions.md"];
  for (const name of [...names, ...files, ...pages])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rmSync(copy, { recursive: true }));

/**
 * The code blocks of a section: new files, lines to add after the first one, which exists already, and
 * commands.
 */
function follow(section: string): string[] {
  const printed: string[] = [];
  for (const [, what, block] of section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
    const [, added, file] = /^ts (add to )?(\S+)$/.exec(what) ?? [];
    if (what === "sh") {
      const path = `${join(copy, "node_modules/.bin")}:${process.env.PATH}`;
      const env = { ...process.env, PATH: path };
      printed.push(
        execFileSync("sh", ["-e", "-c", block], { cwd: copy, env, encoding: "utf8", stdio: "pipe" }),
      );
    } else if (added === undefined) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), block, { flag: "wx" });
    } else {
      const text = readFileSync(join(copy, file), "utf8");
      const anchor = block.slice(0, block.indexOf("\n"));
      expect(text.split(anchor), `${file}: ${anchor}`).toHaveLength(2);
      writeFileSync(
        join(copy, file),
        text.replace(anchor, () => block.trimEnd()),
      );
    }
  }
  return printed;
}

test("each thing that people add is added as the page says", () => {
  expect(sections.map((section) => section.slice(0, section.indexOf("\n")))).toEqual([
    "A policy",
    "A reader",
    "A verb",
    "A paper",
    "A route",
    "A page",
    "Before you hand it in",
  ]);
  const printed = sections.map((section) => follow(section).join(""));
  expect(printed[0]).toContain("Newest first");
  expect(printed[1]).toMatch(/all 2 jobs ended[\s\S]*dropped 1: Not three numbers/);
  expect(printed[2]).toMatch(/^MIT\n.*license/);
  expect(printed[3]).toContain("Mean wait");
  expect(printed[5]).toContain("EASY backfilling");
}, 300_000);
