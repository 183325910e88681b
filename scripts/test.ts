/**
 * Runs all tests: type check, linter and formatter, then the test files. The last line is always `N passed, N
 * failed, N skipped`; each type check and the linter count as one test.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installSlurm, installTestTools, SLURM_TEST_CLUSTER } from "./install-test-tools.ts";

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const root = fileURLToPath(new URL("..", import.meta.url));
const counts = { passed: 0, failed: 0, skipped: 0 };

function run(title: string, script: string, parameters: readonly string[]): number {
  console.log(`\n── ${title}`);
  const result = spawnSync(process.execPath, [join(root, "node_modules", script), ...parameters], {
    cwd: root,
    stdio: "inherit",
  });
  return result.status ?? 1;
}

function check(title: string, script: string, parameters: readonly string[]): void {
  if (run(title, script, parameters) === 0) counts.passed++;
  else {
    counts.failed++;
    console.log(`FAILED: ${title}`);
  }
}

function runTests(parameters: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), "tutti-test-"));
  const outputFile = join(folder, "vitest.json");
  const status = run("tests", "vitest/vitest.mjs", [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${outputFile}`,
    ...parameters,
  ]);
  const failedBefore = counts.failed;
  try {
    countTests(JSON.parse(readFileSync(outputFile, "utf8")));
  } catch (error) {
    counts.failed++;
    console.log(`FAILED: the test runner left no report: ${error}`);
  }
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0 && counts.failed === failedBefore) {
    counts.failed++;
    console.log(`FAILED: the test runner ended with status ${status}`);
  }
}

function countTests(report: VitestReport): void {
  const skipped: string[] = [];
  for (const file of report.testResults) {
    const name = file.name.replace(root, "");
    for (const test of file.assertionResults) {
      if (test.status === "passed") counts.passed++;
      else if (test.status === "failed") counts.failed++;
      else {
        counts.skipped++;
        skipped.push(`${name}: ${test.fullName}`);
      }
    }
    if (file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed")) {
      counts.failed++;
      console.log(`FAILED: ${name}: ${file.message}`);
    }
  }
  if (skipped.length > 0) console.log(`\n── skipped\n${skipped.join("\n")}`);
}

/** Boots a Slurm and ends it, so that a failure of the machine is not taken for one of the tests. */
function bootSlurm(): void {
  console.log("\n── Slurm boots");
  const trouble = installSlurm();
  if (trouble !== undefined) {
    console.log(`Slurm cannot be started here, so its tests are skipped: ${trouble}`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "tutti-slurm-"));
  const env = { ...process.env, SLURM_TEST_DIR: join(folder, "cluster"), SLURM_TEST_NO_INSTALL: "1" };
  const verb = (...words: readonly string[]) =>
    spawnSync(SLURM_TEST_CLUSTER, words, { env, stdio: ["ignore", "ignore", "inherit"], timeout: 120_000 });
  const isUp = verb("start", "2", "2", "--isolate").status === 0;
  const isDown = verb("stop").status === 0;
  rmSync(folder, { recursive: true, force: true });
  if (isUp && isDown) counts.passed++;
  else {
    counts.failed++;
    console.log("FAILED: Slurm boots");
  }
}

/** Whether the tests chosen by the parameters include those with Slurm. */
function includesSlurm(parameters: readonly string[]): boolean {
  return !parameters.includes("--project") || parameters.some((name) => name.startsWith("slurm"));
}

installTestTools();
check("types", "typescript/bin/tsc", ["--noEmit"]);
check("types in the browser", "typescript/bin/tsc", ["--noEmit", "-p", "tsconfig.browser.json"]);
check("types of tests of the browser's files", "typescript/bin/tsc", [
  "--noEmit",
  "-p",
  "tsconfig.browser-tests.json",
]);
check("linter and formatter", "@biomejs/biome/bin/biome", ["check", "."]);
if (includesSlurm(process.argv.slice(2))) bootSlurm();
runTests(process.argv.slice(2));

process.exitCode = counts.failed > 0 ? 1 : 0;
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
