/** Tests all kinds of freezer with one suite and real processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootId, identityOf, readStat, signal } from "@tutti/host/processes.ts";
import { signalAll } from "@tutti/live/conductor/freezers/freezer.ts";
import { type Containment, openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";
import { MARK_VARIABLE } from "@tutti/live/conductor/freezers/signals.ts";
import type { FreezerKind } from "@tutti/protocol/attempts.ts";
import { afterEach, describe, expect, test } from "vitest";
import { cpuTicks, kindsHere, marked, until } from "./stage.ts";

const BURN = "while :; do :; done";
/** The kernel ends a process that would run forever. */
const BOUNDED = "ulimit -t 10;";

const GANGS = ["1.1", "2.1"];
let homes: { readonly home: string; readonly containment: Containment }[] = [];

function open(kind: FreezerKind): Containment {
  const home = mkdtempSync(join(tmpdir(), "tutti-freezer-"));
  const containment = openContainment(home, kind);
  if (containment === undefined) throw new Error(`${kind} does not work`);
  homes.push({ home, containment });
  return containment;
}

/** Starts a gang's first process as the conductor does; this process is its shim. */
async function start(containment: Containment, gang: string, script: string): Promise<number> {
  // The process waits until it is in its groups.
  const child = spawn("sh", ["-c", `read -r go; ${BOUNDED} ${script}`], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH, [MARK_VARIABLE]: `${containment.marks}${gang}` },
  });
  const shim = identityOf(process.pid);
  const job = identityOf(child.pid ?? 0);
  if (shim === undefined || job === undefined) throw new Error("Cannot start");
  containment.groups.make(gang);
  containment.freezer.enter(gang, shim, job);
  expect(await containment.groups.join(gang, job.pid)).toBe(true);
  child.stdin.end("go\n");
  return job.pid;
}

/** Freezes as the conductor does: repeats a freeze that has not stopped all processes. */
async function frozen({ freezer }: Containment, gang: string): Promise<void> {
  await until("the gang is stopped", () => freezer.freeze(gang) && freezer.isFrozen(gang));
}

async function killed({ freezer }: Containment, gang: string): Promise<void> {
  await until("the gang is dead", () => freezer.kill(gang));
}

