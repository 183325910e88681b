/**
 * Tests how the conductors of a cluster turn the same rows at the same slots: with real conductors and real
 * processes, each node with its own clock. What ran when is judged by what the jobs write.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs } from "@tutti/host/clock.ts";
import { allowedCpus } from "@tutti/host/machine.ts";
import { readStat, signal } from "@tutti/host/processes.ts";
import { TRIES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CAN_MAKE_NODES, ClusterStage, Link } from "./cluster-stage.ts";
import { until } from "./stage.ts";

const SLOT_MS = 400;
/** Writes the wall clock in ms about each 10 ms. */
const CLOCKS = "while :; do date +%s%3N; sleep 0.01; done";

function gang(job: number, more: { closed?: true; cpus?: number[] } = {}) {
  return { job, attempt: 1, cpus: [0], ...more };
}

describe.skipIf(!CAN_MAKE_NODES)("conductors of a cluster (as root, with namespaces)", TRIES, () => {
  let s: ClusterStage;
  beforeAll(async () => {
    s = new ClusterStage(2);
    await s.ready(SLOT_MS);
  });
  afterEach(() => s.killJobs());
  afterAll(async () => {
    if (s === undefined) return;
    const log = s.nodes.map((node) => node.log().replaceAll("Killed\n", "")).join("");
    await s.clear();
    expect(log).toBe("");
  });

  let next = 100;

  /** A job that waits at its gates: its numbers on the nodes. Each try of a test has jobs of its own. */
  async function atGates(): Promise<readonly [number, number]> {
    const job = 10 * next++;
    const numbers = [job, job + 1] as const;
    s.nodes.forEach(({ link }, i) => {
      link.send({ type: "launch", spec: s.spec(job + i, CLOCKS) });
    });
    for (const number of numbers) {
      await until(`${number} waits`, () => existsSync(join(s.folderOf(number), "gate")));
    }
    return numbers;
  }

  const outs = (jobs: readonly number[]) => jobs.map((job) => s.out(job));
  const gangs = (jobs: readonly number[], more: Parameters<typeof gang>[1] = {}) =>
    jobs.map((job) => gang(job, more));

  /**
   * Slots in whose second half the job ran. On a busy machine, a switch may be late, and it must not be late
   * by more than half of a slot.
   */
  function slotsOf(job: number): number[] {
    const lines = s.out(job).trim().split("\n").filter(Boolean).map(Number);
    // No job ever begins too early.
    const late = lines.filter((line) => s.slotOf(line - SLOT_MS / 2) === s.slotOf(line));
    return [...new Set(late.map((line) => s.slotOf(line)))];
  }

  test("tell their clocks: the smallest of 20 round trips gives the true offset within its uncertainty", async () => {
    for (const { link, offsetMs } of s.nodes) {
      let best = { offsetMs: 0, roundTripMs: Number.POSITIVE_INFINITY };
      for (let id = 0; id < 20; id++) {
        const sentMs = monotonicMs();
        link.send({ type: "ping", id });
        const pong = await link.next("pong");
        expect(pong.id).toBe(id);
        // Includes the time until this test looks, at most 5 ms.
        const roundTripMs = monotonicMs() - sentMs;
        if (roundTripMs < best.roundTripMs) {
          best = { offsetMs: pong.nowMs - sentMs - roundTripMs / 2, roundTripMs };
        }
      }
      expect(Math.abs(best.offsetMs - offsetMs)).toBeLessThanOrEqual(best.roundTripMs / 2);
    }
  });

  test("tell their CPUs and version, and the grid that they were given", async () => {
    const state = await s.node(1).connect();
    expect(state).toMatchObject({
      protocol: 3,
      allowedCpus: allowedCpus(),
      freezer: "signals",
      turning: [],
    });
    expect(state.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(state.epochMs).toBe(s.epochMs + s.node(1).offsetMs);
  });

  test("change the matrix in exactly the agreed slot, also for CPUs that only the cluster declares", async () => {
    const [before, after] = [await atGates(), await atGates()];
    const first = [before.map((job, i) => gang(job, { cpus: [900 + i] }))];
    const second = [gangs(after)];
    // All have begun before the turn that is judged: on a busy machine, a begin takes longer than a slot.
    for (const rows of [first, second]) {
      await s.turn(s.matrix(rows));
      await until("they run", () => rows[0].every(({ job }) => s.out(job) !== ""));
    }
    const from = await s.turn(s.matrix(first));
    const to = await s.turn(s.matrix(second), from + 3);
    await s.untilSlot(to + 2);
    // Slots from … from + 2 belong to the first matrix, later ones to the second.
    const since = (job: number) => slotsOf(job).filter((slot) => slot >= from);
    for (const job of before) expect(since(job)).toEqual([from, from + 1, from + 2]);
    for (const job of after) expect(since(job).slice(0, 2)).toEqual([to, to + 1]);
  });

  test("open no gate of a closed gang, and all in the slot in which it is no longer closed", async () => {
    const jobs = await atGates();
    const closed = [gangs(jobs, { closed: true }), []];
    const at = await s.turn(s.matrix(closed));
    await s.untilSlot(at + 3);
    expect(outs(jobs)).toEqual(["", ""]);
    // Row 0 has every second slot: of those from `open` on, this is the first.
    const open = await s.turn(s.matrix([gangs(jobs), []]), s.slot() + 3);
    await s.untilSlot(open + 4);
    const first = open % 2 === 0 ? open : open + 1;
    for (const job of jobs) expect(slotsOf(job).slice(0, 2)).toEqual([first, first + 2]);
  });

  test("leave a strict row idle when its gang has ended, and give the slot away otherwise", async () => {
    const jobs = await atGates();
    const rows = [[gang(99)], gangs(jobs)];
    const strict = await s.turn(s.matrix(rows));
    await s.untilSlot(strict + 4);
    for (const job of jobs) expect(slotsOf(job).every((slot) => slot % 2 === 1)).toBe(true);
    const { strict: _, ...generous } = s.matrix(rows);
    const at = await s.turn(generous);
    await s.untilSlot(at + 3);
    for (const job of jobs) expect(slotsOf(job)).toEqual(expect.arrayContaining([at, at + 1, at + 2]));
  });

  test("do not use a revoked matrix, refuse a turn that is too late, and use the next one", async () => {
    const jobs = await atGates();
    const empty = await s.turn(s.matrix([[]]));
    const revoked = s.matrix([gangs(jobs)]);
    const at = await s.turn(revoked, empty + 3);
    for (const { link } of s.nodes) link.send({ type: "revoke", sequence: revoked.sequence });
    await s.untilSlot(at + 2);
    expect(outs(jobs)).toEqual(["", ""]);
    const node = s.node(0);
    const late = s.matrix([[gang(jobs[0])]]);
    node.link.send({ type: "stage", matrix: late });
    node.link.send({ type: "turn", sequence: late.sequence, atSlot: s.slot() });
    expect((await node.link.next("refused")).message).toContain("has begun");
    expect(outs(jobs)).toEqual(["", ""]);
    const last = await s.turn(s.matrix([gangs(jobs)]));
    await s.untilSlot(last + 1);
    for (const job of jobs) expect(slotsOf(job)[0]).toBe(last);
    const { sequence } = await node.connect();
    node.link.send({ type: "revoke", sequence });
    expect((await node.link.next("refused")).message).toContain("it is in force");
  });

  test("neither skip nor double a slot when the grid is corrected a little", async () => {
    const [even, odd] = await atGates();
    await s.turn(s.matrix([[gang(even)], [gang(odd)]]));
    await until("both have run", () => !outs([even, odd]).includes(""));
    const { link } = s.node(0);
    const before = s.slot();
    // Forth and back by a tenth of a slot, ten times in about three slots.
    for (let i = 0; i < 10; i++) {
      s.grid(s.epochMs + (i % 2 === 0 ? 1 : -1) * (SLOT_MS / 10));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    link.messages.length = 0;
    await until("statistics", () => link.all("slots").length > 0);
    await s.untilSlot(before + 6);
    // Node 0 runs one job in even slots; the correction changes where they begin by 40 ms at most.
    const lines = s.out(even).trim().split("\n").map(Number);
    const pauses = lines.slice(1).map((line, i) => line - (lines[i] ?? 0));
    const long = pauses.filter((pause) => pause > SLOT_MS / 2);
    expect(long.length).toBeGreaterThanOrEqual(2);
    for (const pause of long) expect(Math.abs(pause - SLOT_MS)).toBeLessThan(SLOT_MS / 2);
  });

  test("killed in the middle, continue: with the matrix that they have promised for a later slot", async () => {
    // If this is the test's second try, the matrix of the first is still in force.
    await s.turn(s.matrix([[]]));
    const [now, then] = [await atGates(), await atGates()];
    // They have the same row as `then`, and begin in the promised slot.
    const unbegun = await atGates();
    const matrixOf = (jobs: readonly number[], more: readonly number[] = []) =>
      s.matrix([[...gangs(jobs), ...gangs(more, { cpus: [900] })]]);
    // All have begun before the turn that is judged: on a busy machine, a begin takes longer than a slot.
    await s.turn(matrixOf(then));
    await until("the later ones run", () => then.every((job) => s.out(job) !== ""));
    await s.turn(matrixOf(now));
    await until("the first ones run", () => now.every((job) => s.out(job) !== ""));
    const staged = matrixOf(now);
    // On a busy machine, the next conductor takes seconds to come.
    const to = await s.turn(matrixOf(then, unbegun), s.slot() + 20);
    const node = s.node(0);
    node.link.send({ type: "stage", matrix: staged });
    const pid = node.conductorPid();
    signal(pid, "SIGKILL");
    await until("it is gone", () => readStat(pid)?.state !== "S" && readStat(pid)?.state !== "R");
    const state = await node.connect();
    expect(state.turning).toHaveLength(1);
    expect(state.epochMs).toBe(s.epochMs + node.offsetMs);
    // Until then, nobody may have stopped them.
    const back = s.slot();
    expect(back).toBeLessThan(to);
    // What was only staged is dropped.
    node.link.send({ type: "turn", sequence: staged.sequence, atSlot: to + 100 });
    expect((await node.link.next("refused")).message).toContain("not staged");
    await s.untilSlot(to + 2);
    await until("the others have begun", () => unbegun.every((job) => s.out(job) !== ""));
    for (const job of unbegun) expect(s.slotOf(Number.parseInt(s.out(job), 10))).toBeGreaterThanOrEqual(to);
    for (const job of now) expect(Math.max(...slotsOf(job))).toBeLessThan(to);
    for (const job of then) {
      const since = slotsOf(job).filter((slot) => slot > back);
      expect(since.slice(0, 2)).toEqual([to, to + 1]);
    }
  });

  test("refuse another owner while one is connected and 10 s after, and accept the same one at once", async () => {
    const node = s.node(1);
    await node.connect();
    const greet = async (owner: string) => {
      const link = new Link(node.home);
      link.hello(owner);
      await until("an answer", () => link.messages.length > 0);
      link.close();
      return link.messages[0];
    };
    expect(await greet("b".repeat(32))).toMatchObject({ type: "refused" });
    expect(node.link.closed).toBe(false);
    const leftMs = monotonicMs();
    node.link.close();
    const other = await greet("b".repeat(32));
    expect(other).toMatchObject({ type: "refused" });
    expect(other?.type === "refused" && other.message).toContain("expected the same front end");
    expect((await node.connect()).type).toBe("state");
    node.link.close();
    let answer = await greet("b".repeat(32));
    while (answer?.type !== "state") {
      expect(monotonicMs() - leftMs).toBeLessThan(20_000);
      await new Promise((resolve) => setTimeout(resolve, 200));
      answer = await greet("b".repeat(32));
    }
    expect(monotonicMs() - leftMs).toBeGreaterThanOrEqual(10_000);
    // The next conductor accepts any owner.
    signal(node.conductorPid(), "SIGKILL");
  });
});
