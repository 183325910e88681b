/** Restores of backups, and what is done about jobs of which a restored store does not know that they ran. */

import type { Job } from "@tutti/protocol/schema.ts";
import { nameOf } from "../judge/history.ts";
import type { Life } from "./life.ts";
import { resumePaused } from "./pauses.ts";

const LOOK_MS = 100;
const MOMENT_MS = 2000;
const MINUTE_MS = 60_000;
/** What a held job says of an attempt that the store does not know. */
const RUNS = "is already running";
/** After the end of such an attempt, its job says so sooner than this. */
const TOLD_MS = 20_000;

/** Nothing that was acknowledged is newer than the backup; what jobs did since then is. */
export async function restoreBackup(life: Life): Promise<void> {
  const { random } = life;
  await life.close();
  const running = ((await life.listed(["running"])) ?? []).filter(({ job }) => !life.paused.has(job));
  await makeBackup(life);
  const chosen = running.length > 0 && random.chance(0.5) ? random.pick(running) : undefined;
  const paused = chosen && (await pause(life, chosen));
  await life.sleep(random.below(random.pick([MOMENT_MS, MOMENT_MS, 5 * MINUTE_MS])));
  life.isSupervised = false;
  for (const process of life.frontEnds()) life.signal(process, random.pick(["SIGKILL", "SIGTERM"]));
  await life.until(() => life.frontEnds().length === 0, LOOK_MS);
  const isKnown = paused !== undefined && isNoted(life, paused);
  putInPlace(life);
  life.restores.push(life.trueMs);
  life.isSupervised = true;
  life.startServe();
  // A change of a job that is held now would hide that.
  while (!life.isOver && !(await isConnected(life))) await life.sleep(LOOK_MS);
  const forgotten = noteForgotten(life, (await life.listed(["held"])) ?? []);
  life.open();
  await awaitEnd(life, forgotten);
  if (chosen === undefined) return;
  const now = await life.asked(chosen.job);
  if (isKnown && now?.attempt === paused.attempt && now.state === "running")
    life.problem(`job ${chosen.job} runs after a restore, although its user had paused it`);
  await resumePaused(life, chosen.job);
}

/** Pauses a job of which the backup says that it runs. @returns the job as it is when the store is lost */
async function pause(life: Life, { job }: Job): Promise<Job | undefined> {
  life.paused.add(job);
  await life.once("root", (service, caller) => service.change(caller, { action: "pause" }, [job]));
  await life.sleep(MOMENT_MS);
  return (await life.once("root", (service, caller) => service.job(caller, job))).value;
}

/** Whether the conductor knows that this attempt is paused, which the restored store does not. */
function isNoted({ site, state }: Life, job: Job): boolean {
  return job.state === "paused" && site.read(`${state}/conductor/paused/${nameOf(job)}`) !== undefined;
}

async function makeBackup(life: Life): Promise<void> {
  const process = life.site.startBackup(backupOf(life));
  await life.until(() => process.end !== undefined, LOOK_MS);
  if (process.end?.code !== 0) life.problem(`a backup ended with ${JSON.stringify(process.end)}`);
}

/** Next to the state folder. */
function backupOf({ state }: Life): string {
  return `${state}-backup.db`;
}

/** As docs/reference-administration.md says; the front end is not there. */
function putInPlace(life: Life): void {
  const { site, files, root, machine, state } = life;
  const store = `${state}/tutti.db`;
  for (const end of ["", "-wal", "-shm"])
    if (site.read(`${store}${end}`) !== undefined) files.rename(root, `${store}${end}`, `${store}${end}.old`);
  machine.writeFile(store, site.readBytes(backupOf(life)), 0o600);
  const { uid, gid } = files.stat(root, state);
  files.chown(root, store, uid, gid);
}

async function isConnected(life: Life): Promise<boolean> {
  const { value } = await life.once("root", (service, caller) => service.status(caller));
  return value?.conductor.pid !== undefined;
}

/** Gives up jobs of which a restored store does not know that they have run, once they have ended. */
export async function giveUpForgotten(life: Life, records: readonly Job[]): Promise<void> {
  const forgotten = noteForgotten(life, records);
  if (forgotten.length === 0) return;
  const running = runningJobs(life);
  for (const record of forgotten) {
    if (running.has(record.job)) continue;
    await requireTold(life, record);
    await life.change({ action: "cancel" }, record.job);
  }
}

/** Looks at the claims of all attempts. */
function runningJobs(life: Life): ReadonlySet<number> {
  return new Set(life.shims().map(({ job }) => job));
}

/** Waits for the end of an attempt that the restored store does not know, and for its job to say so. */
async function awaitEnd(life: Life, forgotten: readonly Job[]): Promise<void> {
  if (forgotten.length === 0) return;
  let now = runningJobs(life);
  const running = forgotten.filter(({ job }) => now.has(job));
  const untilMs = life.trueMs + MINUTE_MS;
  while (running.length > 0 && !life.isOver && life.trueMs < untilMs) {
    now = runningJobs(life);
    const ended = running.find(({ job }) => !now.has(job));
    if (ended !== undefined) return requireTold(life, ended);
    await life.sleep(MOMENT_MS);
  }
}

async function requireTold(life: Life, { job, reason = "" }: Job): Promise<void> {
  const isLost = [...life.lost].some((name) => name.startsWith(`${job}.`));
  if (isLost || !reason.includes(RUNS)) return;
  await life.sleep(TOLD_MS);
  const now = await life.asked(job);
  if (now?.reason?.includes(RUNS) && !runningJobs(life).has(job))
    life.problem(`held job ${job} goes on saying that it runs: ${now.reason}`);
}

function noteForgotten(life: Life, records: readonly Job[]): readonly Job[] {
  const found = records.filter((job) => job.state === "held" && life.isForgotten(job));
  for (const { job } of found) life.forgotten.add(job);
  return found;
}
