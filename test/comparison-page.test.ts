/**
 * Tests that docs/comparison.md is about the same features twice, that each cell of its tables says yes,
 * partly or no, that each of the others has a source with a date, and that the commands that it names exist.
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
  for (const row of others) expectVerdicts(row, 10);
});

test("newer schedulers and simulators have a cell each for every feature", () => {
  const [, , newer, simulators] = tables;
  expect([newer.length, simulators.length]).toEqual([17, 32]);
  for (const row of newer) expectVerdicts(row, 6);
  for (const row of simulators) expectVerdicts(row, 13);
});

/** Letters stand for the three features of one row. */
function expectVerdicts([feature, ...cells]: readonly string[], count: number): void {
  expect([feature, cells.length]).toEqual([feature, count]);
  for (const cell of cells)
    expect([feature, cell]).toEqual([
      feature,
      expect.stringMatching(/^(yes|partly|no|[ypn](\/[ypn]){2})\*?( \(.*\))?(, .*)?$/),
    ]);
}

test.each([
  ["Others", "### Sources", 12],
  ["Newer schedulers", "### Sources of the newer ones", 5],
  ["Simulators", "### Sources of the simulators", 12],
])("each column of %s has a source with its version or date", (title, heading, count) => {
  const part = page.split(`\n## ${title}\n`)[1].split("\n## ")[0];
  const columns = /^\| feature \| (.*) \|$/m.exec(part)![1];
  const names = columns.split(" | ").flatMap((names) => names.split(", "));
  const others = names.filter((name) => name !== "Tutti");
  expect(others).toHaveLength(count);
  const sources = part.split(`${heading}\n`)[1].replaceAll("\n  ", " ");
  for (const name of others) {
    const source = sources.split(`**${name}**`)[1]?.split(/\*\*|\n/)[0];
    expect([name, source]).toEqual([
      name,
      expect.stringMatching(/\(\d[\d.]*\)|\(20\d\d-\d\d-\d\d\)|version \d{8}/),
    ]);
  }
});

test("every command and every option that it names exists", async () => {
  const program = await makeProgram("all");
  let count = 0;
  for (const [, words] of page.matchAll(/`tutti ([^`]*)`/g)) {
    const rest = words
      .replaceAll(/'[^']*'/g, "")
      .split(" -- ")[0]
      .split(" ");
    let command = program;
    // Also of a command of a command, such as `window add`.
    while (command.commands.length > 0) {
      const name = rest.shift() ?? "";
      const named = command.commands.find((each) => each.name() === name || each.aliases().includes(name));
      expect([words, named !== undefined]).toEqual([words, true]);
      command = named!;
    }
    for (const option of rest.filter((word) => /^--?[a-z]/.test(word))) {
      const known = command.options.some(({ long, short }) => option === long || option === short);
      expect([words, option, known]).toEqual([words, option, true]);
      count++;
    }
  }
  expect(count).toBeGreaterThan(20);
});
