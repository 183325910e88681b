/**
 * Finding R6 (docs/security.md): garbage in pages of the store, a truncated store, and a state folder that
 * cannot be written. No message may call one of these "a bug in tutti".
 */
import { spawnSync } from "node:child_process";
import { closeSync, copyFileSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Random } from "@tutti/kernel/core/random.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { type Scheduler, ServeFailed } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const PAGE_BYTES = 4096;
const BUG = 70;

/** Starts the scheduler. Returns its exit status, or undefined if it serves. */
async function startStatus(scheduler: Scheduler): Promise<{ status: number | undefined; output: string }> {
  try {
    await scheduler.start();
    const { stdout } = await scheduler.tutti(undefined, "jobs", "--all");
    await scheduler.stop();
    return { status: undefined, output: `${scheduler.output}${stdout}` };
  } catch (error) {
    if (error instanceof ServeFailed) return { status: error.status, output: error.message };
    throw error;
  }
}

function isBug(status: number | undefined, output: string): string | false {
  if (status === BUG || /a bug in tutti|\n\s+at /.test(output))
    return `ended with ${status}: ${output.slice(0, 120)}`;
  return false;
}

async function damagedPages(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  const random = new Random(stage.seed, "damage");
  const { options } = stage.modes[0];
  const scheduler = await stage.serve(options);
  // Enough jobs for every table and index to have its own pages.
  const env = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`V${i}`, "x".repeat(200)]));
  await scheduler.post(
    undefined,
    Array.from({ length: 300 }, (_, i) => ({ name: `n${i}`, held: true, env: { ...env, I: `${i}` } })),
  );
  await scheduler.tutti(undefined, "cancel", "1-150");
  await scheduler.stop();
  await scheduler.killConductor();
  const database = join(scheduler.state, "tutti.db");
  const whole = `${database}.whole`;
  copyFileSync(database, whole);
  const pages = statSync(whole).size / PAGE_BYTES;
  const garbage = Buffer.from(Array.from({ length: PAGE_BYTES }, () => random.below(256)));
  const rounds = stage.isShort ? 3 : 40;
  for (let i = 0; i < rounds; i++) {
    copyFileSync(whole, database);
    const page = i === 0 ? 0 : random.below(pages);
    const file = openSync(database, "r+");
    writeSync(file, garbage, 0, i % 2 === 0 ? PAGE_BYTES : 64, page * PAGE_BYTES + (i % 2 === 0 ? 0 : 8));
    closeSync(file);
    const { status, output } = await startStatus(scheduler);
    tally.attempt(isBug(status, output) && `garbage in page ${page} of ${pages}: ${isBug(status, output)}`);
    const checked = await scheduler.tutti(undefined, "status");
    if (status === undefined) tally.attempt(isBug(checked.status ?? 0, checked.stderr));
  }
  const lengths = [Math.floor((pages * PAGE_BYTES) / 2), 100, 0, PAGE_BYTES, pages * PAGE_BYTES - 1];
  for (const bytes of lengths.slice(0, stage.isShort ? 2 : lengths.length)) {
    copyFileSync(whole, database);
    truncateSync(database, bytes);
    const { status, output } = await startStatus(scheduler);
    tally.attempt(isBug(status, output) && `cut to ${bytes} bytes: ${isBug(status, output)}`);
  }
  if (readFileSync(whole).length === 0) throw new Error("The store was empty");
  return tally.outcome("each time it ends with an explanation, or it serves");
}

async function readOnly(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  const scheduler = await stage.serve({ isPrivate: true });
  await scheduler.submit(undefined, "true");
  await scheduler.stop();
  await scheduler.killConductor();
  const mount = (...words: string[]) => spawnSync("mount", words).status === 0;
  if (!mount("--bind", scheduler.state, scheduler.state)) throw new Error("Cannot mount here");
  try {
    if (!mount("-o", "remount,ro,bind", scheduler.state)) throw new Error("Cannot mount here");
    const { status, output } = await startStatus(scheduler);
    tally.attempt(isBug(status, output) && `read-only state: ${isBug(status, output)}`);
    tally.attempt(status === undefined && "read-only state: it serves although it cannot store anything");
  } finally {
    spawnSync("umount", ["-l", scheduler.state]);
  }
  return tally.outcome("it ends with an explanation");
}

export const DAMAGED: readonly Attack[] = [
  {
    name: "store-damaged",
    finding: "R6",
    about: "garbage in pages of the store, and truncated stores",
    needs: "nothing",
    run: damagedPages,
  },
  {
    name: "store-read-only",
    finding: "R6",
    about: "a state folder that is mounted read-only",
    needs: "root",
    run: readOnly,
  },
];
