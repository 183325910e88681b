/**
 * `npm run soak`: everything at full size, for hours, and at its end a summary of counts and seeds.
 *
 * - 1,000 faults of all kinds happen to real schedulers while real jobs of all kinds run.
 * - All tests run with the sizes of soak runs (packages/kernel/core/sizes-for-tests.ts) from a random seed:
 *   a million requests, a day of the live page, all tables of papers, workflows of Snakemake and Toil.
 * - The store is killed and loses power on a disk that refuses (test/faulty-disk).
 * - The scheduler runs for 1,000 hours in a simulated world with faults; the lives' seeds begin with --seed.
 * - Every golden schedule is computed again, and every attack runs in its long form.
 * - A program that V8 compiles wrongly runs in 1,000 processes with Tutti's flag, and in 150 new processes of
 *   Chromium without one, with cells of papers.
 * - Where Slurm can be started, jobs run on four nodes through 300 kills, crashes and cuts, and the turns
 *   of three gangs under Tutti are compared with those under Slurm's own gang scheduling.
 *
 *   npm run soak -- --seed 7 --faults 3000
 *   npm run soak -- --short     all parts at tiny sizes, some minutes: whether the soak itself works
 *   npm run soak -- --only faults --only slurm
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isBundleFresh } from "../bin/bundle.js";
import { runOnFaultyDisk } from "../test/faulty-disk/rounds.ts";
import { killLoop } from "../test/kill-loop/program.ts";
import { runWithFaults as runOnSlurm, soakBlows } from "../test/slurm/fault-run.ts";
import { turningTable } from "../test/slurm/turning-table.ts";
import { makeDist } from "./build.ts";
import { installSlurm, isInPath } from "./install-test-tools.ts";

/** Faults of one run of the kill loop; each has another mode and policy. */
const FAULTS_PER_RUN = 50;
/** The sizes of the parts. */
const FULL = {
  faults: 1000,
  /** Words for scripts/test.ts: all tests. */
  tests: [] as readonly string[],
  /** Of test/faulty-disk. */
  diskRounds: 2000,
  /** Hours of `tutti lab torture`. */
  simulatedHours: 1000,
  /** Words for scripts/golden.ts: all sources. */
  golden: [] as readonly string[],
  /** Words for attack/main.ts. */
  attack: [] as readonly string[],
  /** Processes for test/compiler/many.ts. */
  compiled: 1000,
  /** Processes for test/compiler/in-chromium.ts. */
  browsers: 150,
  /** Kills, crashes and cuts of the parts of Tutti and Slurm on several nodes, and jobs meanwhile. */
  slurmBlows: 300,
  slurmJobs: 500,
  turningS: 60,
};
const SHORT: typeof FULL = {
  faults: 6,
  tests: ["--project", "computing", "scheduling/elastic.test.ts"],
  diskRounds: 5,
  simulatedHours: 1,
  golden: ["downey"],
  attack: ["--short", "--only", "private"],
  compiled: 20,
  browsers: 2,
  slurmBlows: 6,
  slurmJobs: 20,
  turningS: 10,
};
const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    faults: { type: "string" },
    short: { type: "boolean" },
    only: { type: "string", multiple: true },
  },
});
const sizes = values.short ? SHORT : FULL;
const seed = readNumber("seed", 1);
const faults = readNumber("faults", sizes.faults);
const summary: string[] = [];

const testSeed = Math.floor(Math.random() * 2 ** 31);
const soak = { TUTTI_SOAK: "1", TUTTI_SEED: String(testSeed) };
const parts: Record<string, () => Promise<void>> = {
  faults: runKillLoops,
  tests: () =>
    runProgram(`tests, TUTTI_SOAK=1 TUTTI_SEED=${testSeed}`, ["scripts/test.ts", ...sizes.tests], soak),
  disk: loseStores,
  torture: runInSimulatedWorld,
  golden: () => runProgram("golden schedules", ["scripts/golden.ts", ...sizes.golden]),
  attacks: () =>
    runProgram(`attacks, --seed ${seed}`, ["attack/main.ts", "--seed", String(seed), ...sizes.attack]),
  compiler: () => runProgram("compiler", ["test/compiler/many.ts", String(sizes.compiled)]),
  browsers: () =>
    runProgram("compiler in Chromium", ["test/compiler/in-chromium.ts", String(sizes.browsers)]),
  slurm: runOnNodes,
};
const wanted = values.only ?? Object.keys(parts);
for (const name of wanted)
  if (!Object.hasOwn(parts, name)) {
    console.error(`Cannot find the part "${name}": expected ${Object.keys(parts).join(", ")}`);
    process.exit(2);
  }
