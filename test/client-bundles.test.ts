/**
 * What starts when a command is typed. Thousands of these processes start on a busy machine, so the bundles
 * of clients must stay small; and in a checkout, a bundle must never run in place of a newer source.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleClients } from "../scripts/client-bundles.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-bundles-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string, timeS: number): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  utimesSync(path, timeS, timeS);
}

describe("isBundleFresh()", () => {
  const BUILT_S = 1_000_000;
  let isFresh: (name: string) => boolean;
  beforeEach(async () => {
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    copyFileSync(join(root, "bin/bundle.js"), join(folder, "bin/bundle.js"));
    ({ isBundleFresh: isFresh } = await import(pathToFileURL(join(folder, "bin/bundle.js")).href));
    const sources = {
      client: ["packages/a.ts"],
      tutti: ["packages/a.ts", "packages/b.ts", "docs/a.numbers.json"],
    };
    for (const source of sources.tutti) write(source, "", BUILT_S - 1);
    write("dist/tutti.js", "", BUILT_S);
    write("dist/client.cjs", "", BUILT_S);
    write("dist/sources.json", JSON.stringify(sources), BUILT_S);
  });

  test("in a checkout: as long as no source of that bundle is newer or gone", () => {
    const fresh = () => [isFresh("client"), isFresh("tutti")];
    expect(fresh()).toEqual([true, true]);
    write("packages/other.test.ts", "", BUILT_S + 1);
    expect(fresh()).toEqual([true, true]);
    write("docs/a.numbers.json", "1", BUILT_S + 1);
    expect(fresh()).toEqual([true, false]);
    write("docs/a.numbers.json", "1", BUILT_S);
    write("packages/a.ts", "1", BUILT_S + 0.001);
    expect(fresh()).toEqual([false, false]);
    write("packages/a.ts", "1", BUILT_S);
    expect(fresh()).toEqual([true, true]);
    rmSync(join(folder, "packages/b.ts"));
    expect(fresh()).toEqual([true, false]);
    // While a build runs, or when none was made.
    rmSync(join(folder, "dist/sources.json"));
    expect(fresh()).toEqual([false, false]);
  });

  test("as installed: if it is there", () => {
    rmSync(join(folder, "packages"), { recursive: true });
    rmSync(join(folder, "dist/sources.json"));
    expect([isFresh("client"), isFresh("tutti"), isFresh("slurm-names")]).toEqual([true, true, false]);
  });
});

test("the bundles of clients have no schemas, no laboratory and no scheduler, and are small", async () => {
  const made = await bundleClients({
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    platform: "node",
    target: "node24",
    minifyWhitespace: true,
    logLevel: "warning",
  });
  expect(Object.keys(made)).toEqual(["client", "slurm-names"]);
  for (const [name, { inputs }] of Object.entries(made)) {
    const heavy = Object.keys(inputs).filter((path) =>
      /node_modules\/(?!commander\/)|^packages\/(?:papers|own-policies\/own-policy)|\/(?:daemon\/(?!state\/state-place\.ts)|simulator|policies)\//.test(
        path,
      ),
    );
    expect([name, heavy]).toEqual([name, []]);
    expect(statSync(join(folder, `${name}.cjs`)).size).toBeLessThan(350_000);
  }
});
