/**
 * Measures how three gangs of eight processes take turns on a real Slurm of 4 nodes with 2 CPUs each, which
 * it boots on this machine (as root; test/slurm/slurm-test-cluster): with Tutti as root and as a user without
 * rights, slots of 100 ms, and with Slurm's own gang scheduling, slices of 5 s. All times are those that the
 * processes recorded themselves.
 *
 *   npm run bench:slurm -- [--seconds 60] [--slot 100]
 */
import { parseArgs } from "node:util";
import { turningTable } from "../../test/slurm/turning-table.ts";

const { values } = parseArgs({ options: { seconds: { type: "string" }, slot: { type: "string" } } });

function positive(name: "seconds" | "slot", text: string | undefined, otherwise: number): number {
  const number = text === undefined ? otherwise : Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  console.error(`Cannot use "${text}" as --${name}: expected a number above 0`);
  process.exit(2);
}

const lastsS = positive("seconds", values.seconds, 60);
const slotMs = positive("slot", values.slot, 100);
for (const line of await turningTable({ lastsS, slotMs })) console.log(line);
