/**
 * Deals blows to a front end with simulated nodes while jobs run, and judges from what the processes did.
 * In virtual time, from a seed, so that a failure can be repeated.
 */

import { isEnded } from "@tutti/protocol/states.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openVirtualStage, type VirtualStage } from "./executor-stage-virtual.ts";
import { returnsToLostNodes } from "./lost-nodes.ts";

const NODES = ["n1", "n2", "n3", "n4"];
/** Longer than a node may be silent before it is lost. */
const LONG_MS = 25_000;
/** After this time, an operator asks for other nodes: those that are left may be too few. */
const PATIENCE_MS = 150_000;

const job = fc.record({
  tasks: fc.integer({ min: 1, max: 6 }),
  computeMs: fc.integer({ min: 20, max: 2000 }),
  exitCode: fc.constantFrom(0, 0, 0, 5),
  retries: fc.constantFrom(0, 0, 3),
  runsEach: fc.boolean(),
});
const blow = fc.record({
  afterMs: fc.integer({ min: 1, max: 1500 }),
  kind: fc.constantFrom("link", "cut", "longCut", "conductor", "crash", "frontEnd"),
  node: fc.constantFrom(...NODES),
});

test("whatever happens to nodes, links and the front end: no job is lost, none runs twice at once, or again on a node that lost it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 1e9 }),
      fc.array(job, { minLength: 3, maxLength: 10 }),
      fc.array(blow, { maxLength: 8 }),
      fc.option(fc.record({ afterBlow: fc.nat({ max: 8 }), node: fc.constantFrom(...NODES) })),
      async (seed, jobs, blows, down) => {
        const problems: string[] = [];
        const stage = await openVirtualStage({
          slotMs: 100,
          graceMs: 500,
          seed,
          cpus: [2, 2, 2, 2],
          onRecord: (number, record) => {
            if (record.kind !== "begun") return;
            const others = stage.nodes
              .living()
              .filter(({ key }) => key.job === number && key.attempt !== record.attempt);
            for (const { node, key } of others)
              problems.push(`${number}.${record.attempt} began while ${key.attempt} lived on ${node}`);
          },
        });
        try {
          const numbers = await submitAll(stage, jobs);
          await deal(stage, blows, down ?? undefined);
          problems.push(...(await judge(stage, jobs, numbers)));
          problems.push(...returnsToLostNodes(stage.events()));
          expect(problems).toEqual([]);
        } finally {
          await stage.close();
        }
      },
    ),
    { numRuns: 30 },
  );
});

type Job = typeof job extends fc.Arbitrary<infer Value> ? Value : never;
type Blow = typeof blow extends fc.Arbitrary<infer Value> ? Value : never;

async function submitAll(stage: VirtualStage, jobs: readonly Job[]): Promise<number[]> {
  const numbers: number[] = [];
  for (const { tasks, retries, runsEach, ...work } of jobs) {
    const answer = await stage.submit(work, { tasks, retries, tasksRun: runsEach ? "each" : "once" });
    numbers.push(...(answer as readonly number[]));
  }
  return numbers;
}

async function deal(
  stage: VirtualStage,
  blows: readonly Blow[],
  down: { readonly afterBlow: number; readonly node: string } | undefined,
): Promise<void> {
  const { nodes, clock } = stage;
  let isDown = false;
  for (const [i, { afterMs, kind, node }] of blows.entries()) {
    await stage.pass(afterMs);
    if (down?.afterBlow === i) {
      nodes.down(down.node);
      isDown = true;
    }
    if (isDown && node === down?.node) continue;
    if (kind === "link") nodes.dropLink(node);
    else if (kind === "conductor") nodes.killConductor(node);
    else if (kind === "frontEnd") {
      await stage.killFrontEnd();
      await stage.pass(300);
      await stage.startFrontEnd();
    } else if (kind === "crash") {
      nodes.crash(node);
      clock.at(clock.nowMs() + 2000, () => {
        if (!isDown || node !== down?.node) nodes.startNode(node);
      });
    } else {
      nodes.cut(node);
      clock.at(clock.nowMs() + (kind === "cut" ? 2000 : LONG_MS), () => nodes.join(node));
    }
  }
}

