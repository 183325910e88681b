/** Tests a machine of several parts that no gang can leave, such as allocations with different ends. */

import { NodeTable } from "@tutti/kernel/core/machine.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { describe, expect, test } from "vitest";
import type { Part } from "../executor/executor.ts";
import { changeCapacity, cluster, nodesOf, rows, submit } from "./capacity-for-tests.ts";
import { ANNA, type Bench, ROOT, runToEnd } from "./front-end-for-tests.ts";

const [N1, N2, N3, N4] = nodesOf(4, 4, 4, 4);
const S = 1000;

type Node = (typeof N1)[];

const part = (name: string, nodes: Node, more: Partial<Part> = {}): Part => ({
  name,
  nodes: new NodeTable(nodes),
  memoryBytes: 2 ** 30,
  ...more,
});

function setParts(bench: Bench, ...parts: readonly Part[]): void {
  const nodes = parts.flatMap((one) => one.nodes.nodes);
  changeCapacity(bench.machine, nodes, { mostProcessors: 8, parts });
  bench.clock.settle();
}

/** Two parts of two nodes each. */
function halves(policy: string, more: Parameters<typeof cluster>[2] = {}): Bench {
  const bench = cluster(policy, [], more);
  setParts(bench, part("a", [N1, N2]), part("b", [N3, N4]));
  return bench;
}

const states = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ job, state }) => `${job} ${state}`);

describe.each(["fcfs", "easy", "conservative", "first-fit"])("%s", (policy) => {
  test("a gang is on one part, although others have idle processors", async () => {
    const bench = halves(policy);
    await submit(bench, 5);
    await submit(bench, 6);
    await submit(bench, 4);
    // 3 and 2 processors are idle, so the third job must wait, although it needs only 4 of these 5.
    expect(rows(bench)).toEqual([["1:n1/4+n2/1", "2:n3/4+n4/2"]]);
    expect(states(bench)).toEqual(["1 running", "2 running", "3 queued"]);
    expect(await submit(bench, 9)).toMatchObject({ refused: "too-large" });
    bench.clock.advanceTo(bench.clock.nowMs() + 60 * S);
    expect(states(bench)).toEqual(["1 done", "2 done", "3 running"]);
    runToEnd(bench.clock);
    expect(bench.machine.launched).toEqual(["1/1", "2/1", "3/1"]);
  });

  test("a job that is wider than each part says what the largest one has, not all of them", async () => {
    const bench = cluster(policy, []);
    setParts(bench, part("a", [N1]), part("b", [N2]));
    await submit(bench, 8);
    expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({
      obstacles: [{ kind: "capacity", needed: 8, present: 4, most: 8, parts: 2 }],
    });
    expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({
      reason: "waits for 8 CPUs; the largest pilot has 4 now",
    });
  });

  test("a job starts where its limit ends in time, also later than others that are shorter", async () => {
    const bench = cluster(policy, []);
    const startMs = bench.clock.nowMs();
    const endAt = (stopS: number, drainS: number) => ({
      end: { drainAtMs: startMs + drainS * S, stopAtMs: startMs + stopS * S },
    });
    setParts(bench, part("a", [N1, N2], endAt(100, 10)), part("b", [N3, N4], endAt(1000, 900)));
    bench.clock.advanceTo(startMs + 20 * S);
    // By hand: at 20 s, part a has 80 s left for jobs.
    await submit(bench, 2, { limitMs: 81 * S });
    await submit(bench, 2, { limitMs: 79 * S });
    await submit(bench, 2);
    await submit(bench, 8, { limitMs: 500 * S });
    expect(rows(bench).flat().sort()).toEqual(["1:n3/2", "2:n1/2", "3:n3/2"]);
    expect(await bench.frontEnd.why(ANNA, 4)).toMatchObject({
      obstacles: [{ kind: "cpus", needed: 8, free: 6 }],
    });
    bench.clock.advanceTo(startMs + 1000 * S);
    expect(states(bench)[3]).toBe("4 done");
  });

  test("where longer parts can come, a job does not start on one that ends before its limit", async () => {
    const bench = cluster(policy, []);
    const startMs = bench.clock.nowMs();
    const end = { drainAtMs: startMs + 90 * S, stopAtMs: startMs + 100 * S, keepsLimits: true as const };
    setParts(bench, part("a", [N1, N2], { end }), part("b", [N3], { end }));
    await submit(bench, 2, { limitMs: 101 * S });
    await submit(bench, 2, { limitMs: 99 * S });
    await submit(bench, 2);
    expect(states(bench)).toEqual(["1 queued", "2 running", "3 running"]);
    expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({ obstacles: [{ kind: "drain" }] });
    setParts(bench, part("a", [N1, N2], { end }), part("c", [N4]));
    expect(rows(bench).flat()).toContain("1:n4/2");
  });

  test("only the jobs of a part are stopped when it ends, and they go to the other one", async () => {
    const bench = halves(policy, { runMs: (job) => (job === 1 ? 600 * S : 60 * S) });
    await submit(bench, 8);
    await submit(bench, 8);
    const { machine, clock } = bench;
    machine.report({ type: "make-room", reason: "allocation a ends", part: "a" });
    clock.settle();
    expect(bench.frontEnd.jobs(ROOT, {})).toMatchObject([
      { job: 1, state: "queued" },
      { job: 2, state: "running" },
    ]);
    setParts(bench, part("b", [N3, N4]));
    clock.advanceTo(clock.nowMs() + 61 * S);
    expect(states(bench)).toEqual(["1 running", "2 done"]);
    expect(rows(bench)).toEqual([["1:n3/4+n4/4"]]);
  });
});

