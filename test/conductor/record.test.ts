/**
 * What the conductor notes of an attempt before it acts: when it began, and why it ends. Kills the conductor
 * in just these moments, and moves the folders away in which jobs leave how they ended.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, signal } from "@tutti/host/processes.ts";
import type { AttemptEnd, AttemptState } from "@tutti/protocol/attempts.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Stage, until } from "./stage.ts";

let s: Stage;
beforeAll(async () => {
  s = new Stage();
  await s.ready();
});
afterEach(async () => {
  // A test that has failed may have left the client closed.
  if (!s.client.connected) {
    s.client.close();
    s.client = s.connect();
  }
  await s.ready();
  await s.killJobs();
  await s.alone();
});
afterAll(async () => expect(await s.clear()).toEqual([]));

const file = (name: string) => join(s.folder, name);
const text = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : "");

/** What the present conductor lists of a job when a front end connects. */
async function listed(job: number): Promise<AttemptState> {
  s.client.close();
  s.messages.length = 0;
  s.client = s.connect();
  await s.ready();
  const state = s.messages.find((message) => message.type === "state")!;
  return state.attempts.find((attempt) => attempt.job === s.key(job).job)!;
}

async function forgotten(job: number): Promise<void> {
  s.client.send({ type: "forget", attempt: s.key(job), identity: s.identity(job) });
  while ((await listed(job)) !== undefined);
}

