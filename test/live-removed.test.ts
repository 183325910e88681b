/**
 * Removes the whole state folder of a running scheduler, then kills its front end, exactly as an outside
 * reviewer did.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

let live: LiveScheduler;
beforeEach(() => {
  live = new LiveScheduler();
});
afterEach(() => live.clear());

/** Retries, because the conductor may just be writing into the folder. */
const removeState = () => rmSync(live.state, { recursive: true, maxRetries: 20, retryDelay: 1 });

function isRunning(pid: number): boolean {
  try {
    return /^State:\s+[^ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("the next scheduler finds the same conductor and the job, starts no second one, and down --kill ends both", async () => {
  await live.start();
  const job = await live.submit("sleep 1000");
  await live.running(job);
  const pid = live.pidOf(job, "job");
  const conductor = await live.conductorPid();
  removeState();
  await live.killFrontEnd();
  await live.start();
  await until(() => existsSync(join(live.state, "conductor", "socket")));
  expect(await live.conductorPid()).toBe(conductor);
  let status = await live.status();
  while (status.strays === undefined) status = await live.status();
  expect(status.strays).toMatchObject([{ job, attempt: 1 }]);
  // A conductor that was started meanwhile sees the older one and ends.
  await until(() => live.leftovers.conductors().join() === String(conductor));
  expect(isRunning(pid)).toBe(true);
  // Its number must not be given to another job.
  const next = await live.submit("exit 7");
  expect(next).toBeGreaterThan(job);
  expect(await live.client.ended(next)).toMatchObject({ code: 7 });
  expect((await startTutti(live.socket, ["down", "--kill"]).result).status).toBe(0);
  await until(() => !isRunning(pid) && live.leftovers.conductors().length === 0);
});

test("a job whose folder is removed is lost when it has ended, and the CPU is free for the next one", async () => {
  await live.start();
  const go = join(live.folder, "go");
  const begun = join(live.folder, "begun");
  const job = await live.submit(`touch ${begun}; until [ -e ${go} ]; do sleep 0.05; done; exit 3`);
  // While it is launched, its shim writes there.
  await until(() => existsSync(begun));
  rmSync(join(live.state, "jobs", String(job)), { recursive: true, maxRetries: 20 });
  const next = await live.submit("exit 5");
  writeFileSync(go, "");
  const ended = await live.client.ended(job);
  expect(ended).toMatchObject({ state: "failed" });
  expect(ended.reason).toContain("was removed");
  expect(await live.client.ended(next)).toMatchObject({ code: 5 });
});
