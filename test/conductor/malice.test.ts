/**
 * Runs jobs and users that try to harm others, against a real conductor run by root. What they do to
 * themselves does not matter.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProcessIdentity } from "@tutti/host/processes.ts";
import { allPids, identityOf, isAlive, readStat, signal } from "@tutti/host/processes.ts";
import { programFile } from "@tutti/host/programs.ts";
import { readIdentity } from "@tutti/live/conductor/attempts/claim.ts";
import { ConductorClient } from "@tutti/live/conductor/client.ts";
import type { AttemptEnd, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Stage, until } from "./stage.ts";

const EVE = 33;
const BOB = 34;

describe.skipIf(process.getuid!() !== 0)("a conductor run by root", () => {
  let stage: Stage;
  /** Processes that do not belong to the conductor. */
  const bystanders: number[] = [];
  beforeAll(async () => {
    stage = new Stage();
    chmodSync(stage.folder, 0o711);
    await stage.ready();
  });
  afterEach(async () => {
    for (const pid of bystanders.splice(0)) signal(pid, "SIGKILL");
    await stage.killJobs();
  });
  afterAll(async () => expect(await stage.clear()).toEqual([]));

  /** Launches a job of Eve's, with a folder as the front end makes it. */
  function ofEve(job: number, script: string): LaunchSpec {
    const spec = stage.spec(job, ["sh", "-c", script], { uid: EVE, gid: EVE, cwd: "/" });
    chownSync(spec.folder, EVE, EVE);
    return spec;
  }

  test("does not take another user's processes for a job's, though the job's folder names them", async () => {
    const bob = spawn("sh", ["-c", "sleep 1000 & wait"], { uid: BOB, gid: BOB, cwd: "/" });
    await until("Bob's process has a child", () => childrenOf(bob).length === 1);
    const [child] = childrenOf(bob);
    bystanders.push(child!.pid, bob.pid!);
    const spec = ofEve(1, "true");
    // What a process that keeps trying can do between the creation of the folder and the start of the shim.
    for (const [file, process] of Object.entries({ claim: identityOf(bob.pid!)!, job: child! })) {
      symlinkSync(`${textOf(process)}:${spec.identity}`, join(spec.folder, file));
      lchownSync(join(spec.folder, file), EVE, EVE);
    }
    const before = groupsOf(child!);
    stage.turn([[1]]);
    stage.client.send({ type: "launch", spec });
    expect((await stage.end(1)).lost).toContain(`claimed for process ${bob.pid}, which is not the shim`);
    expect(groupsOf(child!)).toBe(before);
    expect([isAlive(child!), isAlive(identityOf(bob.pid!)!)]).toEqual([true, true]);
  });

  test("ends a job that has stopped its own shim", async () => {
    const spec = ofEve(1, "kill -STOP $(readlink $TUTTI_TEST_FOLDER/claim | cut -d: -f2); exec sleep 1000");
    stage.turn([[1]]);
    const env = { ...spec.env, TUTTI_TEST_FOLDER: spec.folder };
    stage.client.send({ type: "launch", spec: { ...spec, env } });
    await stage.begun(1);
    const shim = readIdentity(spec, "claim")!;
    await until("the shim is stopped", () => readStat(shim.pid)?.state === "T");
    stage.client.send({ type: "stop", attempt: stage.key(1), kill: false, reason: "cancelled" });
    expect(await stage.end(1)).toMatchObject({ signal: "SIGKILL", reason: "cancelled" });
    expect(isAlive(shim)).toBe(false);
  });

  test("continues with the shim that it started, although the job's folder now names another", async () => {
    const other = spawn("sleep", ["1000"], { uid: EVE, gid: EVE });
    bystanders.push(other.pid!);
    await until("the other runs", () => identityOf(other.pid!) !== undefined);
    const claim = `ln -sf ${textOf(identityOf(other.pid!)!)}:${stage.identity(1)} claim`;
    const spec = ofEve(
      1,
      `cd "$TUTTI_TEST_FOLDER" && ${claim}; : > done; until [ -e go ]; do sleep 0.05; done; exit 7`,
    );
    stage.turn([[1]]);
    const env = { ...spec.env, TUTTI_TEST_FOLDER: spec.folder };
    stage.client.send({ type: "launch", spec: { ...spec, env } });
    await until("the claim is another one", () => readIdentity(spec, "claim")?.pid === other.pid);
    const before = stage.conductorPid();
    signal(before, "SIGKILL");
    await until("another conductor", () => stage.client.connected && stage.conductorPid() !== before);
    writeFileSync(join(spec.folder, "go"), "");
    expect(await stage.end(1)).toMatchObject({ code: 7 });
  });

  /** A file of another user in a folder that Eve may write to, so that she can move it but not read it. */
  function filesOfOthers(name: string, content: string, uid: number): string {
    const open = join(stage.folder, "open");
    mkdirSync(open, { recursive: true });
    chownSync(open, BOB, EVE);
    chmodSync(open, 0o770);
    const path = join(open, name);
    writeFileSync(path, content, { mode: 0o600 });
    chownSync(path, uid, uid);
    return path;
  }

  test.each([
    ["another user's", BOB],
    ["root's", 0],
  ])("reads no file of %s that a job has moved into its folder as its reason", async (_, uid) => {
    const diary = filesOfOthers("diary", "my password is hunter2", uid);
    const spec = ofEve(1, `mv -f '${diary}' '${stage.folderOf(1)}/lost'; exit 7`);
    stage.turn([[1]]);
    stage.client.send({ type: "launch", spec });
    const end = await stage.end(1);
    expect(readFileSync(join(spec.folder, "lost"), "utf8")).toContain("hunter2");
    expect(end).toMatchObject({ code: 7 });
    expect(JSON.stringify(end)).not.toContain("hunter2");
  });

  test("does not take another user's file for the exit status of a job", async () => {
    const status = filesOfOthers("status", `0 ${stage.identity(1)}\n`, BOB);
    // The shim stays stopped, so that it cannot report later.
    const spec = ofEve(1, `mv -f '${status}' '${stage.folderOf(1)}/exit'; kill -9 $PPID; sleep 1000`);
    stage.turn([[1]]);
    stage.client.send({ type: "launch", spec });
    const end = await stage.end(1);
    expect(readFileSync(join(spec.folder, "exit"), "utf8")).toBe(`0 ${stage.identity(1)}\n`);
    expect(end.code).toBeUndefined();
    expect(end.lost).toContain("without leaving an exit status");
  });

  test("takes no exit status that has a second name", async () => {
    const spec = ofEve(
      1,
      `cd '${stage.folderOf(1)}'; echo 0 ${stage.identity(1)} > mine; ln mine exit; kill -9 $PPID; sleep 1000`,
    );
    stage.turn([[1]]);
    stage.client.send({ type: "launch", spec });
    expect((await stage.end(1)).lost).toContain("without leaving an exit status");
  });

  test("writes nothing into another user's pipe at the gate", async () => {
    const pipe = join(stage.folder, "pipe");
    execFileSync("mkfifo", ["-m", "600", pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const spec = ofEve(1, "true");
    stage.turn([[]]);
    stage.client.send({ type: "launch", spec });
    await until("it waits at its gate", () => readIdentity(spec, "job") !== undefined);
    renameSync(pipe, join(spec.folder, "gate"));
    stage.turn([[1]]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const buffer = Buffer.alloc(100);
    // Reading gives the end of the pipe: no process has it open for writing, and it is empty.
    expect(readSync(reader, buffer)).toBe(0);
    closeSync(reader);
    stage.client.send({ type: "stop", attempt: stage.key(1), kill: true, reason: "cancelled" });
    await stage.end(1);
  });

  test.each([
    ["does not name a user", {}, 0],
    ["names no group", { uid: EVE }, EVE],
    ["has another user's folder for root", { uid: 0, gid: 0 }, EVE],
    ["has root's folder for another user", { uid: EVE, gid: EVE }, 0],
  ])("starts nothing for a front end that %s", async (_, rights, owner) => {
    const { uid: __, gid: ___, ...whole } = stage.spec(1, ["sh", "-c", "id"]);
    chownSync(whole.folder, owner, owner);
    stage.turn([[1]]);
    stage.client.send({ type: "launch", spec: { ...whole, ...rights } });
    expect((await stage.end(1)).lost).toMatch(/^Cannot start job \d+: .* expected /);
    expect(readdirSync(whole.folder).filter((name) => name !== "claim")).toEqual([]);
  });

  test("has no name that another user could take to keep the next one from starting", () => {
    const pid = stage.conductorPid();
    const files = readdirSync(`/proc/${pid}/fd`).map((one) => readlinkSync(`/proc/${pid}/fd/${one}`));
    const sockets = readFileSync("/proc/net/unix", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/));
    const names = sockets.flatMap(([, , , , , , inode, name]) =>
      name !== undefined && files.includes(`socket:[${inode}]`) ? [name] : [],
    );
    expect(names).not.toEqual([]);
    // Sockets whose names begin with @ are in no folder, so no permissions protect them.
    expect(names.filter((name) => !name.startsWith(stage.home))).toEqual([]);
  });
});

