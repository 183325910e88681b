/**
 * Computes a sixteenth of the golden schedules of the models and of two traces again. A hash of the sources
 * that decide about schedules chooses which ones. `npm run golden` computes all.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { runCells } from "@tutti/lab/experiments/run-cells.ts";
import {
  GOLDEN_TRACES,
  type GoldenKey,
  goldenCell,
  goldenKeys,
  goldenPolicies,
  goldenSources,
} from "@tutti/lab/golden/cells.ts";
import { goldenPage } from "@tutti/lab/golden/page.ts";
import type { GoldenResult } from "@tutti/lab/golden/run.ts";
import { differences, orphanLines, parseTable } from "@tutti/lab/golden/table.ts";
import { describe, expect, test } from "vitest";
import { folderOfRoom, sourcesIn } from "./sources.ts";

const text = readFileSync("docs/golden.tsv", "utf8");
const table = parseTable(text);
/** The rooms that decide about a schedule. */
const KERNEL = ["core", "structures", "machines", "policies", "simulator", "workload"];
const kernelHash = createHash("sha256");
for (const { text } of KERNEL.flatMap((room) => sourcesIn(folderOfRoom(room)))) kernelHash.update(text);
const kernel = kernelHash.digest("hex");
const isDrawn = ({ source, policy }: GoldenKey) =>
  createHash("sha256").update(`${kernel} ${source} ${policy}`).digest().readUInt32LE() % SIZES.goldenEvery ===
  0;
const TESTED_TRACES = GOLDEN_TRACES.slice(0, 2);
/** On this trace, only the policies as they are by default, without the slowest one: all take minutes. */
const [, DEFAULTS_ONLY] = TESTED_TRACES;
/** Guards against a hang: a trace takes up to three minutes of CPU time. */
const MAX_MS = 600_000;
const models = goldenSources().filter((source) => !(GOLDEN_TRACES as readonly string[]).includes(source));

describe("golden schedules", () => {
  for (const source of [...models, ...TESTED_TRACES]) {
    const isMissing = source.endsWith(".gz") && traceFile(source) === undefined;
    test.skipIf(isMissing)(
      `${source}: policies schedule it as before`,
      async () => {
        const all = goldenKeys([source]).filter(isDrawn);
        const cells =
          source === DEFAULTS_ONLY
            ? all.filter(({ policy }) => !policy.includes(":") && policy !== "brms")
            : all;
        const results = await runCells(cells.map(goldenCell), { workers: 1 });
        expect(differences(table, cells, results)).toEqual([]);
      },
      MAX_MS,
    );
  }

  test("the table has every cell and no other", () => {
    expect(orphanLines(table)).toEqual([]);
    expect(table.size).toBe(goldenKeys().length);
  });

  test("it has every policy with its defaults and with every value of its choices", () => {
    const settings = goldenPolicies();
    for (const { name, parameters } of POLICIES) {
      expect(settings).toContain(name);
      for (const spec of parameters) {
        if (spec.kind !== "choice") continue;
        for (const value of spec.choices.filter((one) => one !== spec.default)) {
          // The rows keep the names under which they were first recorded.
          const parameter = spec.aliases?.[0] ?? spec.name;
          const wanted = new RegExp(`^${name}:(?:rows=\\d+:)?${parameter}=${value}$`);
          expect(
            settings.some((setting) => wanted.test(setting)),
            `${name}:${spec.name}=${value}`,
          ).toBe(true);
        }
      }
    }
  });

  test("a schedule that differs in one digit is reported, with both lines", () => {
    const [cell] = goldenKeys(["downey"]);
    const result = table.get("downey\tfcfs") as Extract<GoldenResult, { hash: string }>;
    expect(differences(table, [cell], [result])).toEqual([]);
    const [line] = differences(table, [cell], [{ ...result, meanWaitS: result.meanWaitS + 1e-9 }]);
    expect(line).toContain("expected downey\tfcfs");
    expect(differences(table, [{ source: "downey", policy: "new" }], [result])[0]).toContain(
      "not in the table",
    );
  });

  test("the page is made from the table", () => {
    expect(readFileSync("docs/golden.md", "utf8")).toBe(goldenPage(table));
  });
});
