/**
 * `npm run soak`: runs 500 real jobs while it kills the front end, the conductor, and both together with kill
 * -9, 100 times each, and prints the counts. Then it runs all property tests from a random seed, and more of
 * the tests in a browser: all traces, all tables of papers, a day of the live page, more hostile texts. It
 * kills 100 times more while jobs are retried, edited, paused and run again, and the scheduler is drained,
 * and 50 times while webhooks and mails are sent; it kills the runner of hooks 50 times. It sends a job 300
 * MB, and removes a scheduler's state under a terminal. It installs Snakemake and Toil, and runs workflows of
 * 50 jobs with them.
 * Where Slurm can be started, it then runs jobs on four nodes through 300 kills, crashes and cuts, and
 * compares the turns of three gangs under Tutti with those under Slurm's own gang scheduling.
 *
 *   npm run soak -- --seed 7 --rounds 3
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { FULL_PLAN, runWithFaults } from "../test/fault-run.ts";
import { whyNoSlurm } from "../test/slurm/cluster.ts";
import { runWithFaults as runOnSlurm, soakBlows } from "../test/slurm/fault-run.ts";
import { turningTable } from "../test/slurm/turning-table.ts";

/** Kills, crashes and cuts of the parts of Tutti and Slurm on several nodes. */
const SLURM_BLOWS = 300;
const DEFAULTS = { seed: 1, jobs: FULL_PLAN.jobs, kills: FULL_PLAN.frontEnd, rounds: 1 };

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

const { seed, jobs, kills, rounds } = readNumbers();
for (let round = 0; round < rounds; round++) {
  const plan = { ...FULL_PLAN, seed: seed + round, jobs, frontEnd: kills, conductor: kills, both: kills };
  const { problems, kills: killed, ...counts } = await runWithFaults(plan);
  console.log(`seed ${plan.seed}`);
  for (const [name, count] of Object.entries({ ...killed, ...counts })) {
    console.log(`  ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).padEnd(18)}${count}`);
  }
  for (const problem of problems) console.log(`  PROBLEM ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
for (const tests of [
  ["--project", "computing*"],
  ["test/live-web-jobs.test.ts"],
  ["test/live-faults-changes.test.ts"],
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
    const plan = { seed, jobs, blows: soakBlows(SLURM_BLOWS / 2), proctrack, log: console.log };
    const { problems, reasons, ...counts } = await runOnSlurm(plan);
    console.log(`Slurm with ${proctrack}: ${JSON.stringify({ ...counts, reasons: [...reasons] })}`);
    for (const problem of problems) console.log(`  PROBLEM ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
  for (const line of await turningTable({ lastsS: 60, slotMs: 100 })) console.log(line);
}
