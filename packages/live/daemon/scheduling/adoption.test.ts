/**
 * Tests that a new policy object takes over running jobs: no job is moved unnecessarily, and waiting jobs
 * keep their order.
 */

import { Random } from "@tutti/kernel/core/random.ts";
import { inTurn, SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { ConnectedReservation } from "@tutti/kernel/policies/space/connected-reservation.ts";
import { describe, expect, test, vi } from "vitest";
import type { Matrix } from "../executor/executor.ts";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

/**
 * The rows of a matrix as text, from the row whose turn it is in a slot, so that matrices of different times
 * compare.
 */
function turn({ rows, fromSlot = 0 }: Matrix, slot: number): string[] {
  const first = (((slot - fromSlot) % rows.length) + rows.length) % rows.length;
  return [...rows.slice(first), ...rows.slice(0, first)].map((row) =>
    row
      .map(({ job, nodes }) => `${job}:${JSON.stringify(nodes)}`)
      .sort()
      .join(" "),
  );
}

async function busyBench(policy: string, seed: number): Promise<Bench> {
  const random = new Random(seed, "adoption");
  const bench = makeBench({
    cpus: 8,
    config: { policy, slotMs: 125 },
    slotted: true,
    runMs: () => 125 * (4 + random.below(60)),
  });
  for (let i = 0; i < 25; i++) {
    await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks: 1 + random.below(8) })]));
    bench.clock.advanceTo(bench.clock.nowMs() + 125 * random.below(4));
  }
  bench.clock.advanceTo(bench.clock.nowMs() + 250);
  return bench;
}

const time = POLICIES.filter(({ sharing }) => sharing === "time");
const space = POLICIES.filter(({ sharing }) => sharing === "space");
/** Policies that draw processors at random, so gangs may have to move. */
const MOVES = new Set(["random"]);

describe("after the conductor was away", () => {
  test.each(time.map(({ name }) => name))("%s keeps every gang's CPUs and the round", async (name) => {
    for (let seed = 1; seed <= 5; seed++) {
      const bench = await busyBench(name, seed);
      const { machine, clock } = bench;
      const before = machine.matrix!;
      const launched = [...machine.launched];
      machine.disconnect();
      machine.connect();
      clock.settle();
      const after = machine.matrix!;
      expect(after.sequence).toBeGreaterThan(before.sequence);
      const cpusIn = (matrix: Matrix) =>
        new Map(matrix.rows.flat().map(({ job, nodes }) => [job, JSON.stringify(nodes)]));
      expect([...cpusIn(after).keys()].sort()).toEqual([...cpusIn(before).keys()].sort());
      if (!MOVES.has(name)) expect([...cpusIn(after)].sort()).toEqual([...cpusIn(before)].sort());
      if (name === "gang") {
        const slot = Math.floor(clock.nowMs() / 125);
        expect(turn(after, slot)).toEqual(turn(before, slot));
      }
      expect(machine.launched).toEqual(launched);
      runToEnd(clock);
      expect(bench.frontEnd.status().counts.done).toBe(25);
    }
  });

  test.each(space.map(({ name }) => name))("%s keeps running jobs in their places", async (name) => {
    const bench = await busyBench(name, 3);
    const { machine, clock } = bench;
    const before = machine.matrix!.rows.map((row) => [...row].sort((a, b) => a.job - b.job));
    machine.disconnect();
    machine.connect();
    clock.settle();
    expect(machine.matrix!.rows.map((row) => [...row].sort((a, b) => a.job - b.job))).toEqual(before);
    runToEnd(clock);
    expect(bench.frontEnd.status().counts.done).toBe(25);
  });
});

// In a soak to every other; otherwise each policy follows, and is followed by, some of them.
describe("from every policy to every other, while jobs run", () => {
  test.each(POLICIES.map(({ name }, turn) => [name, turn] as const))("from %s", async (name, turn) => {
    for (const [i, to] of inTurn([...POLICIES.entries()], SIZES.followedEvery, turn)) {
      const bench = await busyBench(name, i + 1);
      const { frontEnd, clock, machine } = bench;
      const running = frontEnd.jobs(ROOT, { states: ["starting", "running"] });
      const answer = await answerOf(clock, frontEnd.setPolicy(ROOT, to.name));
      expect(answer).toEqual({ policy: makeChoice(to).label });
      const now = frontEnd.jobs(ROOT, { states: ["starting", "running"] });
      // No job has lost its process.
      expect(now.map(({ job }) => job)).toEqual(expect.arrayContaining(running.map(({ job }) => job)));
      runToEnd(clock);
      expect(frontEnd.status().counts.done).toBe(25);
      expect(machine.launched).toHaveLength(25);
      expect(frontEnd.policy().policy).toBe(makeChoice(to).label);
    }
  });
});

test("a policy that fails is replaced, with an event", async () => {
  const bench = makeBench({ config: { policy: "connected-reservation" }, runMs: () => 1000 });
  const failing = vi.spyOn(ConnectedReservation.prototype, "decide").mockImplementation(() => {
    throw new Error("a defect");
  });
  await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks: 1 })]));
  runToEnd(bench.clock);
  expect(bench.frontEnd.jobs(ROOT, {})).toMatchObject([{ state: "done" }]);
  expect(bench.frontEnd.policy().policy).toBe("fcfs");
  const reasons: unknown[] = [];
  bench.frontEnd.listen(ROOT, 0, ({ kind, data }) => {
    if (kind === "policy") reasons.push(data?.because);
  });
  failing.mockRestore();
  expect(reasons).toContainEqual(expect.stringContaining("connected-reservation failed: a defect"));
});

test("jobs that the policy cannot schedule are refused, and so is a policy that cannot schedule a job", async () => {
  const bench = makeBench({ config: { policy: "connected-reservation" }, cpus: 600, runMs: () => 1000 });
  const { clock, frontEnd } = bench;
  const wide = () => answerOf(clock, frontEnd.submit(ANNA, [request({ tasks: 600 })]));
  expect(await wide()).toEqual({
    refused: "too-large",
    message:
      'Cannot submit under policy "connected-reservation": the job asks for 600 processors, 600 processes and 1 thread per process, but no queue class admits that: the widest, d512, admits 512 processors, 512 processes and 32 threads per process; set scale=2 or more for wider classes',
  });
  expect(await answerOf(clock, frontEnd.setPolicy(ROOT, "fcfs"))).toEqual({ policy: "fcfs" });
  expect(await wide()).toMatchObject({ jobs: [{ job: 1 }] });
  expect(await answerOf(clock, frontEnd.setPolicy(ROOT, "connected-reservation"))).toMatchObject({
    refused: "wrong-state",
    message: expect.stringContaining(
      'Cannot switch to policy "connected-reservation": job 1 asks for 600 processors',
    ),
  });
  const wider = "connected-reservation:scale=2";
  expect(await answerOf(clock, frontEnd.setPolicy(ROOT, wider))).toEqual({ policy: wider });
  runToEnd(clock);
  expect(frontEnd.jobs(ROOT, {})).toMatchObject([{ state: "done" }]);
});

test("more jobs than a table holds", async () => {
  const bench = makeBench({ config: { policy: "fcfs" }, runMs: () => 1 });
  const batch = Array.from({ length: 5000 }, () => request({ tasks: 4 }));
  await answerOf(bench.clock, bench.frontEnd.submit(ANNA, batch));
  runToEnd(bench.clock);
  expect(bench.frontEnd.status().counts.done).toBe(5000);
  expect(bench.machine.launched).toEqual(batch.map((_, i) => `${i + 1}/1`));
});
