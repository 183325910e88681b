/** What becomes of a job whose shim is killed, which no part of Tutti does but any administrator, or the kernel out of memory, can. */
import { execFileSync, spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bootId, isAlive } from "./processes.ts";
import { isAtGate, readIdentity } from "./shim.ts";
import { Stage, until } from "./stage-for-tests.ts";

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
    const launched = s.heard.find((message) => message.type === "launched");
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
    const { folder } = s.launch(1, "echo ran");
    await until("it waits at its gate", () => {
      const job = readIdentity(folder, "job");
      return job !== undefined && isAtGate(job.pid);
    });
    const [shim, job] = [readIdentity(folder, "claim")!, readIdentity(folder, "job")!];
    process.kill(shim.pid, "SIGKILL");
    expect(await s.end(1)).toMatchObject({ lost: expect.stringContaining("shim"), neverBegan: true });
    await until("nobody waits", () => !isAlive(job));
    expect(s.out(1)).toBe("");
  });

  test("killed with its conductor as soon as it had claimed: the job never began", async () => {
    const s = stage;
    s.turn([[1]]);
    const spec = s.spec(1, ["sh", "-c", "echo ran"]);
    symlinkSync(`${bootId()}:${process.pid}:1`, join(spec.folder, "claim"));
    execFileSync("mkfifo", [join(spec.folder, "gate")]);
    // What the shim had started, about to wait.
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
    for (const file of ["claim", "job"]) symlinkSync(`${bootId()}:${process.pid}:1`, join(spec.folder, file));
    s.client.send({ type: "launch", spec });
    const end = await s.end(1);
    expect(end.lost).toContain("shim");
    expect(end.neverBegan).toBeUndefined();
  });
});
