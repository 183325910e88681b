/**
 * Tests several real users on one machine: a front end run by root, processes of two other users that use it,
 * and jobs that run as these users.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runtimeDirOf } from "@tutti/live/api/runtime-dir.ts";
import { type Api, startApi } from "@tutti/live/api/server/server.ts";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { CommandResult } from "./command.ts";

/** Accounts that exist on Debian and similar systems, because jobs need a user that the system knows. */
const known = new Map(
  readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([user = "", , uid]) => [user, Number(uid)]),
);
const ADA = { uid: known.get("www-data") ?? -1, user: "www-data" };
const BOB = { uid: known.get("backup") ?? -1, user: "backup" };
const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const canBe =
  process.getuid!() === 0 &&
  ADA.uid > 0 &&
  BOB.uid > 0 &&
  spawnSync("test", ["-r", program], { uid: ADA.uid }).status === 0;

const KEEP_JOBS = 300;

const ROOT: Caller = { uid: 0, user: "root", isAdministrator: true };
let folder: string;
let frontEnd: RunningFrontEnd;
let api: Api;

/** Runs the command line as another user. */
function as({ uid }: { readonly uid: number }, ...parameters: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [program, ...parameters], {
    uid,
    gid: uid,
    cwd: "/",
    env: {
      PATH: "/usr/bin:/bin",
      HOME: "/",
      NO_COLOR: "1",
      TUTTI_SOCKET: api.socket,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    child.stderr.on("data", (piece) => {
      stderr += piece;
    });
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
}

describe.skipIf(!canBe)("several users (as root)", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tutti-users-"));
    chmodSync(folder, 0o755);
    frontEnd = await startFrontEnd({
      stateFolder: join(folder, "state"),
      isShared: true,
      settings: { slotMs: 50, keepJobs: KEEP_JOBS },
    });
    api = await startApi({
      service: frontEnd.service,
      version: "1.2.3",
      jobsFolder: frontEnd.jobsFolder,
      places: runtimeDirOf(join(folder, "run", "tutti.sock")),
      owner: ROOT,
      isShared: true,
      ports: [],
      users: () => [ADA, BOB],
      onBug: (error) => {
        throw error;
      },
    });
  });
  afterAll(async () => {
    await frontEnd.service.shutdown(ROOT, true);
    await api.close();
    await frontEnd.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  test("a job runs as the user who submitted it, with that user's rights", async () => {
    const script = "id -u; id -g; cat /etc/shadow; exit 3";
    const { stdout, stderr, status } = await as(ADA, "run", "--", "sh", "-c", script);
    expect(stdout).toMatch(new RegExp(`^${ADA.uid}\\n[1-9]\\d*\\n$`));
    expect(stderr).toMatch(/shadow.*denied/i);
    expect(status).toBe(3);
    const { stdout: path } = JSON.parse((await as(ADA, "show", "1", "--json")).stdout).jobs[0];
    expect(lstatSync(path).uid).toBe(ADA.uid);
  });

  test("another user neither sees nor touches it, by API or by file", async () => {
    await as(ADA, "submit", "--name", "hush", "--", "sh", "-c", "echo secret; sleep 1000");
    for (let i = 0; i < 100 && (await as(ADA, "logs", "2")).stdout !== "secret\n"; i++);
    expect((await as(ADA, "logs", "2")).stdout).toBe("secret\n");
    expect(JSON.parse((await as(BOB, "jobs", "--all", "--json")).stdout).jobs).toEqual([]);
    for (const parameters of [
      ["show", "2"],
      ["logs", "2"],
      ["cancel", "2"],
      ["hold", "2"],
      ["why", "2"],
      ["update", "2", "--priority", "-1"],
      ["requeue", "2"],
    ]) {
      const { status, stdout } = await as(BOB, ...parameters);
      expect([parameters[0], [4, 5].includes(status!), stdout]).toEqual([parameters[0], true, ""]);
    }
    for (const verb of [["matrix"], ["events"], ["export"], ["matrix", "--json"]]) {
      expect((await as(BOB, ...verb)).stdout).not.toMatch(/hush|secret/);
    }
    const read = spawnSync("cat", [join(frontEnd.jobsFolder, "2", "stdout")], { uid: BOB.uid, gid: BOB.uid });
    expect(read.status).not.toBe(0);
    expect((await as(ADA, "cancel", "2")).status).toBe(0);
  });

  test("a link at the path of the output is not followed with root's rights, nor is another user's output shown", async () => {
    const log = join(frontEnd.jobsFolder, "3", "stdout");
    const link = join(frontEnd.jobsFolder, "3", "1", "link");
    // The folder of the attempt belongs to the user. The folder of the job belongs to root, so the first
    // command fails.
    const script = `ln -sf /etc/shadow ${log}; rm -f ${link}; ln -s /etc/shadow ${link}`;
    await as(ADA, "submit", "-o", link, "-e", log, "--", "sh", "-c", script);
    await as(ADA, "wait", "3");
    const own = await as(ADA, "logs", "3");
    expect([own.status === 0, own.stdout]).toEqual([false, ""]);
    const theirs = join(frontEnd.jobsFolder, "2", "stdout");
    await as(BOB, "submit", "-o", theirs, "--", "true");
    await as(BOB, "wait", "4");
    const other = await as(BOB, "logs", "4");
    expect([other.status, other.stdout]).toEqual([4, ""]);
  });

  test("output that is sent elsewhere is opened with the user's rights", async () => {
    await as(ADA, "submit", "-o", "/etc/tutti-test-must-not-exist", "--", "true");
    expect((await as(ADA, "wait", "5")).status).toBe(1);
    expect(spawnSync("test", ["-e", "/etc/tutti-test-must-not-exist"]).status).toBe(1);
    // The scheduler also reads it with the user's rights, so it does not reveal files from elsewhere.
    await as(ADA, "submit", "-o", "/etc/shadow", "--", "true");
    await as(ADA, "wait", "6");
    const { status, stdout } = await as(ADA, "logs", "6");
    expect([status, stdout]).toEqual([4, ""]);
  });

  test("only an administrator changes the policy, ends the scheduler or gives priority", async () => {
    expect((await as(ADA, "policy", "fcfs")).status).toBe(4);
    expect((await as(ADA, "down", "--kill")).status).toBe(4);
    expect((await as(ADA, "submit", "--priority", "5", "--", "true")).status).toBe(4);
    expect((await as({ uid: 20_003 }, "jobs")).status).toBe(4);
  });

  test.each([
    ["root's", () => 0],
    ["another user's", () => BOB.uid],
  ])("a file of %s that a job moved into its folder is not shown as its output", async (whose, uid) => {
    // Like a file that sudo leaves in a home folder: the user may move it but not read it.
    const home = mkdtempSync(join(folder, "home-"));
    chownSync(home, ADA.uid, ADA.uid);
    const secret = join(home, "secret");
    writeFileSync(secret, `TOP SECRET of ${whose}`, { mode: 0o600 });
    chownSync(secret, uid(), uid());
    const output = join(frontEnd.jobsFolder, "%j", "1", "out");
    const script = `mv -f ${secret} $(dirname $TUTTI_HOSTFILE)/out; sleep 0.3`;

    const { stdout: told } = await as(ADA, "submit", "--json", "-o", output, "--", "sh", "-c", script);

    const { job } = JSON.parse(told).jobs[0];
    const followed = as(ADA, "logs", "--follow", String(job));
    expect((await as(ADA, "wait", String(job))).status).toBe(0);
    expect(readFileSync(join(frontEnd.jobsFolder, String(job), "1", "out"), "utf8")).toContain("TOP SECRET");
    const { status, stdout } = await as(ADA, "logs", String(job));
    expect([status === 0, stdout]).toEqual([false, ""]);
    expect((await followed).stdout).toBe("");
  });

  test("a script is copied for its user alone, even if others may read the original", async () => {
    const path = join(folder, "mine.sh");
    writeFileSync(path, "#!/bin/sh\nid -u\nstat -c '%a %u' \"$0\"\n");
    chownSync(path, ADA.uid, ADA.uid);
    chmodSync(path, 0o600);
    const { stdout, stderr } = await as(ADA, "run", path);
    expect([stdout, stderr]).toEqual([`${ADA.uid}\n500 ${ADA.uid}\n`, ""]);
    const [{ job }] = JSON.parse((await as(ADA, "show", "last", "--json")).stdout).jobs;
    const copy = join(frontEnd.jobsFolder, String(job), "script", "mine.sh");
    expect(spawnSync("cat", [copy], { uid: ADA.uid, gid: ADA.uid }).status).toBe(0);
    expect(spawnSync("cat", [copy], { uid: BOB.uid, gid: BOB.uid }).status).not.toBe(0);
  });

  test("others see neither how much a job has written nor that it has", async () => {
    const stdout = join(frontEnd.jobsFolder, "2", "stdout");
    const status = ({ uid }: typeof ADA) => spawnSync("stat", [stdout], { uid, gid: uid }).status;
    expect([status(ADA), status(BOB)]).toEqual([0, 1]);
  });

  test("no output path of a user keeps the jobs of others from starting", async () => {
    for (const inside of ["1", ".", "script", "x".repeat(300)]) {
      const { job } = JSON.parse((await as(BOB, "submit", "--hold", "--json", "--", "true")).stdout).jobs[0];
      const path = `${join(frontEnd.jobsFolder, String(job + 1))}/${inside}`;
      expect((await as(BOB, "submit", "-o", path, "--", "true")).status).toBe(0);
      await as(BOB, "cancel", String(job));
      expect(await as(ADA, "run", "--", "echo", "mine")).toMatchObject({ status: 0, stdout: "mine\n" });
      await as(BOB, "wait", String(job + 1));
    }
    expect((await as(BOB, "status")).stdout).not.toContain("trouble");
  });

  test("an array of large jobs is refused, and a large environment costs an array no more than one job", async () => {
    const word = "x".repeat(100_000);
    const large = await as(ADA, "submit", "--array", "1-10000", "--", "echo", word);
    expect([large.status, large.stderr]).toEqual([
      4,
      expect.stringContaining("more than 67108864 bytes together"),
    ]);
    // 200 of it together would be above the limit.
    const value = "x".repeat(1000);
    const env = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`v${i}`, value]));
    const caller = { ...ADA, isAdministrator: false };
    const command = ["true"];

    const answer = await frontEnd.service.submit(
      caller,
      Array.from({ length: 200 }, (_, i) => ({
        command,
        cwd: "/",
        env,
        arrayIndex: i,
        held: true,
      })),
    );

    expect(answer).toHaveProperty("jobs.length", 200);

    await as(ADA, "cancel", "all");
  });

  test("a user who floods the scheduler with jobs that are cancelled at once destroys no results of other users", async () => {
    expect(await as(BOB, "run", "--name", "precious", "--", "echo", "precious")).toMatchObject({ status: 0 });
    const jobOf = async (who: typeof ADA) =>
      String(JSON.parse((await as(who, "show", "last", "--json")).stdout).jobs[0].job);
    const precious = await jobOf(BOB);
    expect((await as(ADA, "run", "--", "false")).status).toBe(1);
    const failed = await jobOf(ADA);
    for (let i = 0; i < 11; i++) {
      const { status } = await as(ADA, "submit", "--array", "0-999", "--after", failed, "--", "true");
      expect(status).toBe(1);
    }
    const { service } = frontEnd;
    const kept = () => {
      const { done, failed: unwell, cancelled } = service.status().counts;
      return done + unwell + cancelled;
    };
    await vi.waitUntil(() => service.status().counts.queued === 0 && kept() <= KEEP_JOBS, {
      timeout: 120_000,
    });
    expect(await as(BOB, "logs", precious)).toMatchObject({ status: 0, stdout: "precious\n" });
    expect((await as(ADA, "show", failed)).stdout).toMatch(/exit +1\n/);
  });

  test("no event shows what another user does with a job", async () => {
    const latest = (await as(BOB, "events", "--json")).stdout.trimEnd().split("\n").at(-1)!;
    const since = String(JSON.parse(latest).sequence);
    const cpus = frontEnd.service.status().cpus;
    const hog = ["submit", "-n", String(cpus), "--", "sleep", "1000"];
    for (let i = 0; i < 7; i++) await as(ADA, ...hog);
    await as(ADA, "hold", "last");
    await as(ADA, "cancel", "all");
    const told = /held|cancelled|submitted|priority|www-data|sleep/;
    const own = (await as(ADA, "events", "--json", "--since", since)).stdout;
    expect(own).toMatch(/"held"(?:.*\n)*.*"cancelled"/);
    expect((await as(BOB, "events", "--json", "--since", since)).stdout).not.toMatch(told);
  });

  test("a missing folder of the output is made with the rights of the job's user, also for root", async () => {
    const open = join(folder, "open");
    mkdirSync(open);
    chmodSync(open, 0o1777);
    for (const who of [ADA, ROOT]) {
      const logs = join(open, who.user, "logs");
      const words = ["-a", "1-2", "-o", `${logs}/%a`, "--", "sh", "-c", "echo out"];
      const job = (await as(who, "submit", "--parsable", ...words)).stdout.trim();
      expect((await as(who, "wait", job)).status).toBe(0);
      expect(["1", "2"].map((name) => readFileSync(join(logs, name), "utf8"))).toEqual(["out\n", "out\n"]);
      expect([join(open, who.user), logs, join(logs, "1")].map((path) => statSync(path).uid)).toEqual(
        Array(3).fill(who.uid),
      );
    }
    for (const words of [["--dry-run"], []]) {
      const { status, stderr } = await as(ADA, "submit", ...words, "-o", "/nothere/logs/%a", "--", "true");
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: expect.stringContaining('"/nothere/logs/%a"'),
      });
    }
    expect((await as(ADA, "wait", "last")).status).toBe(1);
    expect(existsSync("/nothere")).toBe(false);
  });

  test.each(["a file", "the journal"])(
    "the token of who has started it does not come into %s",
    async (kept) => {
      const log = join(folder, `log of ${kept}`);
      const socket = join(folder, "run2", "tutti.sock");
      const env = { ...process.env, TUTTI_SOCKET: socket, NO_COLOR: "1" };
      const parameters = ["serve", "--private", "--port", "0", "--state", join(folder, "state2")];
      // As systemd sets it for services.
      const inJournal = kept === "a file" ? {} : { JOURNAL_STREAM: "8:1234" };
      const script =
        kept === "a file" ? 'log=$1; shift; exec "$@" > "$log"' : 'log=$1; shift; "$@" | tee "$log"';
      const serve = spawn("sh", ["-c", script, "sh", log, process.execPath, program, ...parameters], {
        env: { ...env, ...inJournal },
        stdio: "ignore",
      });
      const ended = new Promise((resolve) => serve.on("close", resolve));
      const text = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
      while (!text().includes("help:") && serve.exitCode === null)
        await new Promise((r) => setTimeout(r, 20));
      const tokenFile = join(folder, "run2", "tokens", "0");
      expect(text()).toContain(`token in ${tokenFile}`);
      expect(text()).not.toContain(readFileSync(tokenFile, "utf8").trim());
      expect(spawnSync(process.execPath, [program, "down"], { env }).status).toBe(0);
      await ended;
    },
  );
});
