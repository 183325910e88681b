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
    "packages",
    "test",
    "scripts",
    "bench",
    "attack",
    "examples",
    "bin",
    "docs/golden.tsv",
    "docs/studies",
    "docs/papers",
    "docs/findings.texts.json",
    "docs/api.md",
    "python",
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
  const pages = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/compatibility.md",
    "docs/glossary.md",
    "docs/decisions.md",
  ];
  for (const name of [...names, ...files, ...pages])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  // A folder of its own with links to the packages: the caches in node_modules belong to the tests that run
  // in the project meanwhile.
  mkdirSync(join(copy, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules")))
    if (!isCache(name) && name !== "@tutti")
      symlinkSync(join(root, "node_modules", name), join(copy, "node_modules", name));
  mkdirSync(join(copy, "node_modules/@tutti"));
  for (const name of readdirSync(join(copy, "packages")))
    symlinkSync(join(copy, "packages", name), join(copy, "node_modules/@tutti", name));
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
 * commands. A command that a later section has, too, runs only there: another type check takes seconds.
 */
function follow(section: string, at: number): string {
  const later = new Set(sections.slice(at + 1).flatMap((text) => text.split("\n")));
  const printed: string[] = [];
  for (const [, what, block] of section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
    const [, added, file] = /^ts (add to )?(\S+)$/.exec(what) ?? [];
    if (what === "sh") {
      const lines = block.trimEnd().split("\n");
      printed.push(run(lines.filter((line) => !later.has(line)).join("\n")));
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
    "A field of a job",
    "A verb",
    "A paper",
    "A route",
    "A page",
    "A release",
    "Before you hand it in",
  ]);
  const printed = sections.map(follow);
  expect(printed[0]).toContain("Newest first");
  expect(printed[1]).toMatch(/all 2 jobs ended[\s\S]*dropped 1: Not three numbers/);
  expect(printed[2]).toContain("how far the job stands back");
  expect(printed[3]).toMatch(/^MIT\n.*license/);
  expect(printed[4]).toContain("Mean wait");
  expect(printed[6]).toContain("EASY backfilling");
  fieldIsEverywhere();
});

/** The field of the page is in all that the head of the table names. */
function fieldIsEverywhere(): void {
  const read = (file: string) => readFileSync(join(copy, file), "utf8");
  expect(read("python/tutti.py")).toMatch(
    /^ {4}niceness: int$[\s\S]*^ {4}"niceness": \("niceness", "count"\),$/m,
  );
  expect(read("docs/api.md")).toContain("| `niceness` | request, answer | `--niceness` | `niceness` |");
  const script = "#!/bin/sh\n#TUTTI --niceness 7\n";
  writeFileSync(join(copy, "job.sh"), script);
  writeFileSync(join(copy, "flow.toml"), '[tasks.one]\ncommand = ["true"]\nniceness = 6\n');
  writeFileSync(join(copy, "jobs.json"), '[{"command": ["true"], "niceness": 5}]');
  cpSync(join(root, "test/field-probe.ts"), join(copy, "test/field-probe.ts"));
  const found = JSON.parse(run("node test/field-probe.ts"));
  expect(found).toEqual({
    script: 7,
    workflow: 6,
    json: 5,
    refused: ["niceness: is 20, expected a whole number from 0 to 19"],
    answer: 7,
    stored: 9,
    changed: "root changed job 2: niceness 9",
    updated: ", niceness 9",
    fact: ["niceness", "9"],
    column: "9",
    form: { request: { niceness: 3 }, problems: {} },
    document: ["Job", "SubmitJob", "UpdateBody"],
  });
}
