/**
 * Runs the scheduler under the restrictions of packaging/systemd/tutti.service: its capabilities, /proc
 * without other users' processes, read-only programs and configuration. The test machine has no systemd, so
 * setpriv and unshare do the same.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMakeAccounts } from "../attack/accounts.ts";
import type { Scheduler } from "../attack/scheduler.ts";
import { Stage } from "../attack/stage.ts";
import { readUnit, settingOf } from "./units.ts";

const capabilities = settingOf(readUnit("tutti"), "CapabilityBoundingSet").map((name) =>
  name.replace("CAP_", "+").toLowerCase(),
);
const SANDBOX = `unshare --mount --propagation slave bash -c '
  mount -t proc -o hidepid=invisible proc /proc && mount --bind /usr /usr && mount -o remount,bind,ro /usr &&
  mount --bind /etc /etc && mount -o remount,bind,ro /etc && mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys &&
  umask 077 && ulimit -S -n 1024 && exec setpriv --bounding-set=-all,${capabilities.join()} "$@"' bash "$@"`;
const canTry =
  canMakeAccounts() &&
  spawnSync("bash", ["-c", SANDBOX.replace('"$@"\'', "true'"), "bash"], { stdio: "ignore" }).status === 0;

let stage: Stage;
let scheduler: Scheduler;

describe.skipIf(!canTry)("under the machine's unit (as root)", () => {
  beforeAll(async () => {
    stage = await Stage.open({ isShort: true, seed: 1 });
    scheduler = await stage.serve({ shell: `exec ${SANDBOX}` });
  });
  afterAll(() => stage.close());

  test("jobs run as their users, take turns and are cancelled; the conductor sees them though /proc hides others' processes", async () => {
    const { ann, bob } = stage.users;
    const { cpus } = await scheduler.status();
    const spin = "while :; do :; done";
    const jobs = [
      await scheduler.submit(ann, spin, { tasks: cpus }),
      await scheduler.submit(bob, spin, { tasks: cpus }),
    ];
    for (const job of jobs) await scheduler.running(job);
    const short = await scheduler.submit(ann, "id -un; ulimit -S -n; exit 3", { tasks: cpus });
    expect(await scheduler.ended(short)).toMatchObject({ state: "failed", code: 3 });
    const { text } = await scheduler.ask(ann, `/v1/jobs/${short}/logs/stdout`);
    expect(text).toBe(`${ann.user}\n1024\n`);
    for (const job of jobs) {
      expect((await scheduler.job(job)).ranMs).toBeGreaterThan(0);
      const pid = scheduler.pidOf(job, "job");
      await scheduler.tutti(undefined, "cancel", String(job));
      expect(await scheduler.ended(job)).toMatchObject({ state: "cancelled" });
      expect(existsSync(`/proc/${pid}`)).toBe(false);
    }
  });

  test("a job sees no process of others, changes no program, and has no more capabilities than nothing", async () => {
    const { ann } = stage.users;
    const script = `ls -d /proc/1 2> /dev/null; grep Cap /proc/self/status; touch /usr/x /etc/x 2> /dev/null && echo wrote; true`;
    const job = await scheduler.submit(ann, script);
    await scheduler.ended(job);
    const { text } = await scheduler.ask(ann, `/v1/jobs/${job}/logs/stdout`);
    expect(text).not.toMatch(/proc\/1|wrote/);
    expect(text).toMatch(/CapEff:\t0+\n/);
  });

  test("the front end comes back after kill -9 and continues with the jobs", async () => {
    const { ann } = stage.users;
    const job = await scheduler.submit(ann, "sleep 2; exit 4");
    await scheduler.running(job);
    await scheduler.stop("SIGKILL");
    await scheduler.start();
    expect(await scheduler.ended(job)).toMatchObject({ state: "failed", code: 4, attempt: 1 });
  });
});