test("first come, first served, on parts as a naive program would do it", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed, "parts");
    const jobs = Array.from({ length: 40 }, () => ({
      atS: random.below(300),
      tasks: 1 + random.below(8),
      runS: 1 + random.below(60),
    })).sort((a, b) => a.atS - b.atS);
    const bench = halves("fcfs", { runMs: (job) => jobs[job - 1].runS * S });
    const originMs = bench.clock.nowMs();
    for (const { atS, tasks } of jobs) {
      bench.clock.at(originMs + atS * S, () => void submit(bench, tasks, { limitMs: 100 * S }));
    }
    runToEnd(bench.clock);
    // Naive: each second, what has ended leaves; then each part in turn takes first jobs while they fit.
    const free = [8, 8];
    const running: { endS: number; on: number; tasks: number }[] = [];
    const startsS: number[] = [];
    for (let nowS = 0; startsS.length < jobs.length; nowS++) {
      for (const one of running.filter(({ endS }) => endS === nowS)) free[one.on] += one.tasks;
      for (let before = -1; before < startsS.length; ) {
        before = startsS.length;
        for (const on of free.keys()) {
          for (;;) {
            const next = jobs[startsS.length];
            if (next === undefined || next.atS > nowS || next.tasks > free[on]) break;
            free[on] -= next.tasks;
            running.push({ endS: nowS + next.runS, on, tasks: next.tasks });
            startsS.push(nowS);
          }
        }
      }
    }
    const begunS = bench.frontEnd
      .jobs(ROOT, {})
      .map(({ startedAtMs }) => (startedAtMs! - bench.clock.unixMs() + bench.clock.nowMs() - originMs) / S);
    expect(begunS, `seed ${seed}`).toEqual(startsS);
  }
});