test.skipIf(process.getuid!() !== 0)(
  "a conductor of an ordinary user starts nothing for another user",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-eve-"));
    const home = join(folder, "home");
    mkdirSync(home, { mode: 0o700 });
    for (const one of [folder, home]) chownSync(one, EVE, EVE);
    const main = fileURLToPath(
      programFile("conductor", new URL("../../packages/live/conductor/main.ts", import.meta.url)),
    );
    const conductor = spawn(process.execPath, [main, home, "signals"], {
      uid: EVE,
      gid: EVE,
      stdio: "ignore",
    });
    const client = new ConductorClient({ home, name: "test", startConductor: false });
    const ends: AttemptEnd[] = [];
    client.on("message", (message) => message.type === "ended" && ends.push(message.end));
    try {
      await until("it answers", () => client.connected);
      for (const [i, uid] of [0, BOB, EVE].entries()) {
        const own = join(folder, String(uid));
        mkdirSync(own, { mode: 0o700 });
        chownSync(own, uid, uid);
        const [stdout, stderr] = ["out", "err"].map((name) => join(own, name)) as [string, string];
        const spec = {
          job: uid,
          attempt: 1,
          folder: own,
          command: ["id", "-u"],
          cwd: "/",
          env: {},
          stdout,
          stderr,
        };
        client.send({ type: "launch", spec: { ...spec, graceMs: 100, uid, gid: uid } });
        const rows = [[{ job: uid, attempt: 1, cpus: [0] }]];
        client.send({ type: "matrix", matrix: { sequence: i + 1, slotMs: 50, mode: "gang", rows } });
        await until("it has ended", () => ends.length > i);
      }
      expect(ends.map(({ lost, code }) => lost ?? code)).toEqual([
        expect.stringContaining(`it belongs to user 0, expected a job of user ${EVE}`),
        expect.stringContaining(`it belongs to user ${BOB}, expected a job of user ${EVE}`),
        0,
      ]);
      expect(readFileSync(join(folder, String(EVE), "out"), "utf8")).toBe(`${EVE}\n`);
    } finally {
      client.send({ type: "shutdown", killJobs: true });
      await until("it is gone", () => conductor.exitCode !== null);
      client.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

function textOf({ bootId, pid, startTicks }: ProcessIdentity): string {
  return `${bootId}:${pid}:${startTicks}`;
}

function childrenOf({ pid }: ChildProcess): ProcessIdentity[] {
  return allPids().flatMap((one) => (readStat(one)?.parent === pid ? [identityOf(one)!] : []));
}

function groupsOf({ pid }: ProcessIdentity): string {
  return readFileSync(`/proc/${pid}/cgroup`, "utf8");
}