for (const name of wanted) await part(name, parts[name]);
console.log(`\n── summary of the soak\n${summary.join("\n")}`);

function readNumber(name: "seed" | "faults", otherwise: number): number {
  const text = values[name];
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  console.error(`Cannot use "${text}" as --${name}: expected a whole number above 0`);
  process.exit(2);
}

/** Runs a part. If it breaks down after hours, the others still run, and the summary still comes. */
async function part(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    conclude(name, [`broke down: ${error instanceof Error ? error.stack : error}`], []);
  }
}

/** Prints the problems and adds the counts to the summary. */
function conclude(
  what: string,
  problems: readonly string[],
  counts: readonly (readonly [string, unknown])[],
): void {
  for (const problem of problems) console.log(`  PROBLEM ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  summary.push(`${what}: ${problems.length} problems`);
  for (const [name, count] of counts) summary.push(`  ${name.padEnd(52)}${count}`);
}

/** The last line that the program prints stands in the summary. */
async function runProgram(
  what: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  console.log(`\n── ${what}`);
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["inherit", "pipe", "inherit"],
  });
  let last = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    console.log(line);
    if (line !== "") last = line;
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  conclude(what, status === 0 ? [] : [`${words.join(" ")} ended with status ${status}`], [[last, ""]]);
}

async function loseStores(): Promise<void> {
  if (!isInPath("gcc")) {
    summary.push("There is no gcc here, so stores on a faulty disk are left out");
    return;
  }
  const { problems, ...counts } = await runOnFaultyDisk(seed, sizes.diskRounds);
  conclude(`stores on a faulty disk, --seed ${seed}`, problems, Object.entries(counts));
}

async function runInSimulatedWorld(): Promise<void> {
  // The world's programs come from dist/.
  if (!isBundleFresh("torture")) await makeDist(`${root}dist`);
  const words = ["lab", "torture", "--seed", String(seed), "--hours", String(sizes.simulatedHours)];
  await runProgram(`simulated world, --seed ${seed}`, ["bin/tutti.js", ...words]);
}

async function runKillLoops(): Promise<void> {
  const sums = new Map<string, number>();
  const problems: string[] = [];
  for (let left = faults, own = seed; left > 0; left -= FAULTS_PER_RUN, own++) {
    const { command, counts } = await killLoop({ seed: own, faults: Math.min(left, FAULTS_PER_RUN) });
    const { problems: found, faults: byKind, jobs, changed, mode, policy, turns, ...rest } = counts;
    console.log(`${command}   ${mode}, ${policy}, ${turns}: ${found.length} problems`);
    problems.push(...found.map((problem) => `${command}: ${problem}`));
    const all = Object.values(jobs).reduce((sum, some) => sum + some, 0);
    for (const [what, some] of Object.entries({ ...byKind, jobs: all, ...rest })) {
      const sum = sums.get(what) ?? 0;
      sums.set(what, what === "slowestThawMs" ? Math.max(some, sum) : some + sum);
    }
  }
  conclude(`${faults} faults, --seed ${seed}`, problems, [...sums]);
}

async function runOnNodes(): Promise<void> {
  const trouble = installSlurm();
  if (trouble !== undefined) {
    summary.push(`Slurm cannot be started here, so it is left out: ${trouble}`);
    return;
  }
  for (const proctrack of ["linuxproc", "cgroup"] as const) {
    const blows = soakBlows(sizes.slurmBlows / 2);
    const plan = { seed, jobs: sizes.slurmJobs, blows, proctrack, log: console.log };
    const { problems, reasons, ...counts } = await runOnSlurm(plan);
    conclude(`${counts.blows} blows to Slurm with ${proctrack}, --seed ${seed}`, problems, [
      ...Object.entries(counts),
      ["reasons", JSON.stringify([...reasons])],
    ]);
  }
  summary.push(...(await turningTable({ lastsS: sizes.turningS, slotMs: 100 })));
}