test("rows of parts are joined to one round, in which every gang has its share", async () => {
  const bench = halves("gang", { slotted: true });
  for (let i = 0; i < 5; i++) await submit(bench, 8);
  bench.clock.advanceTo(bench.clock.nowMs() + 300);
  const round = rows(bench);
  // Three gangs on one part, two on the other: six rows.
  expect(round).toHaveLength(6);
  for (const row of round) expect(row).toHaveLength(2);
  const counts = [1, 2, 3, 4, 5].map(
    (job) => round.flat().filter((text) => text.startsWith(`${job}:`)).length,
  );
  expect(counts.sort()).toEqual([2, 2, 2, 3, 3]);
  runToEnd(bench.clock);
  expect(states(bench).every((text) => text.endsWith("done"))).toBe(true);
});

test.each(["easy", "gang"])(
  "%s: a gang whose nodes are in two parts now ends like any other",
  async (policy) => {
    const bench = cluster(policy, []);
    changeCapacity(bench.machine, [N1, N2], { mostProcessors: 8, name: "a" });
    bench.clock.settle();
    await submit(bench, 8);
    expect(states(bench)).toEqual(["1 running"]);
    // One of its nodes has moved to another allocation, and its end is still to come.
    setParts(bench, part("a", [N1]), part("b", [N2, N3]));
    await submit(bench, 4);
    bench.machine.end([...bench.machine.attempts.values()][0], "none", { lost: "its node was lost" });
    bench.clock.settle();
    // No cycle was rolled back.
    expect(states(bench)[0]).not.toBe("1 running");
  },
);

const LICENCE = { name: "licence", units: ["a", "b"], isShared: false, variables: [] };

describe.each(["fcfs", "easy", "first-fit", "gang", "buddy"])(
  "%s: licences, which all parts share",
  (policy) => {
    const config = { policy, slotMs: 100, resources: [{ ...LICENCE, units: ["a"] }] };

    test("a job on one part holds them for jobs of others, also for those that begin later", async () => {
      const bench = cluster(policy, [], { config });
      changeCapacity(bench.machine, [N1, N2], { mostProcessors: 8, name: "a" });
      bench.clock.settle();
      await submit(bench, 4, { use: { licence: 1 } });
      await submit(bench, 4, { use: { licence: 1 } });
      bench.clock.advanceTo(bench.clock.nowMs() + 1 * S);
      expect(states(bench)).toEqual(["1 running", "2 queued"]);
      setParts(bench, part("a", [N1, N2]), part("b", [N3, N4]));
      bench.clock.advanceTo(bench.clock.nowMs() + 1 * S);
      expect(states(bench)).toEqual(["1 running", "2 queued"]);
      // Others are accepted meanwhile.
      expect(await submit(bench, 1)).not.toHaveProperty("refused");
      bench.clock.advanceTo(bench.clock.nowMs() + 200 * S);
      expect(states(bench)).toEqual(["1 done", "2 done", "3 done"]);
      expect(bench.machine.launched.filter((text) => !text.startsWith("3"))).toEqual(["1/1", "2/1"]);
    });

    test("two jobs at once on idle parts get the one that there is one after the other", async () => {
      const bench = halves(policy, { config });
      await submit(bench, 8, { use: { licence: 1 } });
      expect(await submit(bench, 8, { use: { licence: 1 } })).not.toHaveProperty("refused");
      bench.clock.advanceTo(bench.clock.nowMs() + 1 * S);
      expect(states(bench)).toEqual(["1 running", "2 queued"]);
      bench.clock.advanceTo(bench.clock.nowMs() + 61 * S);
      expect(states(bench)).toEqual(["1 done", "2 running"]);
    });

    test("no unit is held twice under a random stream, and every job ends", async () => {
      for (let seed = 1; seed <= 4; seed++) {
        const random = new Random(seed, "licences");
        const runMs = (job: number) => 200 + ((job * 7919) % 3000);
        const bench = halves(policy, { slotted: true, runMs, config: { ...config, resources: [LICENCE] } });
        const originMs = bench.clock.nowMs();
        for (let i = 0; i < 40; i++) {
          const licence = random.below(3);
          const more = { ...(licence > 0 && { use: { licence } }) };
          const tasks = 1 + random.below(8);
          bench.clock.at(originMs + random.below(20_000), () => void submit(bench, tasks, more));
        }
        for (let ms = 0; ms < 60_000; ms += 50) {
          bench.clock.advanceTo(originMs + ms);
          const held = [...bench.machine.attempts.values()]
            .filter(({ phase }) => phase !== "ended")
            .flatMap(({ spec }) => spec.env.TUTTI_LICENCE?.split(",").filter((unit) => unit !== "") ?? []);
          expect(held, `seed ${seed}, ${ms} ms`).toHaveLength(new Set(held).size);
        }
        bench.clock.advanceTo(originMs + 200 * S);
        expect(
          states(bench).filter((text) => !text.endsWith("done")),
          `seed ${seed}`,
        ).toEqual([]);
        expect(states(bench)).toHaveLength(40);
      }
    });
  },
);

