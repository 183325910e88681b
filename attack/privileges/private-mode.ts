/**
 * Finding S2 (docs/security.md): root restarts a shared scheduler with `--private` while its state has jobs
 * of other users.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { type Scheduler, ServeFailed, sleep } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const WAIT_MS = 3000;

/** Restarts the scheduler for root alone. Returns whether it started. */
async function restartPrivate(scheduler: Scheduler): Promise<boolean> {
  await scheduler.stop();
  try {
    await scheduler.start({ isPrivate: true });
    return true;
  } catch (error) {
    if (error instanceof ServeFailed) return false;
    throw error;
  }
}

function ranAs(proof: string): string | undefined {
  return existsSync(proof) ? readFileSync(proof, "utf8").trim() : undefined;
}

async function waitingJobs(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  const cpus = (await scheduler.status()).cpus;
  const running = await scheduler.submit(eve, "sleep 2", { tasks: cpus });
  await scheduler.running(running);
  const proofs = ["queued", "after", "array", "script", "retries"].map((name) =>
    join(eve.home, `proof-${name}`),
  );
  const [queued = "", after = "", array = "", script = "", retries = ""] = proofs;
  await scheduler.submit(eve, `id -u > ${queued}`, { tasks: cpus });
  await scheduler.submit(eve, `id -u > ${after}`, { after: [{ job: running, ok: false }] });
  await scheduler.submit(eve, `id -u > ${array}`, { array: "1-2", tasks: cpus });
  const base64 = Buffer.from(`#!/bin/sh\nid -u > ${script}\n`).toString("base64");
  await scheduler.post(eve, [{ command: ["/tmp/mine"], script: { base64, word: 0 }, tasks: cpus }]);
  await scheduler.submit(eve, `id -u > ${retries}; sleep 600`, { retries: 3, tasks: cpus });
  const hasStarted = await restartPrivate(scheduler);
  if (hasStarted) {
    await scheduler.ended(running, WAIT_MS);
    await sleep(WAIT_MS);
  }
  for (const proof of proofs) {
    const who = ranAs(proof);
    tally.attempt(who === "0" && `a job of user ${eve.uid} ran as root (${proof})`);
  }
  return tally.outcome(hasStarted ? "it starts, and runs none as root" : "it refuses to start");
}

/** A job that runs as its user when the front end ends, and that will be started a second time. */
async function secondAttempts(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  const proof = join(eve.home, "proof-again");
  const job = await scheduler.submit(eve, `id -u >> ${proof}; sleep 600`, { retries: 5 });
  const held = join(eve.home, "proof-held");
  const heldJob = await scheduler.submit(eve, `id -u > ${held}`, { held: true });
  await scheduler.running(job);
  const hasStarted = await restartPrivate(scheduler);
  if (hasStarted) {
    // Root, with good intentions, requeues one and releases the other.
    await scheduler.tutti(undefined, "requeue", String(job));
    await scheduler.tutti(undefined, "release", String(heldJob));
    await sleep(WAIT_MS);
  }
  tally.attempt(ranAs(proof)?.split("\n").includes("0") && "a second attempt ran as root");
  tally.attempt(ranAs(held) === "0" && "a held job that root released ran as root");
  return tally.outcome(hasStarted ? "it starts, and runs none as root" : "it refuses to start");
}

export const PRIVATE_MODE: readonly Attack[] = [
  {
    name: "private-waiting",
    finding: "S2",
    about: "jobs of a user wait (queued, after, array, script, retries) while root restarts with --private",
    needs: "users",
    run: waitingJobs,
  },
  {
    name: "private-again",
    finding: "S2",
    about: "a user's job runs or is held during the restart, then root requeues or releases it",
    needs: "users",
    run: secondAttempts,
  },
];
