/**
 * Builds dist/: the command line and its worker as bundles, the web pages, and the types for
 * `import "tutti"`. The bundles are split at dynamic imports, so `tutti --help` loads little.
 * `npm ci` runs this script through `prepare`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { gitRevision } from "../src/lab/experiments/provenance.ts";
import { writeWeb } from "./build-web.ts";
import { checkPaperData } from "./paper-data.ts";

const rootUrl = new URL("../", import.meta.url);
const root = fileURLToPath(rootUrl);

/** Writes the bundles into a newly created folder. */
export async function bundle(dist: string): Promise<void> {
  checkPaperData();
  const version: string = JSON.parse(readFileSync(`${root}package.json`, "utf8")).version;
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  await writeWeb(`${dist}/web`);
  await build({
    absWorkingDir: root,
    // The command line comes last: bin/tutti.js compares its time with that of the sources.
    entryPoints: {
      worker: "src/lab/experiments/worker.ts",
      apart: "src/lab/experiments/apart-program.ts",
      conductor: "src/conductor/main.ts",
      connect: "src/conductor/connect.ts",
      forecast: "src/daemon/forecast/worker.ts",
      hooks: "src/conductor/hooks/runner.ts",
      webhook: "src/conductor/hooks/webhook.ts",
      index: "src/index.ts",
      kit: "src/kit.ts",
      "slurm-names": "src/cli/slurm-names/main.ts",
      tutti: "src/cli/main.ts",
    },
    outdir: dist,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    chunkNames: "[name]-[hash]",
    minifyWhitespace: true,
    legalComments: "linked",
    define: { TUTTI_BUILD: JSON.stringify({ version, revision: gitRevision(rootUrl) }) },
    logLevel: "warning",
  });
}

/** Writes the bundles and their types, as the package contains them. */
export async function makeDist(dist: string): Promise<void> {
  await bundle(dist);
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  const types = ["-p", `${root}scripts/tsconfig.types.json`, "--outDir", `${dist}/types`];
  execFileSync(process.execPath, [tsc, ...types], { stdio: "inherit" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makeDist(`${root}dist`);
