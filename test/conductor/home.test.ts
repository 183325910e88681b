/**
 * Removes the conductor's socket, or its whole folder, while jobs run, and checks that the conductor remains
 * the only one and that front ends find it again.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allPids, readSmall, readStat, signal } from "@tutti/host/processes.ts";
import { ConductorClient, startConductor } from "@tutti/live/conductor/client.ts";
import { titleOf } from "@tutti/live/conductor/home.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cpuTicks, Stage, until } from "./stage.ts";

/** Uses a processor, for at most ten seconds of CPU time. */
const BURN = "ulimit -t 10; while :; do :; done";

describe("a conductor whose folder is removed", () => {
  let s: Stage;
  beforeAll(async () => {
    // This freezer has the most files in that folder.
    s = new Stage("signals");
    await s.ready();
  });
  afterEach(() => s.killJobs());
  afterAll(async () => expect(await s.clear()).toEqual([]));

  const conductors = () =>
    allPids().filter((pid) => readSmall(`/proc/${pid}/cmdline`)?.replace(/\0+$/, "") === titleOf(s.home));
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  /** Retries, because the conductor may just be writing into the folder. */
  const removeHome = () => rmSync(s.home, { recursive: true, maxRetries: 20, retryDelay: 1 });

  test("listens again when its socket is removed, while its front end stays connected", async () => {
    const pid = s.conductorPid();
    const path = join(s.home, "socket");
    rmSync(path);
    await until("it is there again", () => existsSync(path), 5000);
    expect(modeOf(path)).toBe(0o600);
    const other = createConnection(path);
    await new Promise((resolve, reject) => other.once("connect", resolve).once("error", reject));
    other.destroy();
    expect([s.conductorPid(), s.client.connected]).toEqual([pid, true]);
  });

  test("continues alone, with its jobs, and the next front end finds it", async () => {
    s.turn([[1]]);
    s.launch(1, "until [ -e go ]; do sleep 0.05; done; exit 6");
    await s.begun(1);
    const pid = s.conductorPid();
    s.client.close();
    removeHome();
    // At once, before the conductor has noticed, as the next front end may do.
    mkdirSync(s.home, { mode: 0o700 });
    const second = startConductor(s.home, "signals");
    s.messages.length = 0;
    s.client = s.connect();
    await until("it is answered", () => s.client.connected);
    await until("the second one has ended", () => second.exitCode !== null);
    expect(second.exitCode).toBe(3);
    expect([s.conductorPid(), conductors()]).toEqual([pid, [pid]]);
    const state = s.messages.find((message) => message.type === "state")!;
    expect(state.attempts).toMatchObject([{ ...s.key(1), phase: "running" }]);
    expect([s.home, join(s.home, "socket")].map(modeOf)).toEqual([0o700, 0o600]);
    // No other conductor can start next to it either.
    const third = startConductor(s.home, "signals");
    await until("the third one has ended", () => third.exitCode !== null);
    expect(third.exitCode).toBe(3);
    // And the state that it has saved is there for the next conductor.
    signal(pid, "SIGKILL");
    await until("the next one answers", () => s.client.connected && s.conductorPid() !== pid);
    writeFileSync(join(s.folder, "go"), "");
    expect(await s.end(1)).toMatchObject({ code: 6 });
  });

  test("has what it stopped continued when it is killed then", async () => {
    s.turn([[1]], { slotMs: 20 });
    s.launch(1, BURN);
    await s.begun(1);
    s.turn([[]], { slotMs: 20 });
    const pids = s.processes(1);
    await until("it stands", () => pids.every((pid) => readStat(pid)?.state === "T"));
    removeHome();
    await until("the folder is there again", () => existsSync(join(s.home, "socket")), 5000);
    s.client.close();
    const before = pids.map(cpuTicks);
    signal(s.conductorPid(), "SIGKILL");
    await until("it goes on", () => pids.every((pid, i) => cpuTicks(pid) > (before[i] ?? 0)), 5000);
    s.client = s.connect();
    await s.ready();
  });
});

test("one that waits for the folder ends with the conductor that its front end asks to end", async () => {
  const home = mkdtempSync(join(tmpdir(), "tutti-home-"));
  const named = () => allPids().filter((pid) => readSmall(`/proc/${pid}/cmdline`)?.includes(home));
  const script = 'exec -a "$1" sleep 1000';
  const older = spawn("bash", ["-c", script, "bash", titleOf(home)], { stdio: "ignore" });
  const server = createServer((socket) => {
    const state = { type: "state", protocol: 3, attempts: [], sequence: 0, pid: older.pid, epochMs: 0 };
    socket.once("data", () => socket.write(`${JSON.stringify(state)}\n`));
  });
  try {
    await until("it has its title", () => named().length === 1);
    const client = new ConductorClient({ home, name: "test", freezer: "signals" });
    await until("the front end has started another one", () => named().length > 1);
    server.listen(join(home, "socket"));
    await until("the older one has answered", () => client.connected);
    client.send({ type: "shutdown", killJobs: true });
    client.close();
    older.kill("SIGKILL");
    // Left alone, it would end after a minute.
    await until("none is left", () => named().length === 0, 30_000);
  } finally {
    server.close();
    for (const pid of named()) signal(pid, "SIGKILL");
    rmSync(home, { recursive: true, force: true });
  }
});
