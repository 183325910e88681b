/**
 * Repeats exactly what an outside reviewer did: a store that is older than the running jobs and the existing
 * folders, files that are removed while the scheduler runs, damage, a read-only file system. Also makes and
 * restores backups.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatusAnswer } from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

let live: LiveScheduler;
beforeEach(() => {
  live = new LiveScheduler();
});
afterEach(() => live.clear());

const tutti = (...words: string[]) =>
  startTutti(live.socket, words, { env: { TUTTI_STATE: live.state } }).result;
const database = () => join(live.state, "tutti.db");

async function ended(job: number): Promise<void> {
  while ((await live.job(job)).endedAtMs === undefined)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

async function withStrays(): Promise<StatusAnswer> {
  for (;;) {
    const status = await live.status();
    if (status.strays !== undefined) return status;
  }
}

/** Ends the scheduler cleanly, as `tutti down` does. */
async function down(): Promise<void> {
  expect((await tutti("down")).status).toBe(0);
  await live.killFrontEnd();
}

function removeStore(): void {
  for (const part of ["", "-wal", "-shm"]) rmSync(`${database()}${part}`, { force: true });
}

/** As the guide says: stop the scheduler, move the old files away, put the backup in their place. */
function putBack(file: string): void {
  removeStore();
  copyFileSync(file, database());
  chmodSync(database(), 0o600);
}

