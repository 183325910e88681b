/**
 * Tests mode concurrent without control groups: it uses a means of lowering priority that has an effect, or
 * else refuses with a clear message.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { allPids, readStat } from "@tutti/host/processes.ts";
import { Background, backgroundMeans } from "@tutti/live/conductor/background.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cpuTicks, Stage, until } from "./stage.ts";

/** Uses a processor, for at most ten seconds of CPU time. */
const BURN = "ulimit -t 10; while :; do :; done";
const ORDINARY = 0;
const IDLE = 5;
const isRoot = process.getuid?.() === 0;

const means = backgroundMeans();

describe.skipIf(means === undefined)("concurrent mode without control groups", () => {
  let s: Stage;
  beforeAll(async () => {
    s = new Stage("signals");
    await s.ready();
  });
  afterEach(() => s.killJobs());
  afterAll(async () => expect(await s.clear()).toEqual([]));

  test("a gang behind one that sleeps runs, and one behind one that burns hardly does", async () => {
    s.turn([[1], [2]], { slotMs: 20 });
    s.launch(1, `until [ -e go ]; do sleep 0.05; done; ${BURN}`);
    s.launch(2, BURN);
    await s.begun(1);
    await s.begun(2);
    s.turn([[1], [2]], { slotMs: 60_000, mode: "concurrent" });
    const [front = 0] = s.processes(1);
    const [behind = 0] = s.processes(2);
    const start = cpuTicks(behind);
    await until("the gang behind runs", () => cpuTicks(behind) > start + 5);
    execFileSync("touch", [join(s.folder, "go")]);
    const asleep = cpuTicks(front);
    await until("the gang of the row burns", () => cpuTicks(front) > asleep + 5);
    const before = [cpuTicks(front), cpuTicks(behind)];
    await until("it has burnt", () => cpuTicks(front) > (before[0] ?? 0) + 60);
    expect(cpuTicks(behind) - (before[1] ?? 0)).toBeLessThan(15);
    // And the other way round.
    s.turn([[2], [1]], { slotMs: 60_000, mode: "concurrent" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const swapped = [cpuTicks(front), cpuTicks(behind)];
    await until("the other has burnt", () => cpuTicks(behind) > (swapped[1] ?? 0) + 60);
    expect(cpuTicks(front) - (swapped[0] ?? 0)).toBeLessThan(15);
  });

  test("a process that made a session of its own is behind with its gang", async () => {
    s.turn([[1], [2]], { slotMs: 20 });
    s.launch(1, BURN);
    s.launch(2, `setsid sh -c '${BURN}' & sleep 60`);
    await s.begun(1);
    await until("it burns", () => s.processes(2).some((pid) => cpuTicks(pid) > 5));
    s.turn([[1], [2]], { slotMs: 60_000, mode: "concurrent" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const [front = 0] = s.processes(1);
    const behind = s.processes(2).find((pid) => cpuTicks(pid) > 5) ?? 0;
    const before = [cpuTicks(front), cpuTicks(behind)];
    await until("the gang of the row has burnt", () => cpuTicks(front) > (before[0] ?? 0) + 60);
    expect(cpuTicks(behind) - (before[1] ?? 0)).toBeLessThan(15);
  });

  test("a gang that must end runs in the foreground until then, whichever gang has the slot", async () => {
    s.turn([[1], [2]], { slotMs: 20 });
    s.launch(1, BURN);
    const onTerm = "n=0; while [ $n -lt 100000 ]; do n=$((n+1)); done; exit 3";
    s.launch(2, `trap '${onTerm}' TERM; echo ready; ${BURN}`, { graceMs: 20_000 });
    await s.begun(1);
    await until("it has its trap", () => s.out(2) === "ready\n");
    s.turn([[1], [2]], { slotMs: 60_000, mode: "concurrent" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    s.client.send({ type: "stop", attempt: s.key(2), kill: false, reason: "cancelled" });
    expect(await s.end(2)).toMatchObject({ code: 3, reason: "cancelled" });
  });
});

describe.skipIf(!isRoot)("the idle class", () => {
  const cpuMount = "/sys/fs/cgroup/cpu";

  test("is what has an effect in a cpu control group, where sessions are not grouped", async ({ skip }) => {
    const group = join(cpuMount, `tutti-test-${process.pid}-${performance.now()}`);
    if (!existsSync(join(cpuMount, "cpu.shares"))) skip();
    mkdirSync(group);
    try {
      const program = `const { backgroundMeans } = await import(${JSON.stringify(here("../../packages/live/conductor/background.ts"))}); console.log(backgroundMeans())`;
      const inGroup = `echo $$ > ${group}/cgroup.procs; exec "$0" "$@"`;
      const node = [process.execPath, "--input-type=module", "-e", program];
      expect(execFileSync("sh", ["-c", inGroup, ...node], { encoding: "utf8" }).trim()).toBe("idle-class");
    } finally {
      // A process that has just ended may still be counted there.
      await until("the group can be removed", () => {
        try {
          rmdirSync(group);
        } catch {}
        return !existsSync(group);
      });
    }
  });

  test("put() moves all processes behind and back, and says when there are too many processes", async () => {
    const child = spawn("sh", ["-c", "sleep 20 & wait"], { stdio: "ignore", detached: true });
    const pids = [child.pid ?? 0];
    await until("there are two", () => {
      const found = allPids().find((pid) => readStat(pid)?.parent === child.pid);
      if (found !== undefined) pids.push(found);
      return pids.length === 2;
    });
    const background = new Background("idle-class", () => pids);
    const all = (policy: number) => pids.every((pid) => readStat(pid)?.policy === policy);
    expect(background.put("1.1", true)).toBe(false);
    await until("they are idle", () => all(IDLE));
    expect(background.put("1.1", true)).toBe(true);
    expect(background.put("1.1", false)).toBe(false);
    await until("they are ordinary", () => all(ORDINARY));
    const crowd = new Background("idle-class", () => Array.from({ length: 257 }, () => pids[0] ?? 0));
    expect(crowd.put("1.1", true)).toBeUndefined();
    process.kill(-(child.pid ?? 0), "SIGKILL");
  });
});

describe.skipIf(!isRoot || !existsSync("/usr/bin/setpriv"))("a user without rights", () => {
  test("is refused concurrent mode with a clear message when the idle class cannot be left", ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-idle-"));
    try {
      chmodSync(folder, 0o777);
      const asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        TUTTI_SOCKET: join(folder, "s", "socket"),
        TUTTI_STATE: join(folder, "state"),
      };
      const options = { encoding: "utf8", cwd: "/", env, timeout: 30_000 } as const;
      const program = here("../../packages/cli/main.ts");
      const may = spawnSync("setpriv", [...asNobody, process.execPath, program, "--version"], options);
      // The user nobody may be unable to read the checkout.
      if (may.status !== 0) skip();
      const serve = ["serve", "--mode", "concurrent", "--no-http"];
      const refused = spawnSync("setpriv", [...asNobody, process.execPath, program, ...serve], options);
      expect(refused.stderr).toContain('Cannot use the mode "concurrent"');
      expect(refused.stderr).toContain("CAP_SYS_NICE");
      expect(refused.status).toBe(66);
      expect(existsSync(join(folder, "state", "conductor"))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
