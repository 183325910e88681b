/**
 * Tests what the machine and jobs can do to a conductor and a shim: no free descriptors, full disks, missing
 * links, threads that outlive the first thread.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { monotonicMs } from "@tutti/host/clock.ts";
import { allPids, readStat } from "@tutti/host/processes.ts";
import { startShim } from "@tutti/live/conductor/attempts/shim.ts";
import { rowAt, slotAt } from "@tutti/live/conductor/clock.ts";
import { openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cpuTicks, isGone, kindsHere, Stage, until } from "./stage.ts";

/** Uses a processor, for at most ten seconds of CPU time. */
const BURN = "ulimit -t 10; while :; do :; done";
const isRoot = process.getuid?.() === 0;

function has(...programs: readonly string[]): boolean {
  const folders = (process.env.PATH ?? "").split(":");
  return programs.every((program) => folders.some((folder) => existsSync(join(folder, program))));
}

/** One conductor for the tests of a group, each with its own jobs. It must leave nothing behind. */
function stageFor(kind?: "signals"): () => Stage {
  let made: Stage;
  beforeAll(async () => {
    made = new Stage(kind);
    await made.ready();
  });
  afterEach(() => made.killJobs());
  afterAll(async () => expect(await made.clear()).toEqual([]));
  return () => made;
}

/** Fills the file system until not one more byte can be written. */
function fill(folder: string): string {
  const path = join(folder, "filler");
  const file = openSync(path, "a");
  for (const size of [2 ** 16, 4096, 1]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size));
    } catch {}
  }
  closeSync(file);
  return path;
}

async function standing(s: Stage, pids: readonly number[]): Promise<void> {
  for (let i = 0; i < 50; i++) if (await s.stands(pids)) return;
  throw new Error("They do not stand still");
}

async function anotherConductor(s: Stage, before: number): Promise<void> {
  await until("another conductor answers", () => s.client.connected && s.conductorPid() !== before);
}

