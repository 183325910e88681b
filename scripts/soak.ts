/**
 * `npm run soak`: 500 real jobs, and 100 times each kill -9 of the front end, of the conductor and of both; with the counts.
 *
 *   npm run soak -- --seed 7 --jobs 1000 --kills 200 --rounds 3
 */
import { parseArgs } from "node:util";
import { runWithFaults } from "../test/fault-run.ts";

const DEFAULTS = { seed: 1, jobs: 500, kills: 100, rounds: 1 };

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
  const plan = { seed: seed + round, jobs, frontEnd: kills, conductor: kills, both: kills, mostMs: 1500 };
  const { problems, kills: killed, ...counts } = await runWithFaults(plan);
  console.log(`seed ${plan.seed}`);
  for (const [name, count] of Object.entries({ ...killed, ...counts })) {
    console.log(`  ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).padEnd(18)}${count}`);
  }
  for (const problem of problems) console.log(`  PROBLEM ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