async function judge(
  stage: VirtualStage,
  jobs: readonly Job[],
  numbers: readonly number[],
): Promise<string[]> {
  const problems: string[] = [];
  const isOver = async () =>
    (await Promise.all(numbers.map((number) => stage.job(number)))).every(({ state }) => isEnded(state));
  for (let allocations = 1; !(await isOver()) && allocations < 3; allocations++) {
    if (allocations > 1) stage.nodes.endAllocation("given back by an operator", {});
    const untilMs = stage.nowMs() + PATIENCE_MS;
    while (!(await isOver()) && stage.nowMs() < untilMs) await stage.pass(500);
  }
  for (const [i, number] of numbers.entries()) {
    const { state, code, reason, attempt } = await stage.job(number);
    const { exitCode, retries, runsEach } = jobs[i];
    if (!isEnded(state)) problems.push(`job ${number} is still ${state}: ${reason}`);
    else if (code === undefined && !reason?.startsWith("lost")) problems.push(`job ${number}: ${reason}`);
    else if (code !== undefined && code !== exitCode) problems.push(`job ${number} ended with ${code}`);
    const begun = stage.records(number).filter((record) => record.kind === "begun");
    const attempts = new Set(begun.map((record) => record.attempt));
    if (attempts.size > retries + 1)
      problems.push(`job ${number} ran ${attempts.size} times, retries allow ${retries + 1}`);
    if (!runsEach && begun.length > attempts.size) problems.push(`an attempt of job ${number} ran twice`);
    if (code !== undefined && !attempts.has(attempt))
      problems.push(`job ${number} has an end, but never ran`);
  }
  await stage.pass(LONG_MS + 5000);
  for (const { node, key } of stage.nodes.living())
    problems.push(`${key.job}.${key.attempt} is left on ${node}`);
  return problems;
}

test("nodes that are taken away one after the other: nothing begins on them or on the others once more", async () => {
  const stage = await openVirtualStage({ slotMs: 100, graceMs: 500, seed: 1, cpus: [2, 2, 2, 2] });
  try {
    const job: Job = { tasks: 2, retries: 0, computeMs: 5000, exitCode: 0, runsEach: false };
    const numbers = await submitAll(stage, Array(8).fill(job));
    await stage.pass(2000);
    for (const node of NODES) {
      stage.nodes.evict(node);
      await stage.pass(150);
    }
    await stage.pass(8000);
    const begunTwice = () => numbers.filter((number) => attemptsOf(stage, number).includes(2));
    expect(begunTwice()).toEqual([]);
    for (const number of numbers) {
      expect(await stage.job(number)).toMatchObject({ state: "queued", attempt: 1 });
    }
    stage.nodes.endAllocation("The pilot 1 was cancelled", {});
    await stage.pass(60_000);
    for (const number of numbers)
      expect(await stage.job(number)).toMatchObject({ state: "done", attempt: 2 });
    expect(begunTwice()).toEqual(numbers);
  } finally {
    await stage.close();
  }
});

test("one node that is taken away: after ten seconds the others are used, and that one is not", async () => {
  const stage = await openVirtualStage({ slotMs: 100, graceMs: 500, seed: 1, cpus: [2, 2, 2, 2] });
  try {
    stage.nodes.evict("n2");
    const job: Job = { tasks: 1, retries: 0, computeMs: 50, exitCode: 0, runsEach: false };
    const numbers = await submitAll(stage, Array(6).fill(job));
    await stage.pass(9000);
    expect(numbers.flatMap((number) => attemptsOf(stage, number))).toEqual([]);
    await stage.pass(5000);
    for (const number of numbers) {
      const { state, nodes } = await stage.job(number);
      expect(state).toBe("done");
      expect(nodes!.map(({ node }) => node)).not.toContain("n2");
    }
  } finally {
    await stage.close();
  }
});

function attemptsOf(stage: VirtualStage, number: number): number[] {
  return stage.records(number).flatMap((record) => (record.kind === "begun" ? [record.attempt] : []));
}
