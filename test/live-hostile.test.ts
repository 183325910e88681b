/**
 * Runs a real scheduler on a hostile machine: stepped clocks, reused pids, a fork bomb, several schedulers
 * started at once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { allPids, readStat, signal } from "@tutti/host/processes.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const DAY_MS = 86_400_000;
const LAST_PID = "/proc/sys/kernel/ns_last_pid";
const BOMB_PROCESSES = 1000;
const ALL_CPUS = cpus().length;
const BURN = "ulimit -t 30; while :; do :; done";

let s: LiveScheduler;
const strangers: ChildProcess[] = [];

beforeEach(() => {
  s = new LiveScheduler();
});
afterEach(async () => {
  await s.clear();
  // Each has its own group.
  for (const { pid } of strangers.splice(0)) if (pid !== undefined) process.kill(-pid, "SIGKILL");
});

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

describe("the wall clock is set", () => {
  test.each([
    ["a day forward", DAY_MS],
    ["two days back", -2 * DAY_MS],
  ])(
    "%s: gangs take turns, limits count running time, the past can be shown, also after kill -9 of both",
    async (_, stepMs) => {
      const clock = join(s.folder, "clock");
      writeFileSync(clock, "0");
      s.env.TUTTI_TEST_CLOCK = clock;
      s.env.NODE_OPTIONS = `--import=${new URL("./stepped-clock.ts", import.meta.url)}`;
      await s.start();
      const two = async () => {
        const limited = await s.submit(BURN, { tasks: ALL_CPUS, limitMs: 1500 });
        const other = await s.submit("sleep 1; exit 5", { tasks: ALL_CPUS });
        await s.running(limited);
        await s.running(other);
        return [limited, other] as const;
      };
      const check = async ([limited, other]: readonly [number, number]): Promise<Job> => {
        const end = await s.client.ended(limited);
        expect(end).toMatchObject({ state: "failed", reason: "time limit", attempt: 1 });
        expect(end.ranMs).toBeGreaterThanOrEqual(1500);
        expect(end.ranMs).toBeLessThan(60_000);
        expect(await s.client.ended(other)).toMatchObject({ state: "failed", code: 5, attempt: 1 });
        return end;
      };
      const before = await two();
      writeFileSync(clock, String(stepMs));
      const { startedAtMs = 0, endedAtMs = 0 } = await check(before);
      // Both of them see the step.
      expect(Math.abs(endedAtMs - startedAtMs - stepMs)).toBeLessThan(DAY_MS / 2);
      const across = await two();
      writeFileSync(clock, "0");
      await s.killBoth();
      await s.start();
      await check(across);
      for (const words of [
        ["jobs", "--ended"],
        ["jobs", "--all"],
        ["whatif"],
        ["why", String(across[0])],
        ["events"],
      ]) {
        expect(await startTutti(s.socket, words).result).toMatchObject({ status: 0, stderr: "" });
      }
      const file = join(s.folder, "ran.swf");
      expect((await startTutti(s.socket, ["export", "-o", file]).result).status).toBe(0);
      const { stdout, status } = await startTutti(s.socket, ["simulate", file, "--policy", "easy", "--json"])
        .result;
      expect([status, JSON.parse(stdout).workload.jobs]).toEqual([0, 4]);
    },
  );
});

describe("a pid is used again", () => {
  test("strangers that have the pids of a job and of its shim are neither stopped nor killed; the job is lost, in words", async ({
    skip,
  }) => {
    if (!mayWrite(LAST_PID)) skip("only root may choose the next pid");
    await s.start();
    const job = await s.submit(BURN);
    await s.running(job);
    const pids = [s.pidOf(job, "claim"), s.pidOf(job, "job")];
    expect(pids.every((pid) => s.leftovers.ofJobs().includes(pid))).toBe(true);
    await s.killBoth();
    for (const pid of s.leftovers.ofJobs()) signal(pid, "SIGKILL");
    await until(() => pids.every((pid) => !allPids().includes(pid)));
    await takePids(pids);
    const startTicks = pids.map((pid) => readStat(pid)?.startTicks);
    await s.start();
    expect(await s.client.ended(job)).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/^lost/),
    });
    const next = await s.submit("exit 4");
    expect(await s.client.ended(next)).toMatchObject({ code: 4 });
    await startTutti(s.socket, ["down", "--kill"]).result;
    for (const [i, pid] of pids.entries()) {
      expect(readStat(pid)).toMatchObject({ state: "S", startTicks: startTicks[i] });
    }
  });

  /** Starts processes that get exactly these pids. */
  async function takePids(pids: readonly number[]): Promise<void> {
    const script = `for pid; do
        i=0
        while [ $i -lt 1000 ]; do
          i=$((i + 1)); echo $((pid - 1)) > ${LAST_PID}; sleep 600 &
          [ $! = $pid ] && break
          kill $!; wait $!
        done
        echo $!
      done
      wait`;
    const shell = spawn("sh", ["-c", script, "sh", ...pids.map(String)], {
      cwd: "/",
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    strangers.push(shell);
    let taken = "";
    shell.stdout.on("data", (piece) => {
      taken += piece;
    });
    await until(() => taken.split("\n").length > pids.length);
    expect(taken).toBe(`${pids.join("\n")}\n`);
  }
});

