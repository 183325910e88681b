/** Simulated lives whose jobs run on nodes of a Slurm, from pilots on. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { programsOf } from "@tutti/torture/node/programs.ts";
import { loadParts, settler } from "@tutti/torture/run/host.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import type { Setting } from "@tutti/torture/run/setting.ts";
import type { WorldParts } from "@tutti/torture/run/site.ts";
import { liveOnce } from "@tutti/torture/run/torture.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildWorldPrograms, type Mutation } from "../scripts/torture-bundle.ts";
import { firstSetting } from "./torture/in-node.ts";

/** Nodes on which two gangs have room. */
const ON_NODES = firstSetting(({ cluster, maxRows }) => (cluster?.nodes[0] ?? 0) > 1 && maxRows > 1);
const WASM = fileURLToPath(import.meta.resolve("@sqlite.org/sqlite-wasm/sqlite3.wasm"));

const { settle, close } = settler();
/** What Vitest would take for a failure of its own. */
const others = process.listeners("unhandledRejection");
let life: Life | undefined;
const onRejection = (reason: unknown) => life?.rejected(reason);

let whole: WorldParts;

beforeAll(async () => {
  whole = await partsOf([]);
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", onRejection);
});
afterAll(() => {
  close();
  process.off("unhandledRejection", onRejection);
  for (const listener of others) process.on("unhandledRejection", listener);
});

async function partsOf(mutations: readonly Mutation[]): Promise<WorldParts> {
  return loadParts(programsOf(await buildWorldPrograms(mutations)), readFileSync(WASM), Buffer as never);
}

async function live(change: Partial<Setting>, parts = whole) {
  const lines: string[] = [];
  const verdict = await liveOnce(
    { ...ON_NODES, ...change },
    { parts, settle, onBegin: (begun) => (life = begun), log: (line) => lines.push(line) },
  );
  return { verdict, lines };
}

const count = (lines: readonly string[], part: string) => lines.filter((line) => line.includes(part)).length;

test("a life on a cluster is the same with the same seed, and nothing goes wrong in it", async () => {
  const { verdict, lines } = await live({});
  expect(verdict.problems).toEqual([]);
  expect(count(lines, "Slurm starts job")).toBeGreaterThan(0);
  expect(count(lines, " begins")).toBeGreaterThan(0);
  expect((await live({})).verdict).toEqual(verdict);
});

/** Jobs over several nodes, one after the other and together. */
const SPREAD: Partial<Setting> = {
  hours: 0.15,
  arrivalMs: 30_000,
  runMs: [10_000, 60_000],
  policy: "easy",
  kinds: { "srun in it": 1, "tasks run each": 1, "several processes": 1 },
  faults: {},
};

test("nodes that lose their power lose only what they had", async () => {
  const { verdict, lines } = await live({
    ...SPREAD,
    faultMs: 60_000,
    faults: { "power cut of a node": 1 },
  });
  expect(verdict.problems).toEqual([]);
  expect(count(lines, "fault: power cut of a node")).toBeGreaterThan(0);
  expect(count(lines, "task 1 begins")).toBeGreaterThan(0);
});

test("what a job's srun starts on its first node without the gang's CPUs is found", async () => {
  const unpinned = {
    file: "packages/live/conductor/attempts/attempt.ts",
    find: "if (this.machine.containment.isOfCluster) this.pinNew(nowMs);",
    replace: "",
  };
  expect((await live(SPREAD)).verdict.problems).toEqual([]);
  const { problems } = (await live(SPREAD, await partsOf([unpinned]))).verdict;
  expect(problems[0]).toMatch(/^gangs \S+ and \S+ both ran on CPU \d of n\d/);
});
