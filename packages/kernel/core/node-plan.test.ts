/** The requests for nodes are those of hand-worked cases, and keep their bounds in random ones. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HeldNodes, type NodeKind, type NodeWish, nextRequest } from "./node-plan.ts";

const H = 3600;
const small: NodeKind = {
  name: "small",
  nodes: { min: 1, max: 4 },
  cpus: { min: 8, max: 8 },
  timeS: { min: 600, max: H },
};
const long: NodeKind = {
  name: "long",
  nodes: { min: 2, max: 16 },
  cpus: { min: 8, max: 8 },
  timeS: { min: H, max: 24 * H },
};
const fixed: NodeKind = {
  name: "fixed",
  nodes: { min: 4, max: 4 },
  cpus: { min: 2, max: 2 },
  timeS: { min: 8 * H, max: 8 * H },
};
const bounds = { maxNodes: 20, leftNodeS: Number.POSITIVE_INFINITY, stopBeforeS: 60, beginS: 60 };

const job = (tasks: number, limitS = Number.POSITIVE_INFINITY, more: Partial<NodeWish> = {}): NodeWish => ({
  ...{ tasks, limitS, isTaken: false },
  ...more,
});

describe("a request", () => {
  test("is for nothing while nothing waits", () => {
    expect(nextRequest([], [small, long], [], bounds)).toBeUndefined();
  });

  test("has the nodes of all that waits, and the time of the longest limit, 60 s before the stop and to begin", () => {
    // By hand: 12 + 9 tasks on nodes of 8 are 2.6 nodes; 900 s + 60 s + 60 s.
    expect(nextRequest([job(12, 300), job(9, 900)], [small, long], [], bounds)).toEqual({
      ...{ kind: small, nodes: 3, timeS: 1020 },
    });
  });

  test("is shorter than its kind allows only by its jobs, and not shorter than the kind", () => {
    expect(nextRequest([job(1, 10)], [small], [], bounds)).toMatchObject({ nodes: 1, timeS: 600 });
    expect(nextRequest([job(1)], [small], [], bounds)).toMatchObject({ nodes: 1, timeS: H });
    expect(nextRequest([job(1, 10)], [fixed], [], bounds)).toMatchObject({ nodes: 4, timeS: 8 * H });
  });

  test("lasts until all could have run if there are not nodes for all at once", () => {
    // By hand: 8 jobs of a node for 400 s each on 4 nodes are 800 s; with 120 s, 16 minutes.
    const wishes = Array.from({ length: 8 }, () => job(8, 400));
    expect(nextRequest(wishes, [small], [], bounds)).toMatchObject({ nodes: 4, timeS: 960 });
  });

  test("is of the first kind that can hold the first job, by its size and by its limit", () => {
    expect(nextRequest([job(33, 60)], [small, long], [], bounds)).toMatchObject({ kind: long, nodes: 5 });
    expect(nextRequest([job(1, H)], [small, long], [], bounds)).toMatchObject({ kind: long, nodes: 2 });
    expect(nextRequest([job(1, H - 120)], [small, long], [], bounds)).toMatchObject({ kind: small });
    expect(nextRequest([job(129, 60)], [small, long], [], bounds)).toBeUndefined();
  });

  test("counts whole tasks on a node", () => {
    // By hand: a node of 8 CPUs holds two tasks of 3 threads.
    expect(nextRequest([job(5, 60, { threads: 3 })], [small], [], bounds)).toMatchObject({ nodes: 3 });
    expect(nextRequest([job(1, 60, { threads: 9 })], [small], [], bounds)).toBeUndefined();
  });

  test("has the memory that a job needs, if the memory of a node is known", () => {
    const wish = job(1, 60, { memoryBytes: 300 });
    const withMemory = (min: number, max: number) => [{ ...small, memoryBytes: { min, max } }];
    expect(nextRequest([wish], withMemory(100, 100), [], bounds)).toMatchObject({ nodes: 3 });
    expect(nextRequest([wish], [small], [], bounds)).toMatchObject({ nodes: 1 });
    // By hand: 5 of the small nodes, which is too many, but a large one holds it, too.
    expect(nextRequest([wish], withMemory(64, 1024), [], bounds)).toMatchObject({ nodes: 4 });
    expect(nextRequest([wish], withMemory(64, 74), [], bounds)).toBeUndefined();
  });

  test("is for as many nodes as small ones would have to be, within its most", () => {
    const mixed = { ...small, cpus: { min: 4, max: 16 } };
    expect(nextRequest([job(16)], [mixed], [], bounds)).toMatchObject({ nodes: 4 });
    // By hand: 5 nodes of 4, but 2 of 16 hold it, too.
    expect(nextRequest([job(20)], [mixed], [], bounds)).toMatchObject({ nodes: 4 });
    expect(nextRequest([job(65)], [mixed], [], bounds)).toBeUndefined();
    expect(nextRequest([job(2, 60, { threads: 6 })], [mixed], [], bounds)).toMatchObject({ nodes: 1 });
  });

  test("counts all jobs of a wish, and those that nodes on their way cannot hold", () => {
    const many: NodeKind = { ...small, nodes: { min: 1, max: 64 }, cpus: { min: 128, max: 128 } };
    const room = { ...bounds, maxNodes: 64 };
    // By hand: 10,000 jobs of a CPU are 78.1 nodes for 600 s, on 64 of them 733 s.
    const wishes = [job(1, 600, { jobs: 10_000 })];
    const request = nextRequest(wishes, [many], [], room);
    // With 120 s, a little more than 14 minutes.
    expect(request).toMatchObject({ nodes: 64, timeS: 900 });
    // Three nodes of 8 CPUs hold 24 of 30 jobs, and one of the kind is on its way; or 3 of 6 jobs.
    const awaited: HeldNodes = { nodes: 3, isEnding: false, awaited: { kind: "small", timeS: 720 } };
    expect(nextRequest([job(1, 600, { jobs: 30 })], [small, long], [awaited], bounds)).toBeUndefined();
    expect(nextRequest([job(1, 600, { jobs: 24 })], [long, small], [awaited], bounds)).toBeUndefined();
    expect(nextRequest([job(8, 600, { jobs: 6 })], [long, small], [awaited], bounds)).toMatchObject({
      kind: long,
      nodes: 3,
    });
  });

  test("does not ask again for what is on its way, but for what that cannot hold", () => {
    const awaited: HeldNodes = { nodes: 2, isEnding: false, awaited: { kind: "small", timeS: 720 } };
    expect(nextRequest([job(8, 60), job(8, 600)], [small, long], [awaited], bounds)).toBeUndefined();
    // Of a kind, one is on its way at a time.
    expect(nextRequest([job(8), job(8), job(8)], [small], [awaited], bounds)).toBeUndefined();
    expect(nextRequest([job(8, 601)], [long, small], [awaited], bounds)).toMatchObject({ kind: long });
  });

  test("does not ask again for a job that only large nodes would hold, if as many as can be are on their way", () => {
    const mixed = { ...small, cpus: { min: 4, max: 16 } };
    const awaited: HeldNodes = { nodes: 4, isEnding: false, awaited: { kind: "small", timeS: 720 } };
    // By hand: 5 nodes of 4 CPUs, but a kind has 4, which may be larger.
    expect(nextRequest([job(20, 60)], [mixed, long], [awaited], bounds)).toBeUndefined();
  });

  test("is for the fewest nodes and the longest time if nodes are wanted without a job, and none stay", () => {
    const any = { ...bounds, wantsAny: true };
    const plain = { kind: long, nodes: 2, timeS: 24 * H };
    expect(nextRequest([], [long, small], [], any)).toEqual(plain);
    expect(nextRequest([], [long, small], [{ nodes: 9, isEnding: true }], any)).toEqual(plain);
    expect(nextRequest([], [long, small], [{ nodes: 9, isEnding: false }], any)).toBeUndefined();
    expect(nextRequest([], [long, small], [], { ...any, leftNodeS: 48 * H - 1 })).toBe("exhausted");
    // A job comes first.
    expect(nextRequest([job(1, 60)], [small, long], [], any)).toMatchObject({ kind: small, timeS: 600 });
  });

  test("keeps the most nodes at once; nodes that end do not count for a job that nothing present takes", () => {
    const held: HeldNodes = { nodes: 18, isEnding: false };
    expect(nextRequest([job(32)], [small], [held], bounds)).toBeUndefined();
    expect(nextRequest([job(16), job(16)], [small], [held], bounds)).toMatchObject({ nodes: 2 });
    const ending: HeldNodes = { nodes: 18, isEnding: true };
    expect(nextRequest([job(32)], [small], [ending], bounds)).toMatchObject({ nodes: 4 });
    expect(nextRequest([job(32, 60, { isTaken: true })], [small], [ending], bounds)).toBeUndefined();
  });

  test("is smaller if the node-hours are few, and none if they are fewer than the first job needs", () => {
    const wishes = [job(8, 480), job(8, 480), job(8, 480)];
    // By hand: 3 nodes for 600 s are 1,800 node-seconds.
    expect(nextRequest(wishes, [small], [], { ...bounds, leftNodeS: 1800 })).toMatchObject({ nodes: 3 });
    expect(nextRequest(wishes, [small], [], { ...bounds, leftNodeS: 1799 })).toMatchObject({ nodes: 1 });
    expect(nextRequest(wishes, [small], [], { ...bounds, leftNodeS: 599 })).toBe("exhausted");
  });
});

test("random requests keep all bounds, hold the job that they are for, and end", () => {
  const wish = fc.record({
    tasks: fc.integer({ min: 1, max: 150 }),
    threads: fc.integer({ min: 1, max: 9 }),
    limitS: fc.oneof(fc.integer({ min: 1, max: 30 * H }), fc.constant(Number.POSITIVE_INFINITY)),
    isTaken: fc.boolean(),
  });
  const limits = fc.record({
    maxNodes: fc.integer({ min: 1, max: 40 }),
    leftNodeS: fc.integer({ min: 600, max: 40 * 24 * H }),
    stopBeforeS: fc.constant(60),
    beginS: fc.constant(60),
  });
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 12 }), limits, (wishes, given) => {
      const held: HeldNodes[] = [];
      let leftNodeS = given.leftNodeS;
      for (let turns = 0; ; turns++) {
        expect(turns).toBeLessThan(100);
        const now = { ...given, leftNodeS };
        const request = nextRequest(wishes, [small, long], held, now);
        if (request === undefined || request === "exhausted") return;
        const { kind, nodes, timeS } = request;
        leftNodeS -= nodes * timeS;
        held.push({ nodes, isEnding: false, awaited: { kind: kind.name, timeS } });
        expect(leftNodeS).toBeGreaterThanOrEqual(0);
        expect(held.reduce((sum, one) => sum + one.nodes, 0)).toBeLessThanOrEqual(given.maxNodes);
        expect(nodes).toBeGreaterThanOrEqual(kind.nodes.min);
        expect(nodes).toBeLessThanOrEqual(kind.nodes.max);
        expect(timeS).toBeGreaterThanOrEqual(kind.timeS.min);
        expect(timeS).toBeLessThanOrEqual(kind.timeS.max);
        const holds = ({ tasks, threads, limitS }: NodeWish) =>
          tasks <= nodes * Math.floor(kind.cpus.min / threads!) &&
          (limitS <= timeS - 120 || limitS === Number.POSITIVE_INFINITY);
        expect(wishes.some(holds)).toBe(true);
      }
    }),
    { seed: 30, numRuns: 2000 },
  );
});
