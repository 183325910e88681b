/**
 * Runs all tests: type check, linter and formatter, then the test files. First those with processes or Slurm
 * that judge times, one at a time and alone; then two runs of the test runner side by side:
 * tests that compute, and those that only wait for processes or Slurm, three at a time. With parameters, one
 * run gets them. The last line
 * is always `N passed, N failed, N skipped`; each type check, the linter, the boot of Slurm, and the build of
 * bundles that are older than the sources count as one test.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isBundleFresh } from "../bin/bundle.js";
import { installSlurm, installSshd, installTestTools, SLURM_TEST_CLUSTER } from "./install-test-tools.ts";

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** One run of the test runner. */
interface Lane {
  readonly name: string;
  readonly parameters: readonly string[];
  /** It computes, so it takes only the time that the other lane leaves, which mostly waits. */
  readonly yields?: true;
}

/** One after the other; the lanes of a round side by side. */
const ROUNDS: readonly (readonly Lane[])[] = [
  [{ name: "judging", parameters: ["--project", "processes", "--project", "slurm"] }],
  [
    { name: "computing", parameters: ["--project", "computing*"], yields: true },
    { name: "waiting", parameters: ["--project", "*-waiting"] },
  ],
];
const root = fileURLToPath(new URL("..", import.meta.url));
const counts = { passed: 0, failed: 0, skipped: 0 };
const skipped: string[] = [];
const retried: string[] = [];
const failures: string[] = [];

function check(title: string, script: string, parameters: readonly string[]): void {
  console.log(`\n── ${title}`);
  const words = [join(root, "node_modules", script), ...parameters];
  if (spawnSync(process.execPath, words, { cwd: root, stdio: "inherit" }).status === 0) counts.passed++;
  else fail(title);
}

function fail(what: string): void {
  counts.failed++;
  failures.push(what);
  console.log(`FAILED: ${what}`);
}

async function runLane({ name, parameters, yields }: Lane): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-test-"));
  const outputFile = join(folder, "vitest.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${outputFile}`];
  const words = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...reporters, ...parameters];
  const runner = spawn(process.execPath, words, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  if (yields && runner.pid !== undefined) setPriority(runner.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  for (const stream of [runner.stdout, runner.stderr])
    createInterface({ input: stream }).on("line", (line) => console.log(`${name}: ${line}`));
  const status = await new Promise((resolve) => runner.once("close", resolve));
  const failedBefore = counts.failed;
  try {
    countTests(JSON.parse(readFileSync(outputFile, "utf8")));
  } catch (error) {
    fail(`the test runner left no report of ${name}: ${error}`);
  }
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0 && counts.failed === failedBefore)
    fail(`the test runner of ${name} ended with status ${status}`);
}

function countTests(report: VitestReport): void {
  for (const file of report.testResults) {
    const path = file.name.replace(root, "");
    for (const { status, fullName, failureMessages } of file.assertionResults) {
      const title = `${path}: ${fullName}`;
      const messages = failureMessages.map((message) => `\n${message}`).join("");
      if (status === "passed") counts.passed++;
      else if (status === "failed") fail(`${title}${messages}`);
      else {
        counts.skipped++;
        skipped.push(title);
      }
      // A test that passes at a later try may hide a defect.
      if (status === "passed" && failureMessages.length > 0) retried.push(`${title}${messages}`);
    }
    if (file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"))
      fail(`${path}: ${file.message}`);
  }
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
  else fail("Slurm boots");
}

/** Whether the tests chosen by the parameters include those with Slurm. */
function includesSlurm(parameters: readonly string[]): boolean {
  return !parameters.includes("--project") || parameters.some((name) => name.startsWith("slurm"));
}

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`\n── ${title}\n${lines.join("\n")}`);
}

const parameters = process.argv.slice(2);
installTestTools();
installSshd();
// Else each Node program says on its standard error if it cannot read this file, which an update of
// the system may be writing. No test calls another host.
delete process.env.NODE_EXTRA_CA_CERTS;
// Programs that tests start from the sources take five times as much CPU time as the bundles.
if (!isBundleFresh("tutti")) check("build", "../scripts/build.ts", []);
check("types", "typescript/bin/tsc", ["--noEmit"]);
check("types in the browser", "typescript/bin/tsc", ["--noEmit", "-p", "tsconfig.browser.json"]);
check("types of tests of the browser's files", "typescript/bin/tsc", [
  "--noEmit",
  "-p",
  "tsconfig.browser-tests.json",
]);
check("linter and formatter", "@biomejs/biome/bin/biome", ["check", "."]);
if (includesSlurm(parameters)) bootSlurm();
console.log("\n── tests");
const rounds = parameters.length > 0 ? [[{ name: "tests", parameters }]] : ROUNDS;
for (const lanes of rounds) await Promise.all(lanes.map(runLane));
list("skipped", skipped);
list("passed, but not at the first try", retried);
list("failed", failures);

process.exitCode = counts.failed > 0 ? 1 : 0;
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
