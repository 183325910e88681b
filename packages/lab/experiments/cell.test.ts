import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { metricOf } from "@tutti/kernel/metrics/summary.ts";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { canonicalText, cellHash } from "./cell.ts";
import { WITHOUT_FILES } from "./inputs.ts";
import type { Cell } from "./kinds.ts";
import { runCells } from "./run-cells.ts";
import { CellRunner } from "./runner.ts";

const cell: Cell<"summary"> = {
  kind: "summary",
  source: { jobs: "downey:jobs=100:processors=16", seed: 7, limit: undefined, load: 0.5 },
  rules: DEFAULT_RULES,
  policy: "easy:order=shortest",
  slotS: 60,
  switchS: 1e-7,
  metrics: ["wait"],
};
/** The expected text, written by hand from the rule in the comment of `canonicalText`. */
const TEXT =
  '{"kind":"summary","metrics":["wait"],"policy":"easy:order=shortest","rules":{"missingEstimate":"run","overrun":"raise","oversize":"drop"},"slotS":60,"source":{"jobs":"downey:jobs=100:processors=16","load":0.5,"seed":7},"switchS":1e-7}';
/** `printf %s TEXT | sha256sum` */
const HASH = "ff0e14111ad50d0e2f6884da5a4c74bc3a42ea5cea981b6595f3763c56632ed3";

describe("the hash of a cell", () => {
  test("is the SHA-256 of its canonical text", async () => {
    expect(canonicalText(cell)).toBe(TEXT);
    expect(createHash("sha256").update(TEXT).digest("hex")).toBe(HASH);
    expect(await cellHash(cell)).toBe(HASH);
  });

  test("does not depend on the order of members, but on every value", async () => {
    const { kind, ...rest } = cell;
    expect(await cellHash({ ...rest, kind })).toBe(HASH);
    const others = [
      { ...cell, policy: "easy" },
      { ...cell, source: { ...cell.source, seed: 8 } },
      { ...cell, metrics: ["response"] },
      { ...cell, processors: 16 },
    ];
    const hashes = await Promise.all(others.map(cellHash));
    expect(new Set([HASH, ...hashes]).size).toBe(5);
  });

  test("members that JSON cannot express are refused, names are sorted by code units, text is in UTF-8", async () => {
    expect(() => canonicalText({ ...cell, slotS: Number.NaN })).toThrow("expected a finite number");
    expect(canonicalText({ b: [1, "ä"], B: null, a: true, ab: undefined })).toBe(
      '{"B":null,"a":true,"b":[1,"ä"]}',
    );
    const text = '{"policy":"ä"}';
    expect(await cellHash({ policy: "ä" })).toBe(createHash("sha256").update(text, "utf8").digest("hex"));
  });
});

describe("cells", () => {
  test("run without files, alone or after others, in a thread or here: the same result", async () => {
    const other = { ...cell, source: { ...cell.source, seed: 8 }, policy: "br" };
    const runner = new CellRunner(WITHOUT_FILES);
    const alone = await runner.run(cell);
    const after = [await runner.run(other), await runner.run(cell)];
    expect(after[1]).toEqual(alone);
    expect(await runCells([other, cell, other], { workers: 2 })).toEqual([...after, after[0]]);
    expect(metricOf(alone.summary, "wait").all.count).toBe(100);
  });

  test("a trace and a policy of the user's own need files", async () => {
    const runner = new CellRunner(WITHOUT_FILES);
    await expect(runner.run({ ...cell, source: { jobs: "KTH-SP2", seed: 1 } })).rejects.toThrow(
      "Cannot find model",
    );
    await expect(runner.run({ ...cell, policy: "./mine.ts" })).rejects.toThrow(/mine/);
  });

  test("run where there is nothing of Node, as in a page", async () => {
    const contents = 'export * from "./runner.ts"; export { WITHOUT_FILES } from "./inputs.ts";';
    const bundled = await build({
      stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
      bundle: true,
      write: false,
      metafile: true,
      platform: "browser",
      format: "iife",
      globalName: "runner",
    });
    // Every file that a cell may need, loaded lazily or not; an import of a Node module would have failed.
    const files = Object.keys(bundled.metafile.inputs);
    for (const name of [
      "kernel/simulator/simulate.ts",
      "lab/audit/audit.ts",
      "kernel/metrics/summary.ts",
      "kernel/policies/space/easy.ts",
    ])
      expect(files).toContain(`packages/${name}`);
    const script = `${bundled.outputFiles[0].text}
      const run = async (cell) => JSON.stringify(await new runner.CellRunner(runner.WITHOUT_FILES).run(cell));`;
    const page = createContext({});
    runInContext(script, page);
    const text = await runInContext(`run(${JSON.stringify(cell)})`, page);
    expect(text).toBe(JSON.stringify((await runCells([cell], { workers: 1 }))[0]));
  });
});
