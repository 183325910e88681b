/**
 * Runs docs/library.md and the example as a user who has installed the package would, with its exports and
 * types.
 */
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDist } from "../scripts/build.ts";
import { makeFolder, removeFolder, shell } from "./command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/library.md"), "utf8");
const examples = Array.from(page.matchAll(/```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g));
let folder = "";

/** What a program prints. */
function output(command: string): string {
  const { status, stdout, stderr } = shell(folder, command);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

beforeAll(async () => {
  folder = makeFolder();
  const installed = join(folder, "node_modules/tutti");
  mkdirSync(installed, { recursive: true });
  await makeDist(join(installed, "dist"));
  copyFileSync(join(root, "package.json"), join(installed, "package.json"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const trace = "downey:jobs=3000:load=0.7:estimateFactor=5";
  expect(shell(folder, `tutti workload generate ${trace} | gzip > trace.swf.gz`).status).toBe(0);
  for (const [i, [, code = ""]] of examples.entries()) writeFileSync(join(folder, `example-${i}.ts`), code);
  cpSync(join(root, "examples/compare-loads.ts"), join(folder, "compare-loads.ts"));
});
afterAll(() => removeFolder(folder));

describe("docs/library.md", () => {
  test("has an example of every function", () => {
    expect(examples.length).toBe(page.split("```ts\n").length - 1);
    for (const name of ["simulate", "compare", "readTrace", "runCells", "cellHash", "metricOf"])
      expect(
        examples.some(([, code]) => code?.includes(`${name}(`)),
        name,
      ).toBe(true);
  });

  test.each(examples.map(([, , printed = ""], i) => [i + 1, printed] as const))(
    "example %d prints what is below it",
    (number, printed) => {
      expect(output(`"${process.execPath}" example-${number - 1}.ts`)).toBe(printed);
    },
  );

  test("its first example is what the command line gives", () => {
    const command = "tutti simulate downey:jobs=1000:load=0.7 --policy easy:order=shortest --seed 7 --json";
    const { policies } = JSON.parse(output(`${command} --no-progress`)) as {
      readonly policies: readonly { readonly scheduleHash: string }[];
    };
    expect(examples[0]?.[2]).toContain(policies[0].scheduleHash);
  });

  test("the canonical text that it shows has the hash that its example prints", () => {
    const text = /```json\n(.*)\n```/.exec(page)?.[1] ?? "";
    const hash = createHash("sha256").update(text).digest("hex");
    expect(examples.some(([, , printed]) => printed?.startsWith(hash.slice(0, 16)))).toBe(true);
  });

  test("the examples and examples/compare-loads.ts fit the types of the package", () => {
    const names = [...examples.keys()].map((i) => `example-${i}.ts`);
    const options = "--strict --noEmit --module nodenext --target es2024 --lib es2024,dom --types ''";
    output(
      `"${process.execPath}" ${join(root, "node_modules/typescript/bin/tsc")} ${options} compare-loads.ts ${names.join(" ")}`,
    );
  });
});

test("examples/compare-loads.ts prints a row per load", () => {
  const rows = output(`"${process.execPath}" compare-loads.ts`).trimEnd().split("\n");
  expect(rows).toHaveLength(4);
  for (const row of rows.slice(1)) expect(row).toMatch(/^0\.\d( +\d+\.\d\d ± \d+\.\d\d min){3}$/);
});
