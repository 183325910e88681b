/** Tests that a job cannot hold CPUs before it begins or after it has ended. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "@tutti/host/processes.ts";
import {
  allPids,
  identityOf,
  isAlive,
  isStopped,
  readSmall,
  readStat,
  sessionOf,
  signal,
} from "@tutti/host/processes.ts";
import { readIdentity } from "@tutti/live/conductor/attempts/claim.ts";
import { ObservedTime } from "@tutti/live/conductor/attempts/observed-time.ts";
import { ShimWatch } from "@tutti/live/conductor/attempts/shim-watch.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isGone, Stage, until } from "./stage.ts";

const isRoot = process.getuid!() === 0;
/** The malicious user: if possible not the conductor's user. */
const EVE = isRoot ? { uid: 33, gid: 33 } : {};

let s: Stage;
const bystanders: ChildProcess[] = [];
beforeAll(async () => {
  s = new Stage();
  chmodSync(s.folder, 0o711);
  await s.ready();
});
afterEach(async () => {
  for (const one of bystanders.splice(0)) one.kill("SIGKILL");
  await s.killJobs();
});
afterAll(async () => expect(await s.clear()).toEqual([]));

function ofEve(job: number, script: string): LaunchSpec {
  const spec = s.spec(job, ["sh", "-c", script], { ...EVE, cwd: "/" });
  if (isRoot) chownSync(spec.folder, EVE.uid!, EVE.gid!);
  return { ...spec, env: { ...spec.env, FOLDER: spec.folder } };
}

function byEve(command: string, ...words: string[]): ChildProcess {
  const child = spawn(command, words, { ...EVE, cwd: "/", detached: true, stdio: "ignore" });
  bystanders.push(child);
  return child;
}

function stops({ pid }: ProcessIdentity): boolean {
  const stat = readStat(pid);
  return stat !== undefined && isStopped(stat);
}

/**
 * What a process that keeps trying can do between the creation of the folder and the start of the shim.
 */
function claimFor(spec: LaunchSpec, pid: number): void {
  const { bootId, startTicks } = identityOf(pid)!;
  const claim = join(spec.folder, "claim");
  symlinkSync(`${bootId}:${pid}:${startTicks}:${spec.identity}`, claim);
  if (isRoot) lchownSync(claim, EVE.uid!, EVE.gid!);
}