describe("a conductor", () => {
  const here = stageFor();

  test("without file descriptors takes no job for ended, and the next one knows its status", async ({
    skip,
  }) => {
    if (!has("prlimit")) skip();
    const s = here();
    const spec = s.spec(1, ["sh", "-c", "echo ran >> count; until [ -e go ]; do sleep 0.05; done; exit 6"]);
    s.turn([[1]], { slotMs: 20 });
    s.client.send({ type: "launch", spec });
    await until("it runs", () => existsSync(join(s.folder, "count")));
    const before = s.conductorPid();
    // Of a conductor that did not start the shim, so that it must read the folder.
    process.kill(before, "SIGKILL");
    await anotherConductor(s, before);
    const second = s.conductorPid();
    execFileSync("prlimit", ["--pid", String(second), "--nofile=3:1024"]);
    await anotherConductor(s, second);
    expect(s.ends(1)).toEqual([]);
    writeFileSync(join(s.folder, "go"), "");
    expect(await s.end(1)).toMatchObject({ code: 6, reason: "none" });
    expect(readFileSync(join(s.folder, "count"), "utf8")).toBe("ran\n");
  });

  test("that died silently at an open gate does not prevent the start", async () => {
    const s = here();
    s.turn([[]]);
    const spec = s.launch(1, "exit 8");
    const gate = join(spec.folder, "gate");
    await until("the job waits", () => {
      try {
        closeSync(openSync(gate, constants.O_WRONLY | constants.O_NONBLOCK));
        return true;
      } catch {
        return false;
      }
    });
    s.turn([[1]], { slotMs: 20 });
    expect(await s.end(1)).toMatchObject({ code: 8, reason: "none" });
  });

  test("ends a job that has taken away its link, though an earlier conductor started it", async () => {
    const s = here();
    const spec = s.spec(1, ["sh", "-c", 'rm "$0/job" && : > gone; sleep 1000']);
    s.turn([[1]], { slotMs: 20 });
    s.client.send({ type: "launch", spec: { ...spec, command: [...spec.command, spec.folder] } });
    await until("the link is gone", () => existsSync(join(s.folder, "gone")));
    await until("it is known to run", () =>
      s.messages.some((one) => one.type === "launched" && one.attempt.job === spec.job),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = s.conductorPid();
    process.kill(before, "SIGKILL");
    await anotherConductor(s, before);
    s.client.send({ type: "stop", attempt: s.key(1), kill: false, reason: "cancelled" });
    expect(await s.end(1)).toMatchObject({ signal: "SIGTERM", reason: "cancelled" });
    expect(s.processes(1)).toEqual([]);
  });

  test("pins a gang to a CPU that had been away, as one that was off line", async ({ skip }) => {
    const s = here();
    const ours = openContainment(s.home)?.groups.of("cpuset");
    if (ours?.version !== 1 || availableParallelism() < 2) skip();
    else writeFileSync(join(ours.folder, "cpuset.cpus"), "0");
    s.turn([[[1, 1]]], { slotMs: 20 });
    s.launch(1, BURN);
    await s.begun(1);
    const [pid = 0] = s.processes(1);
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    expect(/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1]).toBe("1");
  });

  test("after another length of slots, takes turns at the times that the front end knows", async () => {
    const s = here();
    s.turn([[1], [2]], { slotMs: 20 });
    for (const job of [1, 2]) s.launch(job, BURN);
    await s.begun(1);
    await s.begun(2);
    const epochMs = s.messages.findLast((message) => message.type === "state")?.epochMs ?? 0;
    // Now it is slot 1 of that grid.
    const slotMs = Math.ceil((monotonicMs() - epochMs) / 1.3);
    const rows = [1, 2].map((job) => [{ ...s.key(job), cpus: [0] }]);
    s.client.send({ type: "matrix", matrix: { sequence: 1e6, slotMs, mode: "gang", fromSlot: 0, rows } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const slotNow = () => slotAt(monotonicMs(), epochMs, slotMs);
    let slot: number;
    let stands: readonly boolean[];
    do {
      slot = slotNow();
      stands = await Promise.all([1, 2].map((job) => s.stands(s.processes(job))));
      // Measured again when a slot has just ended.
    } while (slot !== slotNow());
    const inTurn = rowAt(slot, 2);
    expect([stands[inTurn], stands[1 - inTurn]]).toEqual([false, true]);
  });
});

describe.skipIf(!isRoot)("on a disk without room", () => {
  const here = stageFor("signals");

  test("a job whose script does not fit is lost, reports it, and does not count as done", async () => {
    const s = here();
    const spec = s.spec(1, ["sh", "-c", "exit 9"], { env: { PATH: "/bin", LARGE: "x".repeat(100_000) } });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", spec.folder]);
    try {
      s.turn([[1]], { slotMs: 20 });
      s.client.send({ type: "launch", spec });
      const end = await s.end(1);
      expect(end.lost).toContain("ENOSPC");
      expect(end).not.toHaveProperty("code");
      expect(existsSync(join(spec.folder, "launch"))).toBe(false);
    } finally {
      execFileSync("umount", ["-l", spec.folder]);
    }
  });

  test("gangs that cannot be written down run on, and take turns once there is room", async () => {
    const s = here();
    const before = s.conductorPid();
    process.kill(before, "SIGKILL");
    s.client.close();
    const kept = join(s.home, "conductor.log");
    rmSync(kept, { force: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", s.home]);
    try {
      s.client = s.connect();
      await anotherConductor(s, before);
      s.turn([[1], []], { slotMs: 60_000 });
      s.launch(1, BURN);
      await s.begun(1);
      const filler = fill(s.home);
      expect(statfsSync(s.home).bavail).toBe(0);
      const second = s.conductorPid();
      s.turn([[]], { slotMs: 20 });
      const pids = s.processes(1);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await s.stands(pids)).toBe(false);
      rmSync(filler);
      await standing(s, pids);
      expect(s.conductorPid()).toBe(second);
    } finally {
      const last = s.conductorPid();
      await s.killJobs();
      s.client.close();
      process.kill(last, "SIGTERM");
      await until("it has ended", () => isGone(last));
      execFileSync("umount", ["-l", s.home]);
      s.client = s.connect();
      await anotherConductor(s, last);
    }
  });
});

test("startShim() that fails leaves an earlier script as it was: a shim may be about to read it", {
  skip: !isRoot,
}, () => {
  const folder = execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]);
  try {
    writeFileSync(join(folder, "launch"), "exit 0\n");
    const env = { LARGE: "x".repeat(100_000) };
    const files = { folder, cwd: "/", stdout: "/dev/null", stderr: "/dev/null" };
    const spec = {
      job: 1,
      attempt: 1,
      uid: process.getuid!(),
      gid: process.getgid!(),
      command: ["true"],
      env,
      graceMs: 0,
      ...files,
    };
    expect(() => startShim(spec, "mark", undefined)).toThrow("ENOSPC");
    expect(readFileSync(join(folder, "launch"), "utf8")).toBe("exit 0\n");
  } finally {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  }
});

describe("a process with a line end and a parenthesis in its name", () => {
  const here = stageFor("signals");

  test("takes turns, and is continued when its conductor dies", async () => {
    const s = here();
    s.turn([[1]], { slotMs: 20 });
    s.launch(1, `printf 'a\\n) b' > /proc/$$/comm; ${BURN}`);
    await s.begun(1);
    const [pid = 0] = s.processes(1);
    await until("it has its name", () => readFileSync(`/proc/${pid}/comm`, "utf8") === "a\n) b\n");
    s.turn([[]], { slotMs: 20 });
    await standing(s, [pid]);
    s.client.close();
    const before = cpuTicks(pid);
    process.kill(s.conductorPid(), "SIGKILL");
    await until("it goes on", () => cpuTicks(pid) > before, 5000);
    s.client = s.connect();
    await until("the next conductor answers", () => s.client.connected);
  });
});

/** A process whose first thread ends at once while another one computes. The kernel shows it as a zombie. */
const HEADLESS = `
import ctypes, os, platform, resource, threading
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
def burn():
    while True: pass
threading.Thread(target=burn).start()
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
`;

describe.skipIf(!has("python3")).each(kindsHere())("%s: a process without its first thread", (kind) => {
  let s: Stage;
  beforeAll(async () => {
    s = new Stage(kind);
    await s.ready();
  });
  afterAll(async () => expect(await s.clear()).toEqual([]));

  test("takes turns like any other, and is killed", async () => {
    s.turn([[1]], { slotMs: 20 });
    s.client.send({
      type: "launch",
      spec: s.spec(1, ["sh", "-c", 'python3 -c "$0" & wait; sleep 1000', HEADLESS]),
    });
    await s.begun(1);
    const session = readStat(s.processes(1)[0] ?? 0)?.session;
    const headless = () => allPids().filter((pid) => isHeadless(pid) && readStat(pid)?.session === session);
    await until("there is one", () => headless().length === 1);
    const [pid = 0] = headless();
    await until("it burns", () => cpuTicks(pid) > 5);
    s.turn([[]], { slotMs: 20 });
    await standing(s, [pid]);
    s.turn([[1]], { slotMs: 20 });
    const before = cpuTicks(pid);
    await until("it goes on", () => cpuTicks(pid) > before);
    await s.killJobs();
    await until("it is dead", () => !isHeadless(pid), 2000);
  });
});

function isHeadless(pid: number): boolean {
  const stat = readStat(pid);
  return stat?.state === "Z" && stat.threads > 1;
}
