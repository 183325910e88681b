/**
 * Tests that jobs of a user never run as another user, even if accounts come and go or the scheduler is
 * restarted in another mode.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  canMakeAccounts,
  makeAccount,
  removeAccount,
  removeAccounts,
  resultOf,
  spawnAs,
  type TestAccount,
} from "./accounts.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const ROOT: Caller = { uid: 0, user: "root", isAdministrator: true };

describe.skipIf(!canMakeAccounts)("accounts (as root, with useradd)", () => {
  let ada: TestAccount;
  let folder: string;
  let state: string;
  let frontEnd: RunningFrontEnd | undefined;
  beforeAll(() => {
    ada = makeAccount("ada");
  });
  afterAll(removeAccounts);
  afterEach(async () => {
    frontEnd ??= await start();
    await frontEnd.service.shutdown(ROOT, true);
    await frontEnd.stop();
    frontEnd = undefined;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  function makeFolders(): void {
    folder = mkdtempSync(join(tmpdir(), "tutti-accounts-"));
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "ada"));
    chownSync(join(folder, "ada"), ada.uid, ada.gid);
    state = join(folder, "state");
  }

  async function start(): Promise<RunningFrontEnd> {
    frontEnd = await startFrontEnd({ stateFolder: state, isShared: true, settings: { slotMs: 50 } });
    return frontEnd;
  }

  /** A job that writes its user to a file, in a folder where all users may write. */
  async function submit({ uid, user }: TestAccount, more: Partial<SubmitJob> = {}): Promise<Job> {
    const answer = await frontEnd!.service.submit({ uid, user, isAdministrator: false }, [
      {
        command: ["sh", "-c", "id -u > ran"],
        cwd: join(folder, "ada"),
        env: { PATH: "/usr/bin:/bin" },
        ...more,
      },
    ]);
    if ("refused" in answer) throw new Error(answer.message);
    return answer.jobs[0];
  }

  async function ended(job: number): Promise<Job> {
    for (;;) {
      const info = frontEnd!.service.job(ROOT, job);
      if ("refused" in info) throw new Error(info.message);
      if (["done", "failed", "cancelled"].includes(info.state)) return info;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const ran = () => existsSync(join(folder, "ada", "ran"));
  const serve = (...more: readonly string[]) =>
    spawnSync(process.execPath, [program, "serve", "--no-http", "--state", state, ...more], {
      env: { ...process.env, NO_COLOR: "1", TUTTI_SOCKET: join(folder, "run", "tutti.sock") },
      encoding: "utf8",
      timeout: 120_000,
    });

  test("root's scheduler for root alone does not get the waiting jobs of others", async () => {
    makeFolders();
    await start();
    const { job } = await submit(ada, { held: true });
    const { job: behind } = await submit(ada, { after: [{ job, ok: false }] });
    await frontEnd!.stop();
    frontEnd = undefined;

    const refused = serve("--private");

    expect(refused.status).toBe(66);
    expect(refused.stderr).toContain(`(${job} of ${ada.user}, ${behind} of ${ada.user})`);
    expect(refused.stderr).toContain("without --private");
    // The folder stays open for users whose jobs still run.
    expect(statSync(state).mode & 0o777).toBe(0o711);
    expect(ran()).toBe(false);

    await start();
    await frontEnd!.service.change(ROOT, { action: "release" }, [job]);
    expect(await ended(behind)).toMatchObject({ state: "done" });
    expect(statSync(join(folder, "ada", "ran")).uid).toBe(ada.uid);
  });

  test("root takes no configuration that another user could write", () => {
    makeFolders();
    const own = join(folder, "ada", "config.toml");
    writeFileSync(own, 'policy = "fcfs"\n');
    const refused = serve("--config", own);
    expect(refused.status).toBe(66);
    expect(refused.stderr).toContain(`belongs to user ${ada.uid}, so another user could change it`);
    const open = join(folder, "config.toml");
    writeFileSync(open, 'policy = "fcfs"\n');
    chmodSync(open, 0o666);
    expect(serve("--config", open).stderr).toContain(`others may write to "${open}"`);
  });

  test("nor does a user who got the folder of a scheduler for all from root", async () => {
    makeFolders();
    const bob = makeAccount("bob");
    await start();
    await submit(ada, { held: true });
    await frontEnd!.service.shutdown(ROOT, true);
    await frontEnd!.stop();
    frontEnd = undefined;
    spawnSync("chown", ["-R", `${bob.uid}:${bob.gid}`, state]);

    const env = { TUTTI_SOCKET: `/tmp/tutti-test-${bob.uid}/tutti.sock`, HOME: "/" };
    const words = [process.execPath, program, "serve", "--no-http", "--state", state] as const;
    const { status, stderr } = await resultOf(spawnAs(bob, words, env));

    expect(status).toBe(66);
    expect(stderr).toContain(`(1 of ${ada.user})`);
    spawnSync("chown", ["-R", "0:0", state]);
  });

  test("a folder that another user made at the path of our socket is neither used nor believed", async () => {
    makeFolders();
    const eve = makeAccount("eve");
    const place = `/tmp/tutti-${ada.uid}`;
    expect(existsSync(place)).toBe(false);
    const home = { HOME: join(folder, "ada") };
    try {
      // She pretends to be the scheduler: users who submit there would reveal commands and environments.
      const play = `umask 0; mkdir ${place} && cd ${place} && mkdir tokens && echo 1.x > tokens/${ada.uid} && exec ${process.execPath} -e 'let n = 0; require("http").createServer((q, a) => { require("fs").appendFileSync("asked", q.url); a.end("{}"); }).listen("tutti.sock")'`;
      const eves = spawnAs(eve, ["/bin/sh", "-c", play]);
      while (!existsSync(join(place, "tutti.sock"))) await new Promise((resolve) => setTimeout(resolve, 20));
      for (const words of [["status"], ["submit", "--", "true"]]) {
        const client = await resultOf(spawnAs(ada, [process.execPath, program, ...words], home));
        expect(client.status).not.toBe(0);
        expect(client.stderr).toContain(`Cannot trust the scheduler at "${place}/tutti.sock"`);
      }
      const words = ["serve", "--no-http", "--state", join(folder, "ada", "state")];
      const server = spawnAs(ada, [process.execPath, program, ...words], home);
      let said = "";
      server.stdout?.on("data", (piece) => {
        said += piece;
      });
      while (!said.includes("help:")) await new Promise((resolve) => setTimeout(resolve, 20));
      // A folder of her own, which her clients find.
      const [, own] = /socket +(.*)\/tutti\.sock/.exec(said)!;
      expect(own).toMatch(new RegExp(`^${place}\\.[0-9a-f]{8}$`));
      for (const words of [["status"], ["down"]]) {
        const client = await resultOf(spawnAs(ada, [process.execPath, program, ...words], home));
        expect(client).toMatchObject({ status: 0, stderr: "" });
      }
      rmSync(own, { recursive: true });
      expect(existsSync(join(place, "asked"))).toBe(false);
      expect(statSync(place).uid).toBe(eve.uid);
      eves.kill();
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  test("a job does not run if its account is gone, or if its user id belongs to another user", async () => {
    makeFolders();
    await start();
    const carl = makeAccount("carl");
    const { job } = await submit(carl, {
      held: true,
      cwd: "/",
      command: ["sh", "-c", "id -u > /tmp/$0", "ran"],
    });
    const { job: other } = await submit(carl, { held: true, cwd: "/" });
    removeAccount(carl.user);

    await frontEnd!.service.change(ROOT, { action: "release" }, [job]);
    expect((await ended(job)).reason).toContain("this account no longer exists");

    const dora = makeAccount("dora", "-u", String(carl.uid));
    await frontEnd!.service.change(ROOT, { action: "release" }, [other]);
    expect((await ended(other)).reason).toContain(`this user id belongs to ${dora.user} now`);
    expect(existsSync(join(state, "jobs", String(other)))).toBe(false);
  });

  test("a job that restarts after its account was removed does not run", async () => {
    makeFolders();
    await start();
    const erna = makeAccount("erna");
    const script = "echo $TUTTI_ATTEMPT >> $TUTTI_HOSTFILE; sleep 1000";
    const { job } = await submit(erna, { retries: 3, cwd: "/", command: ["sh", "-c", script] });
    const running = () => {
      const info = frontEnd!.service.job(ROOT, job);
      return "state" in info && info.state === "running";
    };
    while (!running()) await new Promise((resolve) => setTimeout(resolve, 20));
    removeAccount(erna.user);
    await frontEnd!.service.change(ROOT, { action: "requeue" }, [job]);
    const { state: how, reason } = await ended(job);
    expect([how, reason]).toEqual(["failed", expect.stringContaining("this account no longer exists")]);
    expect(existsSync(join(state, "jobs", String(job), "2"))).toBe(false);
  });
});