/** CPU time of all, in ticks. */
function ticks(pids: readonly number[]): number[] {
  return pids.map(cpuTicks);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function progress(pids: readonly number[]): Promise<void> {
  const before = ticks(pids);
  await until("all go on", () => pids.every((pid, i) => cpuTicks(pid) > (before[i] ?? 0)));
}

async function standStill(pids: readonly number[]): Promise<boolean> {
  const before = ticks(pids).join();
  await new Promise((resolve) => setTimeout(resolve, 150));
  return ticks(pids).join() === before;
}

afterEach(async () => {
  const left: string[] = [];
  for (const { home, containment } of homes) {
    const { freezer, groups, marks } = containment;
    for (const gang of GANGS) await killed(containment, gang);
    for (const pid of marked(marks)) {
      left.push(String(pid));
      signal(pid, "SIGKILL");
    }
    await until("groups are gone", () => groups.gangs().every((gang) => groups.remove(gang)));
    expect(freezer.kind === "signals" || groups.gangs().length === 0).toBe(true);
    groups.close();
    rmSync(home, { recursive: true });
  }
  homes = [];
  expect(left).toEqual([]);
});

const kinds = kindsHere();

test("signals always work, so that there is a kind for every machine", () => {
  expect(kinds).toContain("signals");
});

describe.each(kinds)("%s", (kind) => {
  test("freeze() stops every process, thaw() lets them go on", async () => {
    const containment = open(kind);
    await start(containment, "1.1", `(${BURN}) & ${BURN}`);
    await until("both run", () => marked(containment.marks).length === 2);
    const pids = marked(containment.marks);
    await progress(pids);
    await frozen(containment, "1.1");
    expect(await standStill(pids)).toBe(true);
    containment.freezer.thaw("1.1");
    await progress(pids);
    await killed(containment, "1.1");
    expect(marked(containment.marks)).toEqual([]);
  });

  test("freeze() and kill() reach a process that left by setsid and a double fork", async () => {
    const containment = open(kind);
    await start(containment, "1.1", `(setsid sh -c '(${BURN}) & exit 0' &) ; ${BURN}`);
    // The processes in between have no time to compute.
    await until("both burn", () => {
      const found = marked(containment.marks);
      return found.length === 2 && found.every((pid) => cpuTicks(pid) >= 3);
    });
    const pids = marked(containment.marks);
    expect(new Set(pids.map((pid) => readStat(pid)?.session)).size).toBe(2);
    await frozen(containment, "1.1");
    expect(await standStill(pids)).toBe(true);
    containment.freezer.thaw("1.1");
    await progress(pids);
    await killed(containment, "1.1");
    expect(marked(containment.marks)).toEqual([]);
  });

  test("freeze() holds a job that sends SIGCONT to itself", async () => {
    const containment = open(kind);
    const pid = await start(containment, "1.1", `me=$$; (while :; do kill -CONT $me; done) & ${BURN}`);
    await until("both run", () => marked(containment.marks).length === 2);
    await progress([pid]);
    await frozen(containment, "1.1");
    expect(await standStill(marked(containment.marks))).toBe(true);
  });

  test("kill() ends 150 processes that ignore TERM, frozen or not", async () => {
    const containment = open(kind);
    const nap = "trap '' TERM; sleep 30 & wait";
    await start(containment, "1.1", `for i in $(seq 75); do (${nap}) & done; wait`);
    await until("they are there", () => marked(containment.marks).length >= 150);
    signalAll(containment.freezer, "1.1", "SIGTERM");
    await frozen(containment, "1.1");
    await killed(containment, "1.1");
    expect(marked(containment.marks)).toEqual([]);
  });

  test("kill() ends a bomb of 200 forks while it goes off", async () => {
    const containment = open(kind);
    const bomb = "f() { [ $1 -gt 0 ] && { f $(($1 - 1)) & f $(($1 - 1)) & }; sleep 20; }; f 6; wait";
    await start(containment, "1.1", bomb);
    await until("it goes off", () => marked(containment.marks).length >= 20);
    await killed(containment, "1.1");
    // No process that was just starting is left either.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(marked(containment.marks)).toEqual([]);
  });

  test("kill() ends chains of processes that each start the next and end at once", async () => {
    const containment = open(kind);
    const { home } = homes[0];
    const hops = join(home, "hops");
    // Without its file, a chain ends.
    writeFileSync(join(home, "hop"), `echo >> ${hops}; sh $0 &\n`);
    const chain = `setsid sh ${join(home, "hop")} &`;
    for (let run = 0; run < 10; run++) {
      await start(containment, "1.1", `${chain} ${chain} ${chain} ${chain} sleep 30`);
      const before = sizeOf(hops);
      await until("they hop", () => sizeOf(hops) > before + 20);
      await killed(containment, "1.1");
      const after = sizeOf(hops);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(sizeOf(hops)).toBe(after);
      containment.freezer.leave("1.1");
    }
  });

  test("freeze() of one gang leaves another alone", async () => {
    const containment = open(kind);
    const one = await start(containment, "1.1", BURN);
    const other = await start(containment, "2.1", BURN);
    await progress([one, other]);
    await frozen(containment, "1.1");
    expect(await standStill([one])).toBe(true);
    await progress([other]);
    expect(containment.freezer.isFrozen("2.1")).toBe(false);
  });

  test("a process that only has the pid of a member is not signalled", async () => {
    const containment = open(kind);
    const stranger = spawn("sh", ["-c", `${BOUNDED} ${BURN}`], { stdio: "ignore" });
    const pid = stranger.pid ?? 0;
    const shim = identityOf(process.pid);
    if (shim === undefined) throw new Error("Cannot read our own identity");
    containment.groups.make("1.1");
    containment.freezer.enter("1.1", shim, { bootId: bootId(), pid, startTicks: 1 });
    await progress([pid]);
    containment.freezer.freeze("1.1");
    signalAll(containment.freezer, "1.1", "SIGKILL");
    expect(containment.freezer.kill("1.1")).toBe(true);
    await progress([pid]);
    stranger.kill("SIGKILL");
  });

  test.skipIf(kind === "signals")(
    "one that was killed while it tried the groups is no harm to the next",
    async () => {
      const first = open(kind);
      first.groups.make("probe");
      first.freezer.freeze("probe");
      const procs = join(first.groups.of("freezer")!.folder, "probe", "cgroup.procs");
      // Like the shell that should enter the group and end, but is stopped by the frozen group.
      const env = { [MARK_VARIABLE]: `${first.marks}probe` };
      const shell = spawn("/bin/sh", ["-c", 'echo $$ > "$1"', "sh", procs], { stdio: "ignore", env });
      const ended = once(shell, "exit");
      await until("it is in the group", () => first.groups.pids("probe").includes(shell.pid!));
      expect(openContainment(homes[0].home, kind)?.freezer.kind).toBe(kind);
      expect(await ended).toEqual([0, null]);
    },
  );

  test("thawLeftovers() of a later life continues what an earlier one stopped", async () => {
    const containment = open(kind);
    const pid = await start(containment, "1.1", BURN);
    await progress([pid]);
    await frozen(containment, "1.1");
    const paused = openContainment(homes[0]?.home ?? "", kind)!;
    paused.paused.set(new Set(["1.1"]));
    const later = openContainment(homes[0]?.home ?? "", kind)!;
    later.freezer.thawLeftovers();
    expect(containment.freezer.isFrozen("1.1")).toBe(true);
    later.paused.set(new Set());
    later.freezer.thawLeftovers();
    await progress([pid]);
  });
});
