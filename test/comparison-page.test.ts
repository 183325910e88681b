/**
 * Tests that docs/comparison.md is about the same features twice, names a source for each of the others, and
 * names only commands that exist.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeProgram } from "@tutti/cli/program.ts";
import { expect, test } from "vitest";
import { root } from "./sources.ts";

const page = readFileSync(join(root, "docs/comparison.md"), "utf8");

/** The rows of the tables, without headings. */
const tables = page
  .split("\n## ")
  .map((part) => part.split("\n").filter((line) => line.startsWith("| ") && !/^\| (feature|---) /.test(line)))
  .filter((rows) => rows.length > 0)
  .map((rows) => rows.map((row) => row.split(" | ").map((cell) => cell.replaceAll(/^\| | \|$/g, ""))));

test("both tables have the same features, and every cell says yes, partly or no", () => {
  const [ours, others] = tables;
  expect(ours.length).toBe(40);
  expect(others.map(([feature]) => feature)).toEqual(ours.map(([feature]) => feature));
  for (const [feature, verdict, how] of ours) {
    expect([feature, ["yes", "partly", "no"].includes(verdict)]).toEqual([feature, true]);
    expect(how).not.toBe("");
  }
  for (const row of others) {
    expect(row.length).toBe(11);
    for (const cell of row.slice(1))
      expect(cell).toMatch(/^(yes|partly|no|[ypn](\/[ypn]){2})\*?( \(.*\))?(, .*)?$/);
  }
});

test("each column has a source with its version or date", () => {
  const heading = /^\| feature \| (pueue .*) \|$/m.exec(page)![1];
  const names = heading.split(" | ").flatMap((names) => names.split(", "));
  expect(names).toHaveLength(12);
  const sources = page.split("### Sources\n")[1].replaceAll("\n  ", " ");
  for (const name of names) {
    const part = sources.split(`**${name}**`)[1]?.split(/\*\*|\n/)[0];
    expect([name, part]).toEqual([
      name,
      expect.stringMatching(/\(\d[\d.]*\)|\(20\d\d-\d\d-\d\d\)|version \d{8}/),
    ]);
  }
});

test("every command and every option that it names exists", async () => {
  const program = await makeProgram("all");
  let count = 0;
  for (const [, words] of page.matchAll(/`tutti ([^`]*)`/g)) {
    const [name, ...rest] = words
      .replaceAll(/'[^']*'/g, "")
      .split(" -- ")[0]
      .split(" ");
    const command = program.commands.find((each) => each.name() === name || each.aliases().includes(name));
    expect([words, command !== undefined]).toEqual([words, true]);
    for (const option of rest.filter((word) => /^--?[a-z]/.test(word))) {
      const known = command!.options.some(({ long, short }) => option === long || option === short);
      expect([words, option, known]).toEqual([words, option, true]);
      count++;
    }
  }
  expect(count).toBeGreaterThan(20);
});
