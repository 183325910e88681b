/**
 * Findings R1 and R3 (docs/security.md): a store that is older than the jobs because it was removed, restored
 * from a backup, or lost its write-ahead log. Commands that never ran must not have results, job numbers must
 * not be reused, and running jobs must not be killed.
 */
import { chownSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readStat, signal } from "@tutti/host/processes.ts";
import type { JobsAnswer } from "@tutti/protocol/schema.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { type Scheduler, ServeFailed, sleep } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const HARMS = [
  "removed",
  "backup",
  "log lost",
  "store and conductor's folder removed",
  "jobs folder removed too",
];
/** A front end that kills unknown jobs does so at once. */
const SETTLE_MS = 1500;
const END_MS = 10_000;

/** Copies a store that is not in use. */
function backUp(scheduler: Scheduler, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of storeFiles(scheduler)) copyFileSync(join(scheduler.state, name), join(folder, name));
}

function storeFiles({ state }: Scheduler): string[] {
  return readdirSync(state).filter((name) => name.startsWith("tutti.db"));
}

function harm(scheduler: Scheduler, how: string, backup: string): void {
  const { state } = scheduler;
  if (how === "log lost") {
    rmSync(join(state, "tutti.db-wal"), { force: true });
    return;
  }
  for (const name of storeFiles(scheduler)) rmSync(join(state, name));
  if (how === "backup") {
    for (const name of readdirSync(backup)) copyFileSync(join(backup, name), join(state, name));
    // As a copy by root: files stay with their users.
    const { uid, gid } = statSync(state);
    for (const name of readdirSync(backup)) chownSync(join(state, name), uid, gid);
  }
  if (how === "store and conductor's folder removed")
    rmSync(join(state, "conductor"), { recursive: true, force: true });
  if (how === "jobs folder removed too") rmSync(join(state, "jobs"), { recursive: true, force: true });
}

/** Restarts the scheduler. Returns false if it refuses to start, which is acceptable, too. */
async function starts(scheduler: Scheduler): Promise<boolean> {
  try {
    await scheduler.start();
    return true;
  } catch (error) {
    if (error instanceof ServeFailed && error.status !== 70) return false;
    throw error;
  }
}

async function claimedResults(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  let refused = 0;
  for (const { name, options, what: how } of stage.withModes(
    HARMS.slice(0, stage.isShort ? 3 : HARMS.length),
  )) {
    const scheduler = await stage.serve(options);
    const backup = join(stage.makeFolder("backup"), "store");
    const first = await scheduler.submit(options.as, "echo OLD");
    await scheduler.ended(first);
    await scheduler.stop();
    backUp(scheduler, backup);
    await scheduler.start();
    const old: number[] = [];
    for (let i = 0; i < 4; i++) old.push(await scheduler.submit(options.as, "echo OLD"));
    for (const job of old) await scheduler.ended(job);
    await scheduler.stop(how === "log lost" ? "SIGKILL" : "SIGTERM");
    harm(scheduler, how, backup);
    if (await starts(scheduler)) {
      for (let i = 0; i < 6; i++) {
        const file = join(stage.makeFolder("new", 0o777), "new");
        const answer = await scheduler.post(options.as, [
          { command: ["sh", "-c", `echo NEW > ${file}; exit 9`] },
        ]);
        if (answer.status !== 201) continue;
        const { job } = (answer.json as JobsAnswer).jobs[0];
        const end = await scheduler.ended(job, 20_000);
        const { text } = await scheduler.ask(undefined, `/v1/jobs/${job}/logs/stdout`);
        const where = `${name}, ${how}: job ${job}`;
        tally.attempt(!existsSync(file) && `${where} is "${end?.state}" with ${end?.code}, but it never ran`);
        tally.attempt(text.includes("OLD") && `${where} has the output of another job`);
        tally.attempt(
          end?.code !== 9 && `${where} is reported to have ended with ${end?.code}, but it ended with 9`,
        );
        tally.attempt(
          old.includes(job) && how !== "jobs folder removed too" && `${where}: the number was used twice`,
        );
      }
    } else refused++;
    await stage.clear();
  }
  tally.attempt(false);
  return tally.outcome(`all results are right, no number was used twice; ${refused} starts were refused`);
}

async function killedJobs(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  for (const { name, options, what: how } of stage.withModes(HARMS.slice(0, stage.isShort ? 2 : 3))) {
    const scheduler = await stage.serve({ ...options, config: { graceMs: 200 } });
    const backup = join(stage.makeFolder("backup"), "store");
    await scheduler.stop();
    backUp(scheduler, backup);
    await scheduler.start();
    const job = await scheduler.submit(options.as, "sleep 5000");
    await scheduler.running(job);
    const pid = scheduler.pidOf(job, "job");
    await scheduler.stop("SIGKILL");
    harm(scheduler, how, backup);
    const hasStarted = await starts(scheduler);
    await sleep(SETTLE_MS);
    const where = `${name}, ${how}`;
    const isThere = isAlive(pid);
    tally.attempt(!isThere && `${where}: the running job was killed`);
    if (hasStarted && isThere) {
      const { stdout } = await scheduler.tutti(options.as, "status");
      tally.attempt(
        !new RegExp(`\\b${job}\\b`).test(stdout) && `${where}: status does not mention job ${job}`,
      );
      // The administrator must be able to end it.
      await scheduler.tutti(options.as, "down", "--kill");
      const lastMs = Date.now() + END_MS;
      while (isAlive(pid) && Date.now() < lastMs) await sleep(50);
      tally.attempt(isAlive(pid) && `${where}: tutti down --kill leaves it running`);
    } else if (isThere) signal(pid, "SIGKILL");
    await stage.clear();
  }
  return tally.outcome(
    "jobs that the store does not know keep running, are shown, and end by tutti down --kill",
  );
}

function isAlive(pid: number): boolean {
  const state = readStat(pid)?.state;
  return state !== undefined && state !== "Z";
}

export const OLDER_STORE: readonly Attack[] = [
  {
    name: "store-older",
    finding: "R1",
    about: "the store is removed, restored from a backup, or loses its WAL; then jobs are submitted",
    needs: "nothing",
    run: claimedResults,
  },
  {
    name: "store-forgets-running",
    finding: "R3",
    about: "the same while a job runs, after kill -9 of the front end",
    needs: "nothing",
    run: killedJobs,
  },
];