const SPACE = ["fcfs", "easy", "conservative", "first-fit", "dynp", "fpmpfs"];
const TIME = ["gang", "gang:place=any", "gang:rows=2", "buddy", "br", "brms", "wlv"];

describe.each([...SPACE, ...TIME])("%s: parts that come and go under a random stream", (policy) => {
  test("no processor is given twice, no gang is on two parts, and every job ends", async () => {
    for (let seed = 1; seed <= 4; seed++) {
      const random = new Random(seed, "parts come and go");
      const bench = halves(policy, { slotted: true, runMs: (job) => 200 + ((job * 7919) % 3000) });
      const { clock, machine, frontEnd } = bench;
      const originMs = clock.nowMs();
      let present: readonly Part[] = machine.capacity.parts!;
      const check = () => {
        for (const row of machine.matrix?.rows ?? []) {
          const taken = new Set<string>();
          for (const { job, nodes } of row) {
            const homes = present.filter(({ nodes: table }) =>
              nodes.every(({ node }) => hasNode(table, node)),
            );
            if (isHere(present, nodes)) expect(homes, `seed ${seed}: job ${job}`).toHaveLength(1);
            for (const { node, cpus } of nodes)
              for (const cpu of cpus) {
                expect(taken.has(`${node}/${cpu}`), `seed ${seed}: ${node}/${cpu} twice`).toBe(false);
                taken.add(`${node}/${cpu}`);
              }
          }
        }
      };
      const all = [part("a", [N1, N2]), part("b", [N3]), part("c", [N4])];
      const later = (atMs: number, call: () => void) => clock.at(originMs + atMs, call);
      for (let i = 0; i < 60; i++) {
        const tasks = 1 + random.below(8);
        later(random.below(20_000), () => void submit(bench, tasks, { retries: 9 }));
      }
      for (let atMs = 2000; atMs < 20_000; atMs += 2000) {
        const kept = all.filter(() => random.below(3) > 0);
        later(atMs, () => {
          present = kept;
          const nodes = kept.flatMap((one) => one.nodes.nodes);
          const parts = kept.length > 1 ? { parts: kept } : {};
          changeCapacity(machine, nodes, { mostProcessors: 8, ...parts });
          for (const attempt of [...machine.attempts.values()])
            if (!isHere(kept, attempt.spec.nodes ?? []))
              machine.end(attempt, "none", { lost: "its part has ended" });
        });
      }
      later(20_000, () => {
        present = all;
        setParts(bench, ...all);
      });
      for (let ms = 0; ms < 30_000; ms += 50) {
        clock.advanceTo(originMs + ms);
        check();
      }
      runToEnd(clock);
      const left = frontEnd.jobs(ROOT, {}).filter(({ state }) => state !== "done");
      expect(left, `seed ${seed}`).toEqual([]);
    }
  });
});

const hasNode = (table: NodeTable, node: string) => table.nodes.some((own) => own.node === node);
const isHere = (parts: readonly Part[], nodes: readonly { readonly node: string }[]) =>
  nodes.every(({ node }) => parts.some(({ nodes: table }) => hasNode(table, node)));
