/**
 * Tests what happens to a job whose shim is killed. No part of Tutti kills shims, but an administrator can,
 * and so can the kernel when it is out of memory.
 */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { bootId, isAlive } from "@tutti/host/processes.ts";
import {
  type AttemptFolder,
  blockClaims,
  readClaim,
  readIdentity,
} from "@tutti/live/conductor/attempts/claim.ts";
import { closeGate, isAtGate } from "@tutti/live/conductor/attempts/shim.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Stage, until } from "./stage.ts";

describe("a shim", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = new Stage();
    await stage.ready();
  });
  afterEach(() => stage.killJobs());
  afterAll(async () => expect(await stage.clear()).toEqual([]));

  test("that is killed leaves a lost attempt and nothing of the job", async () => {
    const s = stage;
    s.turn([[1]]);
    s.launch(1, "sleep 60");
    await s.begun(1);
    const launched = s.messages.find((message) => message.type === "launched");
    if (launched === undefined) throw new Error("Not launched");
    expect(isAlive(launched.shim)).toBe(true);
    expect(isAlive({ ...launched.shim, startTicks: launched.shim.startTicks + 1 })).toBe(false);
    process.kill(launched.shim.pid, "SIGKILL");
    const end = await s.end(1);
    expect(end.lost).toContain("without leaving an exit status");
    expect(end.neverBegan).toBeUndefined();
    expect(s.processes(1)).toEqual([]);
  });

  test("killed before the first slot: the job never began, and does not wait on", async () => {
    const s = stage;
    s.turn([[]]);
    const spec = s.launch(1, "echo ran");
    await until("it waits at its gate", () => {
      const job = readIdentity(spec, "job");
      return job !== undefined && isAtGate(job.pid);
    });
    const [shim, job] = [readIdentity(spec, "claim")!, readIdentity(spec, "job")!];
    process.kill(shim.pid, "SIGKILL");
    expect(await s.end(1)).toMatchObject({ lost: expect.stringContaining("shim"), neverBegan: true });
    await until("nobody waits", () => !isAlive(job));
    expect(s.out(1)).toBe("");
  });

  test("whose folder was moved away since still starts the job, in that folder", async () => {
    const s = stage;
    s.turn([[]]);
    const spec = s.launch(1, "echo ran");
    await until("it waits at its gate", () => readIdentity(spec, "job") !== undefined);
    const away = { ...spec, folder: `${spec.folder}.away` };
    renameSync(spec.folder, away.folder);
    rmSync(join(away.folder, "job"));
    const job = spawn("sh", ["launch", "job"], { cwd: away.folder, stdio: "ignore" });
    await until(
      "it has said who it is, or ended",
      () => job.exitCode !== null || readIdentity(away, "job") !== undefined,
    );
    expect(job.exitCode).toBeNull();
    job.kill("SIGKILL");
    renameSync(away.folder, spec.folder);
  });

  test("killed with its conductor as soon as it had claimed: the job never began", async () => {
    const s = stage;
    s.turn([[1]]);
    const spec = s.spec(1, ["sh", "-c", "echo ran"]);
    symlinkSync(`${bootId()}:${process.pid}:1:${spec.identity}`, join(spec.folder, "claim"));
    execFileSync("mkfifo", [join(spec.folder, "gate")]);
    // The process that the shim had started and that was about to wait.
    const waiting = spawn("sh", ["-c", "read -r go < gate; echo $?"], { cwd: spec.folder });
    const ended = new Promise((resolve) => waiting.once("exit", resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    s.client.send({ type: "launch", spec });
    expect(await s.end(1)).toMatchObject({ lost: expect.stringContaining("shim"), neverBegan: true });
    expect(await ended).toBe(0);
    expect(s.out(1)).toBe("");
  });

  test("killed with its conductor when the first process was there: the job may have begun", async () => {
    const s = stage;
    s.turn([[1]]);
    const spec = s.spec(1, ["sh", "-c", "echo ran"]);
    for (const file of ["claim", "job"])
      symlinkSync(`${bootId()}:${process.pid}:1:${spec.identity}`, join(spec.folder, file));
    s.client.send({ type: "launch", spec });
    const end = await s.end(1);
    expect(end.lost).toContain("shim");
    expect(end.neverBegan).toBeUndefined();
  });

  test("of before a reboot: the job may have begun, though no first process reached the disk", async () => {
    const s = stage;
    s.turn([[1]]);
    const spec = s.spec(1, ["sh", "-c", "echo ran"]);
    symlinkSync(`another-boot:${process.pid}:1:${spec.identity}`, join(spec.folder, "claim"));
    s.client.send({ type: "launch", spec });
    const end = await s.end(1);
    expect(end.lost).toContain("shim");
    expect(end.neverBegan).toBeUndefined();
  });

  test("whose claim cannot be found is ended with its job when that is cancelled", async () => {
    const s = stage;
    s.turn([[1]]);
    const spec = s.spec(1, ["sh", "-c", "echo ran"]);
    // The link is made in there.
    mkdirSync(join(spec.folder, "claim"));
    s.client.send({ type: "launch", spec });
    await until("it waits at its gate", () => {
      const job = readIdentity(spec, "job");
      return job !== undefined && isAtGate(job.pid);
    });
    const job = readIdentity(spec, "job")!;
    s.client.send({ type: "stop", attempt: s.key(1), kill: false, reason: "cancelled" });
    expect(await s.end(1)).toMatchObject({ signal: "SIGKILL", reason: "cancelled" });
    await until("nobody waits", () => !isAlive(job));
    expect(s.out(1)).toBe("");
  });

  test("closeGate(): a gate that cannot be removed costs no file descriptor", () => {
    const folder = join(stage.folder, "kept");
    mkdirSync(folder);
    execFileSync("mkfifo", ["-m", "666", join(folder, "gate")]);
    const isRoot = process.getuid!() === 0;
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    if (isRoot) {
      chmodSync(stage.folder, 0o711);
      chownSync(folder, 65534, 65534);
      process.seteuid!(65534);
    }
    try {
      chmodSync(folder, 0o500);
      closeGate({ folder });
    } finally {
      if (isRoot) process.seteuid!(0);
      chmodSync(folder, 0o700);
    }
    expect(readdirSync(folder)).toEqual(["gate"]);
    expect(open()).toBe(before);
  });

  test("blockClaims(): true when nobody has the attempt, also when asked again, and false when somebody may", () => {
    const [unclaimed, claimed, missing] = ["unclaimed", "claimed", "missing"].map((name) => ({
      folder: join(stage.folder, name),
      identity: "0".repeat(32),
    })) as [AttemptFolder, AttemptFolder, AttemptFolder];
    for (const { folder } of [unclaimed, claimed]) mkdirSync(folder);
    expect([blockClaims(unclaimed), blockClaims(unclaimed)]).toEqual([true, true]);
    expect(readClaim(unclaimed)).toEqual({ kind: "none" });
    expect(readClaim({ ...unclaimed, identity: "1".repeat(32) })).toEqual({ kind: "another" });
    symlinkSync("what a job made of it", join(claimed.folder, "claim"));
    expect(blockClaims(claimed)).toBe(false);
    expect(blockClaims(missing)).toBe(false);
  });
});
