/** Jobs and users that mean harm to others, against a real conductor run by root. What they do to themselves is their affair. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { LaunchSpec, ProcessIdentity } from "../protocol.ts";
import { allPids, identityOf, isAlive, readStat, signal } from "./processes.ts";
import { readIdentity } from "./shim.ts";
import { Stage, until } from "./stage-for-tests.ts";

const EVE = 33;
const BOB = 34;

describe.skipIf(process.getuid!() !== 0)("a conductor run by root", () => {
  let stage: Stage;
  /** Processes that are none of the conductor's. */
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

  /** A job of Eve's, with its folder as the front end makes it. */
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
    // What a process that tries all the time gets done between the making of the folder and the start of the shim.
    symlinkSync(textOf(identityOf(bob.pid!)!), join(spec.folder, "claim"));
    symlinkSync(textOf(child!), join(spec.folder, "job"));
    const before = groupsOf(child!);
    stage.turn([[1]]);
    stage.client.send({ type: "launch", spec });
    expect((await stage.end(1)).lost).toContain("could not claim the attempt");
    expect(groupsOf(child!)).toBe(before);
    expect([isAlive(child!), isAlive(identityOf(bob.pid!)!)]).toEqual([true, true]);
  });

  test("ends a job that has stopped its own shim", async () => {
    const spec = ofEve(1, "kill -STOP $(readlink $TUTTI_TEST_FOLDER/claim | cut -d: -f2); exec sleep 1000");
    stage.turn([[1]]);
    const env = { ...spec.env, TUTTI_TEST_FOLDER: spec.folder };
    stage.client.send({ type: "launch", spec: { ...spec, env } });
    await stage.begun(1);
    const shim = readIdentity(spec.folder, "claim")!;
    await until("the shim is stopped", () => readStat(shim.pid)?.state === "T");
    stage.client.send({ type: "stop", attempt: stage.key(1), kill: false, reason: "cancelled" });
    expect(await stage.end(1)).toMatchObject({ signal: "SIGKILL", reason: "cancelled" });
    expect(isAlive(shim)).toBe(false);
  });

  test("goes on with the shim that it started, though the job's folder names another one by now", async () => {
    const other = spawn("sleep", ["1000"], { uid: EVE, gid: EVE });
    bystanders.push(other.pid!);
    await until("the other runs", () => identityOf(other.pid!) !== undefined);
    const claim = `ln -sf ${textOf(identityOf(other.pid!)!)} claim`;
    const spec = ofEve(
      1,
      `cd "$TUTTI_TEST_FOLDER" && ${claim}; : > done; until [ -e go ]; do sleep 0.05; done; exit 7`,
    );
    stage.turn([[1]]);
    const env = { ...spec.env, TUTTI_TEST_FOLDER: spec.folder };
    stage.client.send({ type: "launch", spec: { ...spec, env } });
    await until("the claim is another one", () => readIdentity(spec.folder, "claim")?.pid === other.pid);
    const before = stage.conductorPid();
    signal(before, "SIGKILL");
    await until("another conductor", () => stage.client.connected && stage.conductorPid() !== before);
    writeFileSync(join(spec.folder, "go"), "");
    expect(await stage.end(1)).toMatchObject({ code: 7 });
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
    // Names with @ lie in no folder, so nobody's rights protect them.
    expect(names.filter((name) => !name.startsWith(stage.home))).toEqual([]);
  });
});

function textOf({ bootId, pid, startTicks }: ProcessIdentity): string {
  return `${bootId}:${pid}:${startTicks}`;
}

function childrenOf({ pid }: ChildProcess): ProcessIdentity[] {
  return allPids().flatMap((one) => (readStat(one)?.parent === pid ? [identityOf(one)!] : []));
}

function groupsOf({ pid }: ProcessIdentity): string {
  return readFileSync(`/proc/${pid}/cgroup`, "utf8");
}
