/** Compares the table "What works on a cluster" of docs/slurm.md with the executor and with the tests. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Capabilities } from "@tutti/live/daemon/executor/executor.ts";
import { expect, test } from "vitest";
import { pilotProvider } from "./provider.ts";
import { KIND } from "./slurm-for-tests.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/slurm.md"), "utf8");
const [, section = ""] = /## What works on a cluster\n([\s\S]*?)\n## /.exec(page) ?? [];
const rows = section
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(2)
  .map((line) => line.slice(2, -2).split(" | "));
const { capabilities } = pilotProvider({
  kinds: [KIND],
  maxNodes: 1,
  drainMs: 2000,
  stopBeforeMs: 1000,
  sbatch: [],
});
/** What users notice of an ability, by a part of its row. */
const FEATURES: Partial<Record<keyof Capabilities, string>> = {
  tasksRunEach: "--tasks-run each`), ",
  timeSharing: "turns of gangs",
  modeConcurrent: "mode `concurrent`",
  signalsBeforeLimit: "--signal",
  takesInput: "standard input",
  resources: "--use",
  canPause: "tutti pause",
  beginsAtOnce: "windows",
  offByWord: "allocations off",
};
/** How an executor works, not what it allows. */
const HOW: readonly (keyof Capabilities)[] = ["movesGangs", "endsWithReboot", "hasNodes", "nodeResources"];

test("every ability of the executor of pilots has a row that says the same", () => {
  const abilities = Object.keys(capabilities) as (keyof Capabilities)[];
  expect(abilities.filter((name) => !HOW.includes(name)).sort()).toEqual(Object.keys(FEATURES).sort());
  for (const [name, part] of Object.entries(FEATURES)) {
    const found = rows.filter(([feature]) => feature.includes(part));
    expect(
      found.map(([feature]) => feature),
      name,
    ).toHaveLength(1);
    const ability = capabilities[name as keyof Capabilities];
    const isPossible = ability === true;
    expect(found[0][1].startsWith("works"), name).toBe(isPossible);
    if (!isPossible) expect(found[0][1]).toBe(`refused: ${ability}`);
  }
});

test("every row names a test that exists", () => {
  expect(rows.length).toBeGreaterThan(10);
  for (const [feature, , shown] of rows) {
    const [, file = "", title] = /^`([^`]+)`(?:: (.+))?$/.exec(shown) ?? [];
    expect(existsSync(join(root, file)), `${feature}: ${shown}`).toBe(true);
    if (title !== undefined) expect(readFileSync(join(root, file), "utf8")).toContain(`test("${title}"`);
  }
});