function isRunning(pid: number): boolean {
  try {
    return /^State:\s+[^ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe("a store that is older than the folders", () => {
  test("after it was removed: a new job runs, under a new number, and its result is its own", async () => {
    await live.start();
    const old = await live.submit("echo OLD");
    await ended(old);
    await down();
    removeStore();
    await live.start();
    expect((await live.status()).trouble).toMatch(/the store is out of date/);
    const job = await live.submit(`echo NEW; echo NEW > ${live.folder}/new; exit 9`);
    expect(job).toBeGreaterThan(old);
    await ended(job);
    expect(await live.job(job)).toMatchObject({ state: "failed", code: 9 });
    expect(readFileSync(join(live.folder, "new"), "utf8")).toBe("NEW\n");
    expect((await tutti("logs", String(job))).stdout).toBe("NEW\n");
    const { status, stderr } = await tutti("show", String(old));
    expect([status, stderr]).toEqual([5, expect.stringMatching(/it is unknown whether and how it ended/)]);
  });

  test("after its log was lost with kill -9 of the front end", async () => {
    await live.start();
    for (let i = 0; i < 5; i++) await ended(await live.submit("echo OLD; exit 0"));
    await live.killFrontEnd();
    rmSync(`${database()}-wal`);
    await live.start();
    expect((await live.status()).trouble).toMatch(/the store is out of date/);
    const job = await live.submit("exit 7");
    expect(job).toBe(6);
    await ended(job);
    expect(await live.job(job)).toMatchObject({ code: 7 });
  });
});

describe("a store that does not know what runs", () => {
  test.each(["removed", "put back from a backup", "without its log"])(
    "%s: nothing is killed; it is shown, and ended by cancel alone",
    async (how) => {
      await live.start();
      const early = await live.submit("exit 0");
      await ended(early);
      const backup = join(live.folder, "early.db");
      expect((await tutti("store", "backup", backup)).status).toBe(0);
      const job = await live.submit("sleep 5000");
      await live.running(job);
      const pid = live.pidOf(job, "job");
      await live.killFrontEnd();
      if (how === "removed") removeStore();
      else if (how === "without its log") rmSync(`${database()}-wal`);
      else putBack(backup);
      await live.start();
      const { strays, trouble } = await withStrays();
      expect(trouble).toMatch(/the store is out of date/);
      expect(strays).toMatchObject([
        { job, attempt: 1, state: "running", command: ["sh", "-c", "sleep 5000"] },
      ]);
      expect((await tutti("status")).stdout).toMatch(
        new RegExp(`cancel\\s+${job}\\s+ends[\\s\\S]*job ${job}, attempt 1, of [\\s\\S]*sleep 5000`),
      );
      // A new job gets another number and runs at the same time.
      const next = await live.submit("exit 3");
      expect(next).toBeGreaterThan(job);
      await ended(next);
      expect(await live.job(next)).toMatchObject({ code: 3 });
      expect(isRunning(pid)).toBe(true);
      expect(await tutti("down")).toMatchObject({
        status: 4,
        stderr: expect.stringMatching(/1 job is running/),
      });
      expect((await tutti("cancel", String(job))).status).toBe(0);
      await until(() => !isRunning(pid));
      while ((await live.status()).strays !== undefined);
      const { stdout } = await tutti("events", "--json");
      expect(stdout).toMatch(new RegExp(`"kind":"ended","job":${job},[^\n]*"stray":true`));
    },
  );

  test("down --kill ends it with all others", async () => {
    await live.start();
    const job = await live.submit("sleep 5000");
    await live.running(job);
    const pid = live.pidOf(job, "job");
    await live.killFrontEnd();
    removeStore();
    await live.start();
    await withStrays();
    expect((await tutti("down", "--kill")).status).toBe(0);
    await until(() => !isRunning(pid));
  });
});

test("the state folder is removed while it runs: nothing is acknowledged, and the reason is reported", async () => {
  await live.start();
  const short = await live.submit("sleep 1; exit 3");
  const long = await live.submit("sleep 1000");
  await live.running(long);
  rmSync(live.state, { recursive: true });
  const refused = await tutti("submit", "--", "sh", "-c", "exit 4");
  expect(refused.status).toBe(75);
  expect(refused.stderr).toMatch(/was removed while the scheduler was running/);
  expect((await live.status()).trouble).toMatch(/was removed while the scheduler was running/);
  expect(["running", "starting"]).toContain((await live.job(short)).state);
  const down = await tutti("down", "--kill");
  // Nothing can be written about their ends, so they may be left.
  expect([down.status, down.stderr]).toEqual([1, expect.stringMatching(/warning: 2 jobs have not ended/)]);
});

describe("a backup", () => {
  test("made while jobs run, put back after more jobs: right words, nothing killed, nothing claimed, later numbers", async () => {
    await live.start();
    const done = await live.submit("echo done");
    await ended(done);
    const running = await live.submit("sleep 4; exit 6");
    await live.running(running);
    const waiting = await live.submit(`echo x >> ${live.folder}/waited`, { held: true });
    const backup = join(live.folder, "backup.db");
    const made = await tutti("store", "backup", backup);
    expect(made.stdout).toMatch(
      /^Wrote [\s\S]*backup\.db: [\s\S]*3\s+jobs,\s+2\s+of\s+them\s+not\s+ended,\s+last\s+job\s+number\s+3/,
    );
    expect(made.stdout).toMatch(/Not included: the folder [\s\S]*jobs\s+with\s+the\s+output\s+of\s+jobs/);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(existsSync(`${backup}-wal`)).toBe(false);
    expect((await tutti("store", "check", backup)).stdout).toMatch(
      /: sound\n[\s\S]*3 jobs, 2 of them not ended/,
    );
    // The scheduler keeps working: the held job runs, and so does a later one.
    expect((await tutti("release", String(waiting))).status).toBe(0);
    await ended(waiting);
    const later = await live.submit("sleep 5000");
    await live.running(later);
    const pid = live.pidOf(later, "job");
    expect((await tutti("store", "check")).status).toBe(0);

    await live.killFrontEnd();
    putBack(backup);
    const looked = await tutti("store", "check");
    expect([looked.status, looked.stdout]).toEqual([
      1,
      expect.stringMatching(/the store is out\s+of\s+date:\s+its\s+last\s+job\s+is/),
    ]);
    await live.start();
    expect((await live.status()).trouble).toMatch(/A backup was restored, or files were lost/);
    expect(await live.job(done)).toMatchObject({ state: "done" });
    // The attempt that the backup knows has its own result.
    await ended(running);
    expect(await live.job(running)).toMatchObject({ state: "failed", code: 6 });
    // The job has run since the backup, so it must not run again by itself.
    expect(await live.job(waiting)).toMatchObject({
      state: "held",
      reason: expect.stringMatching(/attempt 1 of this job was already started/),
    });
    expect((await tutti("why", String(waiting))).stdout).toMatch(/It is held: attempt 1 of this job/);
    expect(isRunning(pid)).toBe(true);
    expect((await live.status()).strays).toMatchObject([{ job: later }]);
    expect(await live.submit("exit 0")).toBe(later + 1);
    expect((await tutti("release", String(waiting))).status).toBe(0);
    await ended(waiting);
    expect(await live.job(waiting)).toMatchObject({ state: "done", attempt: 2 });
    expect(readFileSync(join(live.folder, "waited"), "utf8")).toBe("x\nx\n");
    expect((await tutti("store", "check")).status).toBe(0);
  });

  test("replaces nothing without --force, stays out of the state folder, and works when nothing runs", async () => {
    await live.start();
    await ended(await live.submit("exit 0"));
    await down();
    const backup = join(live.folder, "b.db");
    expect((await tutti("store", "backup", backup)).status).toBe(0);
    const before = readFileSync(backup);
    const again = await tutti("store", "backup", backup);
    expect([again.status, again.stderr]).toEqual([74, expect.stringMatching(/the file exists already/)]);
    expect(readFileSync(backup).equals(before)).toBe(true);
    expect((await tutti("store", "backup", "--force", "--json", backup)).stdout).toMatch(/"jobs": ?1/);
    for (const name of ["tutti.db", "jobs/b.db"]) {
      const inside = await tutti("store", "backup", "--force", join(live.state, name));
      expect([inside.status, inside.stderr]).toEqual([2, expect.stringMatching(/in the state folder/)]);
    }
    expect((await tutti("store", "check")).status).toBe(0);
    const none = await tutti("store", "check", join(live.folder, "no such file"));
    expect([none.status, none.stderr]).toEqual([66, expect.stringMatching(/there is no such file/)]);
  });
});

describe("a store that cannot be used", () => {
  async function filled(): Promise<void> {
    await live.start();
    for (let i = 0; i < 20; i++) await live.submit(`: ${"x".repeat(3000)}${i}`, { held: true });
    await tutti("cancel", "all");
    await down();
  }

  async function serve(): Promise<{ status: number | null; stderr: string }> {
    return await startTutti(live.socket, ["serve", "--private", "--no-http", "--state", live.state]).result;
  }

  test("damaged in the middle: an end with 66 that says what to do, and `tutti store check` says where", async () => {
    await filled();
    const bytes = readFileSync(database());
    bytes.fill(0x5a, Math.floor(bytes.length / 8192) * 4096, Math.floor(bytes.length / 8192) * 4096 + 4096);
    writeFileSync(database(), bytes);
    const { status, stderr } = await serve();
    expect(status).toBe(66);
    expect(stderr).toMatch(/tutti\.db": .*The file is damaged: `tutti store check` shows where/s);
    expect(stderr).not.toMatch(/bug|remove|no file/);
    const looked = await tutti("store", "check");
    expect([looked.status, looked.stdout]).toEqual([1, expect.stringMatching(/not sound/)]);
    const kept = await tutti("store", "backup", join(live.folder, "b.db"));
    expect([kept.status, kept.stderr]).toEqual([66, expect.stringMatching(/no backup was made of it/)]);
    expect(existsSync(join(live.folder, "b.db"))).toBe(false);
    expect(readFileSync(database()).equals(bytes)).toBe(true);
  });

  test("on a file system that is read-only: an end with 74, no bug", async (context) => {
    await filled();
    const mounted = spawnSync("mount", ["--bind", live.state, live.state]);
    if (mounted.status !== 0) return context.skip("we may not mount anything here");
    try {
      execFileSync("mount", ["-o", "remount,bind,ro", live.state]);
      const { status, stderr } = await serve();
      expect([status, stderr]).toEqual([
        74,
        // What it needs first: the database, or the log that the last end has left, or has not.
        expect.stringMatching(/writable file system; a disk error may have made it read-only/),
      ]);
      expect(stderr).not.toMatch(/bug/);
      expect((await tutti("store", "check")).stdout).toMatch(/: sound\n/);
    } finally {
      execFileSync("umount", [live.state]);
    }
  });

  test("damaged while it runs: running jobs continue, requests are refused with a message", async () => {
    await live.start();
    const job = await live.submit("sleep 5000");
    await live.running(job);
    const pid = live.pidOf(job, "job");
    // As with a bad disk, the front end reads something else than it wrote.
    const other = new DatabaseSync(database());
    other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    other.close();
    const size = statSync(database()).size;
    const file = readFileSync(database());
    writeFileSync(database(), Buffer.alloc(size, 0x5a));
    const refused = await tutti("submit", "--", "true");
    expect(refused.status).toBe(75);
    expect(refused.stderr).toMatch(/running jobs continue/);
    expect(isRunning(pid)).toBe(true);
    writeFileSync(database(), file);
  });
});
