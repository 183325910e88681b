/**
 * `npm run soak`: 1,000 faults of all kinds happen to real schedulers while real jobs of all kinds run, and
 * it prints the counts. Then it runs all property tests from a random seed, and more of the tests in a
 * browser: all traces, all tables of papers, a day of the live page, more hostile texts. It kills the runner
 * of hooks 50 times. It sends a job 300 MB, and removes a scheduler's state under a terminal. It installs
 * Snakemake and Toil, and runs workflows of 50 jobs with them.
 * Where Slurm can be started, it then runs jobs on four nodes through 300 kills, crashes and cuts, and
 * compares the turns of three gangs under Tutti with those under Slurm's own gang scheduling.
 *
 *   npm run soak -- --seed 7 --faults 3000
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { killLoop } from "../test/kill-loop/program.ts";
import { whyNoSlurm } from "../test/slurm/cluster.ts";
import { runWithFaults as runOnSlurm, soakBlows } from "../test/slurm/fault-run.ts";
import { turningTable } from "../test/slurm/turning-table.ts";

/** Faults of one run of the kill loop; each has another mode and policy. */
const FAULTS_PER_RUN = 50;
/** Kills, crashes and cuts of the parts of Tutti and Slurm on several nodes, and jobs meanwhile. */
const SLURM_BLOWS = 300;
const SLURM_JOBS = 500;
const DEFAULTS = { seed: 1, faults: 1000 };

function readNumbers(): typeof DEFAULTS {
  const texts = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, { type: "string" } as const]));
  const numbers: typeof DEFAULTS = { ...DEFAULTS };
  for (const [name, text] of Object.entries(parseArgs({ options: texts }).values)) {
    const number = Number(text);
    if (!Number.isSafeInteger(number) || number < 1) {
      console.error(`Cannot use "${text}" as --${name}: expected a whole number above 0`);
      process.exit(2);
    }
    numbers[name as keyof typeof DEFAULTS] = number;
  }
  return numbers;
}

const { seed, faults } = readNumbers();
const sums = new Map<string, number>();
for (let left = faults, own = seed; left > 0; left -= FAULTS_PER_RUN, own++) {
  const count = Math.min(left, FAULTS_PER_RUN);
  const { command, counts } = await killLoop({ seed: own, faults: count });
  const { problems, faults: byKind, jobs, changed, mode, policy, turns, ...rest } = counts;
  console.log(`${command}   ${mode}, ${policy}, ${turns}: ${problems.length} problems`);
  for (const problem of problems) console.log(`  PROBLEM ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  const all = Object.values(jobs).reduce((sum, some) => sum + some, 0);
  for (const [what, some] of Object.entries({ ...byKind, jobs: all, ...rest, problems: problems.length })) {
    sums.set(
      what,
      what === "slowestThawMs" ? Math.max(some, sums.get(what) ?? 0) : some + (sums.get(what) ?? 0),
    );
  }
}
for (const [what, sum] of sums) console.log(`  ${what.padEnd(52)}${sum}`);

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
for (const tests of [
  ["--project", "computing*"],
  ["test/live-web-jobs.test.ts"],
  ["test/live-hooks.test.ts", "test/live-hooks-adversity.test.ts"],
  ["test/live-python.test.ts"],
  ["test/live-terminal-faults.test.ts"],
  ["test/live-workflows.test.ts"],
]) {
  const { status } = spawnSync(process.execPath, [vitest, "run", ...tests], {
    cwd: root,
    env: { ...process.env, TUTTI_SEED: "random", TUTTI_SOAK: "1" },
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}

const trouble = whyNoSlurm();
if (trouble !== undefined) console.log(`Slurm cannot be started here, so it is left out: ${trouble}`);
else {
  for (const proctrack of ["linuxproc", "cgroup"] as const) {
    const plan = { seed, jobs: SLURM_JOBS, blows: soakBlows(SLURM_BLOWS / 2), proctrack, log: console.log };
    const { problems, reasons, ...counts } = await runOnSlurm(plan);
    console.log(`Slurm with ${proctrack}: ${JSON.stringify({ ...counts, reasons: [...reasons] })}`);
    for (const problem of problems) console.log(`  PROBLEM ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
  for (const line of await turningTable({ lastsS: 60, slotMs: 100 })) console.log(line);
}
