/**
 * Tests what conductor and shim do with jobs, with real processes, for every kind of freezer that works here.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { dirname, join } from "node:path";
import { readStat } from "@tutti/host/processes.ts";
import { startShim } from "@tutti/live/conductor/attempts/shim.ts";
import type { FreezerKind } from "@tutti/protocol/attempts.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cpuTicks, isGone, kindsHere, Stage, until } from "./stage.ts";

/** Uses a processor, for at most ten seconds of CPU time. */
const BURN = "ulimit -t 10; while :; do :; done";

/** One conductor for the tests of a group, each with its own jobs. It must leave nothing behind. */
function stageFor(kind?: FreezerKind): () => Stage {
  let made: Stage;
  beforeAll(async () => {
    made = new Stage(kind);
    await made.ready();
  });
  afterEach(() => made.killJobs());
  afterAll(async () => expect(await made.clear()).toEqual([]));
  return () => made;
}

describe("a job", () => {
  const here = stageFor();

  test("ends with its own status: code, high code, signal; and what it wrote is in its files", async () => {
    const s = here();
    s.turn([[1], [2], [3], [4]], { slotMs: 20 });
    s.launch(1, "echo hello; echo oops >&2; exit 7");
    s.launch(2, "exit 137");
    s.launch(3, "kill -KILL $$");
    s.launch(4, "kill -TERM 0");
    expect(await s.end(1)).toMatchObject({ code: 7, reason: "none" });
    expect(await s.end(2)).toMatchObject({ code: 137, reason: "none" });
    expect(await s.end(3)).toMatchObject({ signal: "SIGKILL", reason: "none" });
    expect(await s.end(4)).toMatchObject({ signal: "SIGTERM", reason: "none" });
    for (const job of [1, 2, 3, 4]) expect(s.ends(job)).toHaveLength(1);
    expect(s.out(1)).toBe("hello\n");
    expect(readFileSync(join(s.folderOf(1), "err"), "utf8")).toBe("oops\n");
  });

  test("that cannot start is lost, and the message says why", async () => {
    const s = here();
    s.turn([[1, [2, 1]], [3], [4]], { slotMs: 20 });
    // Nobody can make a folder in a file.
    const missing = join(s.folder, "file", "folder");
    writeFileSync(dirname(missing), "");
    for (const spec of [
      s.spec(1, ["no-such-program"]),
      s.spec(2, ["true"], { cwd: missing }),
      s.spec(3, ["true"], { stdout: join(missing, "out") }),
      { ...s.spec(4, ["true"]), folder: missing },
    ]) {
      s.client.send({ type: "launch", spec });
    }
    expect((await s.end(1)).lost).toContain('Cannot run "no-such-program"');
    expect((await s.end(2)).lost).toContain(`Cannot change to the folder "${missing}"`);
    expect((await s.end(3)).lost).toContain(`Cannot write output to "${missing}/out"`);
    expect((await s.end(4)).lost).toContain(missing);
    for (const job of [1, 2, 3, 4]) expect(await s.end(job)).not.toHaveProperty("code");
  });

  test("whose output is to go into a pipe that nobody reads is lost at once, and one into a device runs", async () => {
    const s = here();
    s.turn([[1, [2, 1]], [3]], { slotMs: 20 });
    const pipe = join(s.folder, "a 'pipe");
    execFileSync("mkfifo", [pipe]);
    s.client.send({ type: "launch", spec: s.spec(1, ["true"], { stdout: pipe }) });
    s.client.send({ type: "launch", spec: s.spec(2, ["true"], { stderr: pipe }) });
    s.client.send({
      type: "launch",
      spec: s.spec(3, ["true"], { stdout: "/dev/null", stderr: "/dev/null" }),
    });
    for (const job of [1, 2]) {
      const end = await s.end(job);
      expect(end.lost).toContain(`Cannot write to "${pipe}": it is a pipe`);
      expect(end).not.toHaveProperty("code");
    }
    expect(await s.end(3)).toMatchObject({ code: 0 });
  });

  test("gets its environment and arguments to the byte, and its working folder", async () => {
    const s = here();
    s.turn([[1]]);
    const odd = 'it\'s "$HOME" `x`\n\\ 日本';
    const env = { PATH: process.env.PATH ?? "", ODD: odd, "BASH_FUNC_f%%": "() { echo f; }", OPTIND: "x" };
    const print = "process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))";
    const command = [process.execPath, "-e", print, "--", odd, "", "-n", "*"];
    s.client.send({ type: "launch", spec: s.spec(1, command, { env }) });
    expect(await s.end(1)).toMatchObject({ code: 0 });
    const [words, got, cwd] = JSON.parse(s.out(1));
    expect(words).toEqual([odd, "", "-n", "*"]);
    expect(got).toMatchObject({ ODD: odd, "BASH_FUNC_f%%": "() { echo f; }", PATH: env.PATH });
    expect(cwd).toBe(s.folder);
    expect(existsSync(join(s.folderOf(1), "launch"))).toBe(false);
  });

  test("launched three times, and by two shims besides, runs once", async () => {
    const s = here();
    const spec = s.spec(1, ["sh", "-c", 'echo ran >> "$0"; sleep 0.3', join(s.folder, "count")]);
    const shims = [0, 1].map(() => {
      startShim(spec, "other", undefined);
      return startShim(spec, "other", undefined);
    });
    expect(shims).toHaveLength(2);
    for (let i = 0; i < 3; i++) s.client.send({ type: "launch", spec });
    s.turn([[1]]);
    for (let i = 0; i < 3; i++) s.client.send({ type: "launch", spec });
    expect(await s.end(1)).toMatchObject({ code: 0 });
    s.client.send({ type: "launch", spec });
    await until("the end is reported again", () => s.ends(1).length >= 2);
    s.client.send({ type: "forget", attempt: s.key(1) });
    s.client.send({ type: "launch", spec });
    await until("the end is reported once more", () => s.ends(1).length >= 3);
    expect(readFileSync(join(s.folder, "count"), "utf8")).toBe("ran\n");
  });

  test("of another user runs as that user, with output opened as that user", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip();
    const { chmodSync, chownSync, mkdirSync } = await import("node:fs");
    const s = here();
    chmodSync(s.folder, 0o711);
    s.turn([[1], [2]], { slotMs: 20 });
    for (const job of [1, 2]) {
      const spec = s.spec(job, ["id", "-u"], { uid: 65534, gid: 65534, cwd: "/" });
      chownSync(spec.folder, 65534, 65534);
      mkdirSync(join(s.folder, "private"), { recursive: true, mode: 0o700 });
      const stdout = job === 1 ? spec.stdout : join(s.folder, "private", "out");
      s.client.send({ type: "launch", spec: { ...spec, stdout } });
    }
    expect(await s.end(1)).toMatchObject({ code: 0 });
    expect(s.out(1)).toBe("65534\n");
    expect((await s.end(2)).lost).toContain("Cannot write output");
  });

  test("does not begin before its row has a slot, and is stopped while it is in no row", async () => {
    const s = here();
    s.launch(1, `echo begun; ${BURN}`);
    await until("it waits at its gate", () => existsSync(join(s.folderOf(1), "gate")));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(s.out(1)).toBe("");
    s.turn([[1]]);
    await s.begun(1);
    await until("it runs", () => s.out(1) === "begun\n" && s.processes(1).length === 1);
    s.turn([[]]);
    await until("it stands", () => s.messages.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await s.stands(s.processes(1))).toBe(true);
  });

  test("that is stopped at its gate never began", async () => {
    const s = here();
    s.launch(1, "echo begun");
    await until("it waits at its gate", () => existsSync(join(s.folderOf(1), "gate")));
    s.client.send({ type: "stop", attempt: s.key(1), kill: false, reason: "requeued" });
    expect(await s.end(1)).toMatchObject({ reason: "requeued", signal: "SIGKILL", neverBegan: true });
    expect(await s.end(1)).not.toHaveProperty("startedAtMs");
    expect(s.out(1)).toBe("");
  });

  test("100 MB of output pass the conductor by", async () => {
    const s = here();
    s.turn([[1]]);
    await until("it rests", () => s.client.connected);
    const before = residentKiB(s.conductorPid());
    s.launch(1, "head -c 100000000 /dev/zero");
    expect(await s.end(1)).toMatchObject({ code: 0 });
    expect(statSync(join(s.folderOf(1), "out")).size).toBe(100_000_000);
    expect(residentKiB(s.conductorPid()) - before).toBeLessThan(40_000);
  });

  test("above its memory limit is killed as a whole, and the end says why", async ({ skip }) => {
    const s = here();
    if (!existsSync("/sys/fs/cgroup/memory") && !existsSync("/sys/fs/cgroup/cgroup.controllers")) skip();
    s.turn([[1]]);
    s.launch(1, "sleep 60 & x=$(head -c 200000000 /dev/zero | tr '\\0' a); sleep 60", {
      memoryBytes: 30_000_000,
    });
    expect(await s.end(1)).toMatchObject({ reason: "memory-limit" });
    expect(s.processes(1)).toEqual([]);
  });

  test("has the rest of a slot whose gangs have ended", async () => {
    const s = here();
    // The present slot and the next ones last a minute each.
    s.turn([[1], [2], [3]], { slotMs: 60_000 });
    s.launch(1, "sleep 0.2; exit 1");
    s.launch(2, "sleep 0.2; exit 2");
    s.launch(3, "exit 3");
    for (const job of [1, 2, 3]) expect(await s.end(job)).toMatchObject({ code: job });
    const [one, two] = [await s.end(1), await s.end(2)];
    // Not at the same time as the gang whose slot it is.
    expect(two.endedAtMs - one.endedAtMs).toBeGreaterThanOrEqual(190);
  });

  test("in mode concurrent runs on in the slots of a gang that sleeps, and not in mode gang", async () => {
    const s = here();
    s.turn([[1], [2]], { slotMs: 20 });
    s.launch(1, "sleep 60");
    s.launch(2, BURN);
    await s.begun(1);
    await s.begun(2);
    // Now it is the first row's slot, for up to a minute.
    s.turn([[1], [2]], { slotMs: 60_000, mode: "concurrent" });
    const [pid = 0] = s.processes(2);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const before = cpuTicks(pid);
    await until("the second row's gang goes on", () => cpuTicks(pid) > before + 5);
    s.turn([[1], [2]], { slotMs: 50_000, mode: "gang" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await s.stands([pid])).toBe(true);
  });
});

