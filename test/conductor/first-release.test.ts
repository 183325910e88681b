/**
 * Tests an upgrade: a conductor of the first release keeps running its jobs, and today's conductor starts
 * only after these jobs have ended properly.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAlive, signal } from "../../src/host/processes.ts";
import type { LaunchSpec } from "../../src/protocol/attempts.ts";
import { Stage, until } from "./stage.ts";

const FIRST_RELEASE = "612e222";
const repository = resolve(import.meta.dirname, "../..");
const canRead =
  spawnSync("git", ["-C", repository, "cat-file", "-e", `${FIRST_RELEASE}^{commit}`]).status === 0;

describe.skipIf(!canRead)("a conductor of the first release", () => {
  let sources: string;
  let stage: Stage;
  beforeAll(async () => {
    sources = mkdtempSync(join(tmpdir(), "tutti-first-"));
    const archive = execFileSync("git", ["-C", repository, "archive", FIRST_RELEASE, "src", "package.json"], {
      maxBuffer: 2 ** 28,
    });
    execFileSync("tar", ["-x", "-C", sources], { input: archive });
    symlinkSync(join(repository, "node_modules"), join(sources, "node_modules"));
    stage = new Stage();
  });
  afterAll(async () => {
    expect(await stage.clear()).toEqual([]);
    rmSync(sources, { recursive: true, force: true });
  });

  /** Replaces today's conductor, which the stage has started, by the old one. */
  async function startOld(s: Stage): Promise<void> {
    s.client.close();
    await s.stopConductor();
    const log = openSync(join(s.home, "conductor.log"), "a");
    spawn(process.execPath, [join(sources, "src/daemon/conductor/main.ts"), s.home], {
      cwd: "/",
      detached: true,
      stdio: ["ignore", log, log],
    }).unref();
    await until("the old one listens", () => existsSync(join(s.home, "socket")));
    s.messages.length = 0;
    s.client = s.connect(false);
    await until("the old one answers", () => s.client.connected);
    expect(s.messages).toMatchObject([{ type: "state" }]);
    expect(s.messages[0]).not.toHaveProperty("protocol");
  }

  test("is spoken to in its protocol; its jobs end with their exact status, under it and under today's after it", async () => {
    const s = stage;
    await s.ready();
    expect(s.messages.find(({ type }) => type === "state")).toMatchObject({ protocol: 2 });
    await startOld(s);
    const old = s.conductorPid();
    s.turn([[1, [2, 1]]]);
    const launch = (job: number): LaunchSpec =>
      s.launch(job, `echo ran >> ran${job}; until [ -e go${job} ]; do sleep 0.05; done; exit ${40 + job}`);
    for (const job of [1, 2]) {
      launch(job);
      await s.begun(job);
    }
    // It does not know this message, and the client does not send it.
    s.client.send({ type: "keep", attempt: s.key(1) });
    writeFileSync(join(s.folder, "go1"), "");
    const end = await s.end(1);
    expect(end).toMatchObject({ code: 41, reason: "none" });
    expect(end).not.toHaveProperty("identity");
    expect(s.messages.filter(({ type }) => type === "refused")).toEqual([]);
    const { attempts } = JSON.parse(readFileSync(join(s.home, "state.json"), "utf8"));
    expect(attempts[0].spec).not.toHaveProperty("identity");

    signal(old, "SIGKILL");
    s.client.close();
    s.client = s.connect();
    await until("today's answers", () => s.client.connected && s.conductorPid() !== old);
    const state = s.messages.findLast(({ type }) => type === "state");
    expect(state).toMatchObject({ protocol: 2 });
    writeFileSync(join(s.folder, "go2"), "");
    expect(await s.end(2)).toMatchObject({ code: 42, reason: "none" });
    for (const job of [1, 2]) expect(readFileSync(join(s.folder, `ran${job}`), "utf8")).toBe("ran\n");
  });

  test("can read what today's conductor left, and the job continues", async () => {
    const s = stage;
    await s.ready();
    s.turn([[3]]);
    s.launch(3, "echo ran >> ran3; until [ -e go3 ]; do sleep 0.05; done; exit 43");
    await s.begun(3);
    const shim = s.messages.findLast((message) => message.type === "launched")!.shim;
    await startOld(s);
    const state = s.messages.findLast((message) => message.type === "state")!;
    expect(state.attempts.find(({ job }) => job === s.key(3).job)).toMatchObject({ phase: "running", shim });
    expect(isAlive(shim)).toBe(true);
    const old = s.conductorPid();
    signal(old, "SIGKILL");
    s.client.close();
    s.client = s.connect();
    await until("today's answers", () => s.client.connected && s.conductorPid() !== old);
    writeFileSync(join(s.folder, "go3"), "");
    expect(await s.end(3)).toMatchObject({ code: 43, identity: s.identity(3) });
    expect(readFileSync(join(s.folder, "ran3"), "utf8")).toBe("ran\n");
  });
});