describe("a fork bomb", () => {
  test("without end fills what its job may have and no more; others run and end right, and cancel leaves nothing of it", async ({
    skip,
  }) => {
    await s.start();
    const go = join(s.folder, "go");
    const never = join(s.folder, "never");
    // A shell that may not fork ends. The first one needs no fork to wait, so the job does not end by itself.
    const bomb = await s.submit(
      `mkfifo '${never}'; until [ -e '${go}' ]; do sleep 0.05; done; bomb() { bomb | bomb & bomb; }; bomb & read _ < '${never}'`,
    );
    await s.running(bomb);
    const group = s.leftovers
      .groups()
      .find((one) => one.endsWith(`/${bomb}.1`) && mayWrite(join(one, "pids.max")));
    if (group === undefined)
      skip("without a control group that counts processes it would take the machine with it");
    const most = (file: string) => Number(readFileSync(`/proc/sys/kernel/${file}`, "latin1"));
    const limit = Number(readFileSync(join(group!, "pids.max"), "latin1"));
    expect(limit).toBeLessThanOrEqual(Math.min(most("pid_max"), most("threads-max")) / 2);
    // The same fork bomb, but smaller, for the sake of other users of this machine.
    writeFileSync(join(group!, "pids.max"), String(BOMB_PROCESSES));
    writeFileSync(go, "");
    const size = () => Number(readFileSync(join(group!, "pids.current"), "latin1"));
    let largest = 0;
    await until(() => {
      largest = Math.max(largest, size());
      return largest >= BOMB_PROCESSES - 10;
    });
    const others = await Promise.all([3, 4, 5].map((code) => s.submit(`exit ${code}`)));
    for (const [i, job] of others.entries()) expect(await s.client.ended(job)).toMatchObject({ code: 3 + i });
    const conductor = await s.conductorPid();
    await s.cancel(bomb);
    // Without waiting for the grace time.
    await s.cancel(bomb);
    expect(await s.client.ended(bomb)).toMatchObject({ state: "cancelled" });
    expect(s.leftovers.ofJobs()).toEqual([]);
    expect(await s.conductorPid()).toBe(conductor);
    console.log(JSON.stringify({ largest, left: 0 }));
  });
});

describe("a conductor that hangs", () => {
  test("jobs of all rows run to their ends, which it reports when it continues, and then gangs take turns", async () => {
    await s.start();
    const go = join(s.folder, "go");
    const done = (code: number) => join(s.folder, `done${code}`);
    const script = (code: number) => `until [ -e '${go}' ]; do :; done; touch '${done(code)}'; exit ${code}`;
    const conductor = await s.conductorPid();
    const burner = await s.submit(BURN, { tasks: ALL_CPUS });
    await s.running(burner);
    process.kill(conductor, "SIGSTOP");
    // Acknowledged, but not launched while the conductor hangs.
    const late = await s.submit("exit 9", { tasks: ALL_CPUS });
    process.kill(conductor, "SIGCONT");
    expect(await s.client.ended(late)).toMatchObject({ code: 9, attempt: 1 });
    const jobs = await Promise.all([3, 4].map((code) => s.submit(script(code), { tasks: ALL_CPUS })));
    for (const job of jobs) await s.running(job);
    process.kill(conductor, "SIGSTOP");
    writeFileSync(go, "");
    await until(() => [3, 4].every((code) => existsSync(done(code))));
    expect(readStat(conductor)?.state).toBe("T");
    process.kill(conductor, "SIGCONT");
    for (const [i, job] of jobs.entries())
      expect(await s.client.ended(job)).toMatchObject({ code: 3 + i, attempt: 1 });
    expect((await startTutti(s.socket, ["events"]).result).stdout).toMatch(/conductor hung/);
    expect(await s.job(burner)).toMatchObject({ state: "running", attempt: 1 });
    expect(await s.conductorPid()).toBe(conductor);
  });
});

describe("several started together", () => {
  test("one serves, the others say so in words, and so again after kill -9, with lock and socket left behind; no job is lost", async () => {
    const acknowledged: number[] = [];
    for (let round = 0; round < 3; round++) {
      const all = Array.from({ length: 5 }, () =>
        startTutti(s.socket, ["serve", "--private", "--no-http", "--state", s.state]),
      );
      await until(() =>
        all.every(({ child, stdout }) => stdout().includes("help:") || child.exitCode !== null),
      );
      const serving = all.filter(({ child }) => child.exitCode === null);
      expect(serving).toHaveLength(1);
      for (const one of all) {
        if (one === serving[0]) continue;
        const { status, stderr } = await one.result;
        expect([status, stderr]).toEqual([66, expect.stringMatching(/^tutti: Cannot .*(another|already)/)]);
      }
      const client = new Client({ TUTTI_SOCKET: s.socket });
      const body = { jobs: [{ command: ["sh", "-c", `exit ${round}`], cwd: "/", env: {} }] };
      const { jobs } = await client.ask<{ jobs: Job[] }>("/v1/jobs", { method: "POST", body });
      acknowledged.push(jobs[0].job);
      serving[0].child.kill("SIGKILL");
      await serving[0].result;
    }
    await s.start();
    expect(acknowledged).toEqual([1, 2, 3]);
    for (const [code, job] of acknowledged.entries()) {
      expect(await s.client.ended(job)).toMatchObject({ code, attempt: 1 });
    }
  });
});