describe.each(kindsHere())("%s", (kind) => {
  const here = stageFor(kind);

  test("two gangs take turns, and each has half of the processor", async () => {
    const s = here();
    s.turn([[1], [2]], { slotMs: 50 });
    for (const job of [1, 2]) s.launch(job, BURN);
    await s.begun(1);
    await s.begun(2);
    const [one = 0, other = 0] = [s.processes(1)[0], s.processes(2)[0]];
    const before = [cpuTicks(one), cpuTicks(other)];
    await until("both have worked", () => cpuTicks(one) + cpuTicks(other) > 120);
    const used = [cpuTicks(one) - (before[0] ?? 0), cpuTicks(other) - (before[1] ?? 0)];
    const share = (used[0] ?? 0) / ((used[0] ?? 0) + (used[1] ?? 0));
    // A wide range, because the machine has other work; bench/live.ts measures exactly.
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.7);
  });

  test("cancelled, a job that ignores TERM and whose children left its session is killed as a whole", async () => {
    const s = here();
    s.turn([[1]]);
    s.launch(1, "trap '' TERM; setsid sh -c 'sleep 60 & sleep 60' & sleep 60 & sleep 60; sleep 60");
    await s.begun(1);
    await until("all are there", () => s.processes(1).length >= 5);
    s.client.send({ type: "stop", attempt: s.key(1), kill: false, reason: "cancelled" });
    expect(await s.end(1)).toMatchObject({ signal: "SIGKILL", reason: "cancelled" });
    expect(s.processes(1)).toEqual([]);
  });

  test("a job that is stopped receives TERM at once", async () => {
    const s = here();
    s.turn([[1], []], { slotMs: 20 });
    s.launch(1, "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done", {
      graceMs: 20_000,
    });
    await until("it is ready", () => s.out(1) === "ready\n");
    s.turn([[], []]);
    s.client.send({ type: "stop", attempt: s.key(1), kill: false, reason: "requeued" });
    expect(await s.end(1)).toMatchObject({ code: 3, reason: "requeued" });
    expect(s.out(1)).toBe("ready\nbye\n");
  });

  test("what a job leaves behind ends with it", async () => {
    const s = here();
    s.turn([[1]]);
    s.launch(1, "(sleep 60 &) ; setsid sleep 60 & sleep 0.2; exit 5");
    expect(await s.end(1)).toMatchObject({ code: 5, reason: "none" });
    expect(s.processes(1)).toEqual([]);
  });

  test("a time limit counts the time of the job's own slots", async () => {
    const s = here();
    s.turn([[1], [2], [2]], { slotMs: 40 });
    s.launch(1, BURN, { limitMs: 300, graceMs: 20_000 });
    s.launch(2, "sleep 60");
    const startMs = performance.now();
    const end = await s.end(1);
    expect(end).toMatchObject({ reason: "time-limit", signal: "SIGTERM" });
    expect(end.ranMs).toBeGreaterThanOrEqual(300);
    // One of three slots is its own.
    expect(performance.now() - startMs).toBeGreaterThan(2 * 300);
  });

  test("kill -9 of the conductor: all stopped jobs run within two seconds, even if no other conductor starts", async () => {
    const s = here();
    s.turn([[], [1], [2]], { slotMs: 20 });
    for (const job of [1, 2]) s.launch(job, BURN);
    await s.begun(1);
    await s.begun(2);
    s.turn([[]]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const pids = s.processes();
    expect(pids).toHaveLength(2);
    expect(await s.stands(pids)).toBe(true);
    s.client.close();
    const before = pids.map(cpuTicks);
    process.kill(s.conductorPid(), "SIGKILL");
    await until("both go on", () => pids.every((pid, i) => cpuTicks(pid) > (before[i] ?? 0)), 2000);
    s.client = s.connect();
    await until("the next conductor answers", () => s.client.connected);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await s.stands(pids)).toBe(true);
    s.turn([[], []]);
    s.turn([[1], [2]], { slotMs: 20 });
    const stopped = pids.map(cpuTicks);
    await until("it turns them", () => pids.every((pid, i) => cpuTicks(pid) > (stopped[i] ?? 0)));
  });

  test("what is killed by somebody while it is stopped has ended", async ({ skip }) => {
    const s = here();
    if (s.kind === "cgroup1") skip("what is frozen by version 1 dies only when it goes on");
    s.turn([[1], [2]], { slotMs: 20 });
    for (const job of [1, 2]) s.launch(job, BURN);
    await s.begun(1);
    await s.begun(2);
    s.turn([[]]);
    const stand = async (pids: readonly number[]) => {
      await until("the conductor has looked at what it has stopped", () => s.client.connected);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await s.stands(pids)).toBe(true);
    };
    const [[first = 0], [second = 0]] = [s.processes(1), s.processes(2)];
    await stand([first, second]);
    process.kill(first, "SIGKILL");
    expect(await s.end(1)).toMatchObject({ signal: "SIGKILL", reason: "none" });
    const before = s.conductorPid();
    process.kill(before, "SIGKILL");
    await until("the next conductor answers", () => s.conductorPid() !== before);
    await stand([second]);
    process.kill(second, "SIGKILL");
    expect(await s.end(2)).toMatchObject({ signal: "SIGKILL", reason: "none" });
  });

  test("a conductor killed again and again: every job runs once and its status is right", async () => {
    const s = here();
    const jobs = [1, 2, 3, 4, 5, 6];
    const count = join(s.folder, "count");
    const specs = jobs.map((job) =>
      s.spec(job, ["sh", "-c", `echo ${job} >> ${count}; sleep 0.4; exit ${job}`]),
    );
    s.turn([[1, [2, 1]], [3], [4], [5, [6, 1]]], {
      slotMs: 20,
    });
    // Like a front end, send everything again after each connection.
    const again = () => {
      specs.forEach((spec, i) => {
        if (s.ends(i + 1).length === 0) s.client.send({ type: "launch", spec });
      });
    };
    const onState = (message: FromConductor) => {
      if (message.type === "state") again();
    };
    s.client.on("message", onState);
    again();
    for (const waitMs of [10, 60, 150]) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      process.kill(s.conductorPid(), "SIGKILL");
      const states = s.messages.filter(({ type }) => type === "state").length;
      await until(
        "the next one answers",
        () => s.messages.filter(({ type }) => type === "state").length > states,
      );
    }
    for (const job of jobs) expect(await s.end(job)).toMatchObject({ code: job, reason: "none" });
    s.client.off("message", onState);
    expect(readFileSync(count, "utf8").trim().split("\n").sort()).toEqual(jobs.map(String));
  });

  test("TERM to the conductor: it continues everything before it ends, and the jobs go on", async () => {
    const s = here();
    s.turn([[1]], { slotMs: 20 });
    s.launch(1, BURN);
    await s.begun(1);
    s.turn([[]]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const pids = s.processes();
    s.client.close();
    const before = cpuTicks(pids[0] ?? 0);
    process.kill(s.conductorPid(), "SIGTERM");
    await until("it has ended", () => isGone(s.conductorPid()));
    await until("the job goes on", () => cpuTicks(pids[0] ?? 0) > before);
    s.client = s.connect();
    await until("the next one answers", () => s.client.connected);
  });
});