/** Launches jobs until the shim of one of them is stopped before its job has a first process. */
async function stoppedShim(jobs: readonly number[]): Promise<{ job: number; pid: number }> {
  for (const job of jobs) {
    const spec = ofEve(job, "echo ran");
    s.client.send({ type: "launch", spec });
    // Or its child, which has not yet executed another program.
    const isShim = (pid: number) => readSmall(`/proc/${pid}/cmdline`) === `/bin/sh\0${spec.folder}/launch\0`;
    let found: number | undefined;
    for (const end = performance.now() + 5000; found === undefined && performance.now() < end; ) {
      if (existsSync(join(spec.folder, "launch"))) found = allPids().findLast(isShim);
      if (found === undefined && existsSync(join(spec.folder, "exit"))) break;
      // The message is sent only when this process returns to its event loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (found === undefined || !signal(found, "SIGSTOP")) continue;
    const pid = found;
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stopped = identityOf(pid);
    if (stopped && stops(stopped) && !existsSync(join(spec.folder, "job"))) return { job, pid };
    signal(pid, "SIGCONT");
  }
  throw new Error("No shim was caught in time");
}

describe("an attempt that does not begin", () => {
  test("ends in time, whatever keeps it from beginning; what is its own is killed, and it is tried again only if that is no use to anybody", async () => {
    // Without CPUs, because they need not be free for the test.
    s.turn([Array.from({ length: 60 }, (_, i): [number, ...number[]] => [i + 1])]);

    const stranger = byEve("sleep", "1000");
    await until("it runs", () => stranger.pid !== undefined && identityOf(stranger.pid) !== undefined);
    const claimed = ofEve(1, "echo ran");
    claimFor(claimed, stranger.pid!);
    s.client.send({ type: "launch", spec: claimed });

    // As far as others can see, it runs what a shim runs.
    const disguise = join(s.folder, "disguise");
    mkdirSync(disguise, { recursive: true });
    writeFileSync(join(disguise, "launch"), "while :; do sleep 1; done\n");
    chmodSync(disguise, 0o755);
    const impostor = byEve("/bin/sh", join(disguise, "launch"));
    await until("it looks so", () => readSmall(`/proc/${impostor.pid}/cmdline`)?.includes("launch") === true);
    const squatted = ofEve(2, "echo ran");
    claimFor(squatted, impostor.pid!);
    s.client.send({ type: "launch", spec: squatted });

    // The shim makes the link to the first process inside this folder, where the conductor does not look.
    const hidden = ofEve(3, "echo ran");
    mkdirSync(join(hidden.folder, "job"));
    if (isRoot) chownSync(join(hidden.folder, "job"), EVE.uid!, EVE.gid!);
    s.client.send({ type: "launch", spec: hidden });

    const { job: stopped, pid } = await stoppedShim(Array.from({ length: 40 }, (_, i) => 20 + i));

    const first = await s.end(1);
    expect(first.lost).toContain(`claimed for process ${stranger.pid}, which is not the shim`);
    expect(s.ends(2)).toEqual([]);
    await until("all have ended", () => [2, 3, stopped].every((job) => s.ends(job).length > 0), 60_000);
    const [two, three, last] = [await s.end(2), await s.end(3), await s.end(stopped)];
    for (const end of [two, three, last]) {
      expect(end).toMatchObject({
        lost: expect.stringContaining("did not begin within 30 s"),
        reason: "none",
      });
      expect(end).not.toHaveProperty("code");
    }
    expect(last.lost).toContain(`process ${pid}, which should start it, is stopped by a signal`);
    // A user who holds CPUs on purpose gains nothing.
    expect([first, two, last].map(({ neverBegan }) => neverBegan)).toEqual([undefined, undefined, undefined]);
    expect(three.neverBegan).toBe(true);
    // A process that was killed takes a moment to go.
    await until("the impostor is gone", () => impostor.signalCode === "SIGKILL");
    await until("the shim is gone", () => isGone(pid));
    expect(identityOf(stranger.pid!) !== undefined && stranger.signalCode === null).toBe(true);
    for (const job of [1, 2, 3, stopped]) expect(s.out(job)).toBe("");
  });
});

describe("a job that has ended", () => {
  test("and had stopped its shim ends with its own status", async () => {
    s.turn([[1]]);
    s.client.send({
      type: "launch",
      spec: ofEve(1, "kill -STOP $(readlink $FOLDER/claim | cut -d: -f2); exit 7"),
    });
    expect(await s.end(1)).toMatchObject({ code: 7, reason: "none" });
  });

  test("whose shim is stopped again and again ends all the same, and nothing of the shim is left", async () => {
    s.turn([[1]]);
    const spec = ofEve(1, "until [ -e $FOLDER/go ]; do sleep 0.05; done; exit 7");
    s.client.send({ type: "launch", spec });
    await s.begun(1);
    const shim = readIdentity(spec, "claim")!;
    byEve("sh", "-c", `while kill -s STOP -- -${shim.pid}; do :; done`);
    await until("it is stopped", () => stops(shim));
    writeFileSync(join(spec.folder, "go"), "");
    // It may get through between two signals.
    const end = await s.end(1);
    if (end.code !== 7) expect(end.lost).toContain("stopped by a signal again and again");
    await until(
      "nothing of the shim is left",
      () => !isAlive(shim) && sessionOf(shim.pid, undefined).length === 0,
    );
  });

  test("ShimWatch gives up a shim that is stopped at ten looks, but not while its job lives", async () => {
    const shim = byEve("sh", "-c", "while :; do kill -STOP $$; done");
    const job = byEve("sleep", "1000");
    await until("both are there", () => shim.pid !== undefined && job.pid !== undefined);
    const [of, first] = [identityOf(shim.pid!)!, identityOf(job.pid!)!];
    const attempt = { folder: "/", uid: EVE.uid };
    const watch = new ShimWatch();
    const looks = [];
    let nowMs = 0;
    for (let i = 0; i < 12; i++) {
      await until("it is stopped again", () => stops(of));
      nowMs += 1000;
      looks.push(watch.look(nowMs, of, first, attempt) !== undefined);
    }
    expect(looks).toEqual(Array(12).fill(false));
    job.kill("SIGKILL");
    await until("the job is gone", () => !isAlive(first));
    for (let i = 0; i < 10; i++) {
      await until("it is stopped again", () => stops(of));
      nowMs += 1000;
      looks.push(watch.look(nowMs, of, first, attempt) !== undefined);
    }
    expect(looks.slice(12)).toEqual([...Array(9).fill(false), true]);
    // Not sooner than after a second.
    expect(watch.look(nowMs + 999, of, first, attempt)).toBeUndefined();
  });

  test("and whose folder was removed is lost with that reason, and its shim ends", async () => {
    s.turn([[1]]);
    const go = join(s.folder, "go");
    const spec = ofEve(1, `until [ -e ${go} ]; do sleep 0.05; done; exit 3`);
    s.client.send({ type: "launch", spec });
    await s.begun(1);
    const shim = readIdentity(spec, "claim")!;
    rmSync(spec.folder, { recursive: true });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    // It keeps running, because the user may still want what it does elsewhere.
    expect(s.ends(1)).toEqual([]);
    expect(s.processes(1)).not.toEqual([]);
    writeFileSync(go, "");
    const end = await s.end(1);
    expect(end.lost).toContain(`its folder "${spec.folder}" was removed`);
    expect(end).not.toHaveProperty("neverBegan");
    expect(isAlive(shim)).toBe(false);
    rmSync(go);
  });

  test("whose folder was removed and made again with a forged exit status is lost, too", async () => {
    s.turn([[1]]);
    const go = join(s.folder, "go");
    const spec = ofEve(1, `until [ -e ${go} ]; do sleep 0.05; done; exit 3`);
    s.client.send({ type: "launch", spec });
    await s.begun(1);
    execFileSync("sh", ["-c", `rm -r "$1" && mkdir "$1" && echo 0 > "$1/exit"`, "sh", spec.folder]);
    writeFileSync(go, "");
    const end = await s.end(1);
    expect(end).not.toHaveProperty("code");
    expect(end.lost).toContain("was removed");
    rmSync(go);
  });
});

test("ObservedTime: a pause between looks counts for a quarter of a second at most, and only time in which it held", () => {
  const time = new ObservedTime();
  expect(time.add(1000, true)).toBe(0);
  expect(time.add(1100, true)).toBe(100);
  // The machine slept.
  expect(time.add(1e9, true)).toBe(350);
  expect(time.add(1e9 + 100, false)).toBe(350);
  expect(time.add(1e9 + 150, true)).toBe(400);
});
