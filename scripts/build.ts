/**
 * Builds dist/: the command line and its worker as bundles, the web pages, the programs for the simulated
 * world, and the types for `import "tutti"`. The bundles are split at dynamic imports, so `tutti --help`
 * loads little. `npm ci` runs this script through `prepare`.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { ownBuild } from "@tutti/host/version.ts";
import { type BuildOptions, build, type Metafile } from "esbuild";
import { writeWeb } from "./build-web.ts";
import { builtInModules, bundleClients } from "./client-bundles.ts";
import { checkPaperData } from "./paper-data.ts";
import { buildWorldPrograms, moduleOf } from "./torture-bundle.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Writes the bundles into a newly created folder. */
export async function bundle(dist: string): Promise<void> {
  checkPaperData();
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  await writeWeb(`${dist}/web`);
  const common: BuildOptions = {
    absWorkingDir: root,
    outdir: dist,
    bundle: true,
    platform: "node",
    target: "node24",
    minifyWhitespace: true,
    legalComments: "linked",
    define: { TUTTI_BUILD: JSON.stringify(ownBuild()) },
    logLevel: "warning",
  };
  const clients = await bundleClients(common);
  const { metafile } = await build({
    ...common,
    entryPoints: {
      worker: "packages/papers/worker.ts",
      apart: "packages/lab/experiments/apart-program.ts",
      conductor: "packages/live/conductor/main.ts",
      connect: "packages/live/conductor/connect.ts",
      forecast: "packages/live/daemon/forecast/worker.ts",
      hooks: "packages/live/conductor/hooks/runner.ts",
      webhook: "packages/live/conductor/hooks/webhook.ts",
      index: "packages/lab/index.ts",
      kit: "packages/kernel/kit.ts",
      tutti: "packages/cli/main.ts",
    },
    splitting: true,
    format: "esm",
    chunkNames: "[name]-[hash]",
    metafile: true,
    plugins: [builtInModules],
  });
  const carried = await build({
    ...common,
    // Each is one file, and needs no package.json where it is carried to (packages/ssh/carried.ts).
    outdir: `${dist}/carried`,
    outExtension: { ".js": ".mjs" },
    entryPoints: {
      conductor: "packages/live/conductor/main.ts",
      connect: "packages/live/conductor/connect.ts",
      facts: "packages/live/conductor/facts.ts",
    },
    format: "esm",
    metafile: true,
    plugins: [builtInModules],
  });
  const torture = await buildWorldPrograms();
  mkdirSync(`${dist}/torture`);
  writeFileSync(`${dist}/torture/programs.js`, moduleOf(torture));
  const wasm = fileURLToPath(import.meta.resolve("@sqlite.org/sqlite-wasm/sqlite3.wasm"));
  copyFileSync(wasm, `${dist}/torture/sqlite3.wasm`);
  writeSources(dist, {
    ...clients,
    tutti: metafile,
    carried: carried.metafile,
    torture: torture.metafile,
  });
}

/**
 * Says which sources are in which program, for bin/bundle.js. It comes last, because its time is compared
 * with theirs.
 */
function writeSources(dist: string, programs: Readonly<Record<string, Metafile>>): void {
  const sources = Object.entries(programs).map(([name, { inputs }]) => [
    name,
    Object.keys(inputs).filter((path) => /^(?:packages|docs)\//.test(path)),
  ]);
  writeFileSync(`${dist}/sources.json`, JSON.stringify(Object.fromEntries(sources)));
}

/**
 * Writes the bundles and their types, as the package contains them. They are made next to the folder and
 * take its place when they are whole, so a program that starts meanwhile finds all of its files.
 */
export async function makeDist(dist: string): Promise<void> {
  const [made, old] = [`${dist}.new`, `${dist}.old`];
  await bundle(made);
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  const types = ["-p", `${root}scripts/tsconfig.types.json`, "--outDir", `${made}/types`];
  execFileSync(process.execPath, [tsc, ...types], { stdio: "inherit" });
  nameByPaths(`${made}/types`);
  rmSync(old, { recursive: true, force: true });
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(made, dist);
  rmSync(old, { recursive: true, force: true });
}

/** The published package has no workspaces, so its types name each other by relative paths. */
function nameByPaths(types: string): void {
  for (const name of readdirSync(types, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const up = "../".repeat(name.split("/").length - 1) || "./";
    const text = readFileSync(`${types}/${name}`, "utf8");
    writeFileSync(`${types}/${name}`, text.replaceAll('"@tutti/', `"${up}`));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makeDist(`${root}dist`);