describe("the socket", () => {
  const here = stageFor();

  test("is for the owner only, and malformed lines are refused while the conductor lives", async () => {
    const s = here();
    const path = join(s.home, "socket");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(s.home).mode & 0o777).toBe(0o700);
    const messages: FromConductor[] = [];
    const raw = createConnection(path);
    let text = "";
    raw.on("data", (chunk) => {
      text += chunk;
      messages.splice(
        0,
        messages.length,
        ...text
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      );
    });
    const lines = [
      "{",
      "[]",
      "7",
      '{"type":"launch"}',
      '{"type":"matrix","matrix":{}}',
      '{"__proto__":1}',
      "\0",
    ];
    raw.write(`${lines.join("\n")}\n`);
    await until("all are refused", () => messages.length === lines.length);
    expect(messages.every(({ type }) => type === "refused")).toBe(true);
    raw.write('{"type":"hello","protocol":3,"frontEnd":"second"}\n');
    await until("the second front end is answered", () => messages.at(-1)?.type === "state");
    const sinceOther = () => {
      const other = s.messages.findIndex(
        (message) => message.type === "refused" && message.message.includes("Another front end"),
      );
      return other < 0 ? [] : s.messages.slice(other);
    };
    await until("the first was reported", () => sinceOther().length > 0);
    raw.destroy();
    // Not "connected": the client may not have seen yet that its connection was closed.
    await until("the first is back", () => sinceOther().some(({ type }) => type === "state"));
  });

  test("a matrix whose rows cannot take turns is refused, and the last one stays in force", async () => {
    const s = here();
    s.turn([[1]], { slotMs: 20 });
    s.launch(1, BURN);
    await s.begun(1);
    s.turn([[[1, 0, 0]]]);
    s.turn([[[1, 4095]]]);
    s.turn([[1]], { slotMs: 19 });
    await until("three are refused", () => s.messages.filter(({ type }) => type === "refused").length === 3);
    const [pid = 0] = s.processes(1);
    const before = cpuTicks(pid);
    await until("the job goes on", () => cpuTicks(pid) > before);
  });

  test("two conductors started together: one stays", async () => {
    const s = here();
    const { startConductor } = await import("@tutti/live/conductor/client.ts");
    const pid = s.conductorPid();
    const others = [startConductor(s.home), startConductor(s.home)];
    await until("both have ended", () => others.every(({ exitCode }) => exitCode !== null));
    expect(others.map(({ exitCode }) => exitCode)).toEqual([3, 3]);
    expect(readStat(pid)).toBeDefined();
    s.launch(1, "exit 4");
    s.turn([[1]]);
    expect(await s.end(1)).toMatchObject({ code: 4 });
    expect(s.conductorPid()).toBe(pid);
  });

  test("state of an unreadable kind is passed over", async () => {
    const s = here();
    const shim = s.launch(1, "exit 6");
    s.turn([[1]]);
    await s.end(1);
    s.client.close();
    process.kill(s.conductorPid(), "SIGKILL");
    writeFileSync(join(s.home, "state.json"), '{"version":1,"attempts":[nonsense');
    s.client = s.connect();
    await until("the next one answers", () => s.client.connected);
    s.client.send({ type: "launch", spec: shim });
    await until("the folder tells the end", () => s.ends(1).length === 2);
    expect(s.ends(1)[1]).toMatchObject({ code: 6 });
  });
});

function residentKiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0);
}
