/**
 * What happens while the front end is away is known afterwards as if it had been there: what an
 * outside reviewer did, once exactly and once varied.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { signal } from "@tutti/host/processes.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cpuTicks } from "./conductor/stage.ts";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

let live: LiveScheduler;
beforeEach(async () => {
  live = new LiveScheduler();
  await live.start();
});
afterEach(() => live.clear());

const tutti = (...words: string[]) =>
  startTutti(live.socket, words, { cwd: live.folder, env: { TUTTI_STATE: live.state } }).result;
const file = (name: string) => join(live.folder, name);
const pause = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

async function ended(job: number): Promise<Job> {
  for (;;) {
    const one = await live.job(job);
    if (one.endedAtMs !== undefined) return one;
    await pause();
  }
}

test("a job that ends by itself while its conductor hangs has kept its limit", async () => {
  const limitMs = 1500;
  const job = await live.submit(`until [ -e ${file("go")} ]; do sleep 0.02; done; exit 4`, { limitMs });
  await live.running(job);
  const conductor = await live.conductorPid();
  signal(conductor, "SIGSTOP");
  writeFileSync(file("go"), "");
  await until(() => existsSync(join(live.state, "jobs", String(job), "1", "exit")));
  await pause(limitMs);
  signal(conductor, "SIGCONT");
  expect(await ended(job)).toMatchObject({ state: "failed", code: 4, reason: "exit code 4" });
});

describe("a state folder that is moved away and back", () => {
  test.each([false, true])(
    "keeps the results of what ended meanwhile (front end killed: %s)",
    async (isKilled) => {
      const script = `touch ${file("begun")}; until [ -e ${file("go")} ]; do sleep 0.02; done; exit 3`;
      const job = await live.submit(script);
      // A command that begins only now would wait until the folder is back.
      await until(() => existsSync(file("begun")));
      const pid = live.pidOf(job, "claim");
      renameSync(live.state, `${live.state}.x`);
      if (isKilled) await live.killFrontEnd();
      writeFileSync(file("go"), "");
      await until(
        () => !existsSync(`/proc/${pid}/cmdline`) || readFileSync(`/proc/${pid}/cmdline`).length === 0,
      );
      await pause(2500);
      expect(existsSync(live.state)).toBe(false);
      renameSync(`${live.state}.x`, live.state);
      if (isKilled) await live.start();
      expect(await ended(job)).toMatchObject({ state: "failed", code: 3, reason: "exit code 3" });
      expect((await ended(await live.submit("exit 7"))).code).toBe(7);
    },
  );
});
test("after a restore, a job that was paused stays paused, and one whose later attempt has ended says how", async () => {
  const burn = (go: string) => `while [ ! -e ${file(go)} ]; do i=0; done; exit 5`;
  const job = await live.submit(burn("go"), { limitMs: 600_000 });
  await live.running(job);
  const again = await live.submit(`sleep 0.1; [ $TUTTI_ATTEMPT = 2 ] || exec sleep 100; ${burn("go2")}`, {
    retries: 2,
    limitMs: 600_000,
  });
  await live.running(again);
  const backup = file("backup.db");
  expect((await tutti("backup", backup)).status).toBe(0);
  expect((await tutti("pause", String(job))).status).toBe(0);
  expect((await tutti("requeue", String(again))).status).toBe(0);
  for (let one = await live.job(again); one.attempt !== 2 || one.state !== "running"; ) {
    await pause();
    one = await live.job(again);
  }
  await live.killFrontEnd();
  for (const part of ["", "-wal", "-shm"]) rmSync(join(live.state, `tutti.db${part}`), { force: true });
  copyFileSync(backup, join(live.state, "tutti.db"));
  chmodSync(join(live.state, "tutti.db"), 0o600);
  await live.start();
  const pid = live.pidOf(job, "job");
  while ((await live.job(again)).state !== "held") await pause();
  expect(await live.job(job)).toMatchObject({ state: "paused", attempt: 1 });
  const ticks = cpuTicks(pid);
  await pause(500);
  expect(cpuTicks(pid)).toBe(ticks);
  writeFileSync(file("go2"), "");
  const says = /attempt 2 of this job, .*has ended: exit code 5; release the job/;
  while (!says.test((await live.job(again)).reason ?? "")) await pause();
  expect((await tutti("resume", String(job))).status).toBe(0);
  writeFileSync(file("go"), "");
  expect(await ended(job)).toMatchObject({ state: "failed", code: 5, attempt: 1 });
});
