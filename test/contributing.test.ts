/** Follows CONTRIBUTING.md to the letter in a copy of the project. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
  // A folder of its own with links to the packages: the caches in node_modules belong to the tests that run
  // in the project meanwhile.
  mkdirSync(join(copy, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules")))
    if (!isCache(name)) symlinkSync(join(root, "node_modules", name), join(copy, "node_modules", name));
});
afterAll(() => rmSync(copy, { recursive: true }));

/** Whether Vite or Vitest made this entry of node_modules. */
function isCache(name: string): boolean {
  return name.startsWith(".vite");
}

/** Runs a block of commands as a person would type them; returns what they print. */
function run(block: string): string {
  const path = `${join(copy, "node_modules/.bin")}:${process.env.PATH}`;
  // Offline, npx runs only what is installed.
  const env = { ...process.env, PATH: path, npm_config_offline: "true" };
  // With -x, standard error names each command before it runs.
  const words = ["-e", "-x", "-c", block];
  const { status, signal, stdout, stderr } = spawnSync("sh", words, { cwd: copy, env, encoding: "utf8" });
  expect(signal ?? status, `${stderr}\n${stdout}`).toBe(0);
  return stdout;
}

/**
 * The code blocks of a section: new files, lines to add after the first one, which exists already, and
 * commands.
 */
function follow(section: string): string {
  const printed: string[] = [];
  for (const [, what, block] of section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
    const [, added, file] = /^ts (add to )?(\S+)$/.exec(what) ?? [];
    if (what === "sh") {
      printed.push(run(block));
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
  return printed.join("");
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
  const printed = sections.map(follow);
  expect(printed[0]).toContain("Newest first");
  expect(printed[1]).toMatch(/all 2 jobs ended[\s\S]*dropped 1: Not three numbers/);
  expect(printed[2]).toMatch(/^MIT\n.*license/);
  expect(printed[3]).toContain("Mean wait");
  expect(printed[5]).toContain("EASY backfilling");
}, 600_000);