/** The end of a job, whether the present conductor has seen it or has found it at its start. */
async function endOf(job: number): Promise<AttemptEnd> {
  for (;;) {
    const { end } = await listed(job);
    if (end !== undefined) return end;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the conductor that was killed has been replaced. */
async function replaced(pid: number): Promise<void> {
  await until("another conductor answers", () => s.client.connected && s.conductorPid() !== pid);
}

describe("the start of a job", () => {
  test("is in its end, although no front end was there", async () => {
    s.turn([[1]]);
    s.launch(1, "true");
    s.client.close();
    await until("it has ended", () => existsSync(join(s.folderOf(1), "exit")));
    const { startedAtMs, endedAtMs } = await endOf(1);
    expect((await listed(1)).record).toEqual({ version: 1, startedAtMs });
    expect(startedAtMs).toBeGreaterThanOrEqual(Math.trunc(statSync(s.folderOf(1)).birthtimeMs));
    expect(endedAtMs).toBeGreaterThanOrEqual(startedAtMs ?? 0);
  });

  test("is known, although the job kills the conductor that has just opened its gate", async () => {
    const beforeMs = Date.now();
    const pid = s.conductorPid();
    s.turn([[1]]);
    s.launch(1, `kill -9 ${pid}; exit 3`);
    await replaced(pid);
    s.turn([[1]]);
    const end = await endOf(1);
    expect(end).toMatchObject({ code: 3, reason: "none" });
    // At the earliest when the state was saved for the last time, which was after the launch.
    expect(end.startedAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(end.startedAtMs).toBeLessThanOrEqual(end.endedAtMs);
  });
});

describe("the running time of a job whose conductor is killed at its start", () => {
  // It notes how long it has run for certain since then, in tenths of a second.
  const script = (pid: number, then: string) =>
    `kill -9 ${pid}; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; touch second; ${then}`;

  /** No client starts another conductor, however late this process notices that the first one was killed. */
  beforeEach(async () => {
    s.client.close();
    s.client = s.connect(false);
    await s.ready();
  });

  test("counts until its end, also if nobody was there", async () => {
    const pid = s.conductorPid();
    const beforeMs = Date.now();
    s.turn([[1]]);
    s.launch(1, script(pid, "exit 3"));
    await until("it has begun", () => existsSync(join(s.folderOf(1), "out")));
    s.client.close();
    await until("it has ended", () => existsSync(join(s.folderOf(1), "exit")));
    const end = await endOf(1);
    rmSync(file("second"));
    expect(end).toMatchObject({ code: 3, reason: "none" });
    expect(end.ranMs).toBeGreaterThanOrEqual(999);
    expect(end.ranMs).toBeLessThanOrEqual(end.endedAtMs + 1 - beforeMs);
  });

  test("counts for its limit, which the next conductor keeps at once", async () => {
    const pid = s.conductorPid();
    s.turn([[1]]);
    s.launch(1, script(pid, "while :; do sleep 0.01; done"), { limitMs: 700 });
    await until("it has begun", () => existsSync(join(s.folderOf(1), "out")));
    s.client.close();
    await until("it has run for a second", () => existsSync(file("second")));
    const end = await endOf(1);
    rmSync(file("second"));
    expect(end).toMatchObject({ reason: "time-limit" });
    expect(end.ranMs).toBeGreaterThanOrEqual(999);
  });
});

describe("the reason of an end", () => {
  test.each(["the limit", "a cancel"])(
    "is that of %s, also if the conductor dies with its first TERM",
    async (by) => {
      const pid = s.conductorPid();
      s.turn([[1]]);
      // Ends by TERM, but only when the conductor that has sent it is gone.
      s.launch(
        1,
        `trap 'kill -9 ${pid}; trap - TERM; kill -TERM $$' TERM; touch up; while :; do sleep 0.01; done`,
        {
          graceMs: 60_000,
          ...(by === "the limit" && { limitMs: 700 }),
        },
      );
      await until("it runs", () => existsSync(file("up")));
      rmSync(file("up"));
      if (by !== "the limit")
        s.client.send({ type: "stop", attempt: s.key(1), kill: false, reason: "cancelled" });
      await replaced(pid);
      expect(await endOf(1)).toMatchObject({
        signal: "SIGTERM",
        reason: by === "the limit" ? "time-limit" : "cancelled",
      });
    },
  );
});

test("an end that the conductor has forgotten is the same for a front end with an older store", async () => {
  s.turn([[1]]);
  const spec = s.launch(1, "while :; do sleep 0.01; done", { limitMs: 300 });
  const end = await s.end(1);
  expect(end).toMatchObject({ reason: "time-limit", signal: "SIGTERM" });
  await forgotten(1);
  s.client.send({ type: "launch", spec });
  expect(await s.end(1)).toEqual(end);
  // A file that was made for another attempt does not count.
  await forgotten(1);
  const kept = join(s.folderOf(1), "end");
  writeFileSync(kept, readFileSync(kept, "utf8").replace(s.identity(1), "0".repeat(32)));
  s.client.send({ type: "launch", spec });
  expect(await s.end(1)).toMatchObject({ reason: "none", signal: "SIGTERM", ranMs: 0 });
});

test("a pause has its time, which the next conductor knows", async () => {
  s.turn([[1]]);
  s.launch(1, "while [ ! -e go ]; do sleep 0.01; done");
  await s.begun(1);
  const beforeMs = Date.now();
  s.turn([[]], { paused: [s.key(1)] });
  await until("it is marked", () => existsSync(join(s.home, "paused", `${s.key(1).job}.1`)));
  const afterMs = Date.now();
  const pid = s.conductorPid();
  signal(pid, "SIGKILL");
  await replaced(pid);
  const { record } = await listed(1);
  expect(record?.pausedAtMs).toBeGreaterThanOrEqual(beforeMs);
  expect(record?.pausedAtMs).toBeLessThanOrEqual(afterMs);
  // A mark of an earlier version is empty.
  writeFileSync(join(s.home, "paused", `${s.key(1).job}.1`), "");
  signal(s.conductorPid(), "SIGKILL");
  await replaced(s.conductorPid());
  expect((await listed(1)).record?.pausedAtMs).toBeGreaterThanOrEqual(beforeMs);
  s.turn([[1]]);
  writeFileSync(file("go"), "");
  expect(await s.end(1)).toMatchObject({ code: 0 });
  rmSync(file("go"));
});

test("a conductor that hung across signal and limit sends the signal first, and TERM only after the stated time", async () => {
  s.turn([[1]]);
  // Saves and ends when it is warned. A TERM at the same moment would end it for the limit.
  s.launch(
    1,
    "trap 'echo saved > saved; exit 0' USR1; trap 'sleep 5' TERM; touch up; while :; do sleep 0.01; done",
    {
      limitMs: 4000,
      limitSignal: { name: "SIGUSR1", beforeMs: 3500, to: "first" },
      graceMs: 60_000,
    },
  );
  await until("it runs", () => existsSync(file("up")));
  const pid = s.conductorPid();
  signal(pid, "SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 4200));
  expect(text("saved")).toBe("");
  signal(pid, "SIGCONT");
  expect(await s.end(1)).toMatchObject({ code: 0, reason: "none" });
  expect(text("saved")).toBe("saved\n");
});

describe("a state folder that is moved away", () => {
  /** The folder of the stage has the conductor's folder and those of the attempts, as a state folder. */
  const away = () => `${s.folder}.away`;

  test("finds its place free when it is moved back, and what ended meanwhile has its result", async () => {
    s.turn([[1]]);
    const outside = `${s.folder}.go`;
    s.launch(1, `while [ ! -e ${outside} ]; do sleep 0.01; done; exit 3`);
    await s.begun(1);
    const [pid] = s.processes(1);
    renameSync(s.folder, away());
    writeFileSync(outside, "");
    await until("it has ended", () => !existsSync(`/proc/${pid}`) && s.processes(1).length === 0);
    // Several looks of the conductor at its folder.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(existsSync(s.folder)).toBe(false);
    expect(s.ends(1)).toEqual([]);
    renameSync(away(), s.folder);
    expect(await s.end(1)).toMatchObject({ code: 3, reason: "none" });
    rmSync(outside);
  });

  test("also if the conductor has died and a new one is started when the folder is back", async () => {
    s.turn([[1]]);
    const outside = `${s.folder}.go`;
    s.launch(1, `while [ ! -e ${outside} ]; do sleep 0.01; done; exit 4`);
    await s.begun(1);
    const [pid] = s.processes(1);
    const conductor = s.conductorPid();
    s.client.close();
    signal(conductor, "SIGKILL");
    renameSync(s.folder, away());
    writeFileSync(outside, "");
    await until("it has ended", () => !existsSync(`/proc/${pid}`));
    await until("its result is there", () => existsSync(join(away(), `${s.key(1).job}.1`, "exit")));
    const exitMs = statSync(join(away(), `${s.key(1).job}.1`, "exit")).mtimeMs;
    renameSync(away(), s.folder);
    const known = await endOf(1);
    expect(known).toMatchObject({ code: 4, reason: "none" });
    // Not when the next conductor has found it.
    expect(known.endedAtMs).toBe(Math.trunc(exitMs));
    rmSync(outside);
  });
});

test("a shim whose folder is gone for good gives up, although another folder has its name", async () => {
  s.turn([[1]]);
  s.launch(1, "while [ ! -e go ]; do sleep 0.01; done");
  await s.begun(1);
  const { shim } = await listed(1);
  const conductor = s.conductorPid();
  s.client.close();
  signal(conductor, "SIGKILL");
  rmSync(s.folderOf(1), { recursive: true });
  mkdirSync(s.folderOf(1));
  writeFileSync(file("go"), "");
  await until("it has ended", () => !isAlive(shim!));
  s.client = s.connect();
  await s.ready();
  rmSync(file("go"));
});
