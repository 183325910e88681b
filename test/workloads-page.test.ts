/** Checks that docs/workloads.md agrees with the code, by comparing their tables of rules and parameters. */
import { readFileSync } from "node:fs";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { BATSIM_RULES } from "@tutti/kernel/workload/traces/batsim-rules.ts";
import { FORMATS } from "@tutti/kernel/workload/traces/formats.ts";
import { JSONL_RULES } from "@tutti/kernel/workload/traces/jsonl-rules.ts";
import { SACCT_RULES } from "@tutti/kernel/workload/traces/sacct-rules.ts";
import { SIZE_RULE } from "@tutti/kernel/workload/traces/swf.ts";
import { SWF_RULES } from "@tutti/kernel/workload/traces/swf-rules.ts";
import { describe, expect, test } from "vitest";

const page = readFileSync(new URL("../docs/workloads.md", import.meta.url), "utf8");

/** The lines from a heading of level three to the next heading. */
function section(heading: string): string {
  const at = page.indexOf(`\n### ${heading}\n`);
  expect(at, `a section "${heading}"`).toBeGreaterThan(0);
  return page.slice(at + 1).split(/\n##/)[0];
}

const rows = (text: string) => text.split("\n").filter((line) => line.startsWith("| `"));

describe("docs/workloads.md", () => {
  test.each([
    ["Standard Workload Format", SWF_RULES],
    ["Workload files: rules", JSONL_RULES],
    ["Slurm: sacct", SACCT_RULES],
    ["Batsim", BATSIM_RULES],
  ])("%s: the table has every rule of the reader in its words, and no other", (heading, rules) => {
    const expected = Object.entries(rules).map(
      ([code, { action, message }]) => `| \`${code}\` | ${action} | ${message} |`,
    );
    expect(rows(section(heading))).toEqual(expected);
  });

  test.each(MODELS)(
    "$name: the table has every parameter with its default and meaning",
    ({ name, parameters }) => {
      const expected = parameters.map(
        (one) =>
          `| \`${one.name}\` | ${one.default}${"unit" in one && one.unit ? ` ${one.unit}` : ""} | ${one.description} |`,
      );
      expect(rows(section(name))).toEqual(expected);
    },
  );

  test("names every format, and the size rule as results print it", () => {
    for (const { title, name } of FORMATS) {
      expect(page).toContain(title.replace(/ \(.*/, ""));
      if (name !== "sacct") expect(page).toContain(`--to ${name}`);
    }
    expect(page.replace(/\s+/g, " ")).toContain(SIZE_RULE.replace(/^.*?: /, ""));
  });
});
