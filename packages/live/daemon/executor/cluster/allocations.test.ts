/** Follows the executor with several allocations, by hand: what it reports, and what becomes of gangs. */
import { expect, test } from "vitest";
import { Bench, ENDLESS, specOf } from "./bench-for-tests.ts";

const GROUPS = [
  ["n1", "n2"],
  ["n3", "n4"],
];
const capacity = ({ executor }: Bench) => {
  const { nodes, parts, name } = executor.capacity;
  return {
    name,
    nodes: nodes.nodes.map(({ node }) => node).sort(),
    parts: parts?.map((part) => `${part.name} ${part.nodes.processors}`),
  };
};
const BOTH = { name: undefined, nodes: ["n1", "n2", "n3", "n4"], parts: ["1a 4", "1b 4"] };

/** A gang on each allocation, and one more on the first. */
function busy(): Bench {
  const bench = new Bench({ groups: GROUPS });
  bench.run(
    { job: 1, on: ["n1", "n2"], script: ENDLESS },
    { job: 2, on: ["n3", "n4"], script: ENDLESS },
    { job: 3, on: ["n1"], script: ENDLESS },
  );
  bench.pass(3000);
  return bench;
}

test("it connects when all allocations of an earlier front end are found, each a part of the capacity", () => {
  const bench = new Bench({ groups: GROUPS });
  expect(bench.of("connected")).toHaveLength(1);
  // The second one is found 400 ms after the first.
  expect(bench.of("connected")[0].atMs).toBeGreaterThan(400);
  expect(capacity(bench)).toEqual(BOTH);
});

test("gangs of all allocations take turns on one grid of slots, and their busy nodes are counted", () => {
  const bench = busy();
  expect([...bench.nodes.busy]).toEqual([
    ["1a", 2],
    ["1b", 2],
  ]);
  const spans = (job: number) => bench.nodes.recordsOf(job).filter((record) => record.kind === "ran");
  for (const job of [1, 2, 3]) expect(spans(job).length).toBeGreaterThan(3);
  // Rows of 100 ms: a gang begins every third slot, on all its nodes at the same time.
  const begins = spans(2).map(({ fromMs }) => fromMs);
  for (const fromMs of begins) {
    const phase = (fromMs - begins[0]) % 300;
    expect(Math.min(phase, 300 - phase)).toBeLessThan(2);
  }
});

test("the end of one allocation ends its gangs only; the others go on, and a next one joins them", () => {
  const bench = busy();
  const before = bench.disconnects.length;
  bench.nodes.endGroup(0, "its time is over");
  bench.pass(1000);
  const lost = expect.stringContaining("its allocation 1a has ended: its time is over");
  expect(bench.ends()).toMatchObject([
    { job: 1, lost },
    { job: 3, lost },
  ]);
  expect(capacity(bench)).toEqual({ name: "1b", nodes: ["n3", "n4"], parts: undefined });
  expect(bench.disconnects).toHaveLength(before);
  const ranBefore = bench.nodes.recordsOf(2).length;
  bench.nodes.beginGroup(0);
  bench.pass(2000);
  expect(capacity(bench)).toEqual({ ...BOTH, parts: ["1b 4", "2a 4"] });
  expect(bench.of("capacity").at(-1)).toMatchObject({ because: "allocation 2a has begun" });
  expect(bench.nodes.recordsOf(2).length).toBeGreaterThan(ranBefore);
  // The front end stays connected, and the nodes that have joined take its gangs.
  expect(bench.of("connected")).toHaveLength(1);
  expect(bench.notices()).toEqual([]);
  bench.scripts.set(4, { computeMs: 50 });
  const spec = specOf(4, ["n1", "n2"]);
  const still = specOf(2, ["n3", "n4"]);
  bench.executor.apply([
    { type: "launch", spec },
    { type: "matrix", matrix: bench.matrix([[spec, still]]) },
  ]);
  bench.pass(2000);
  expect(bench.ends().at(-1)).toMatchObject({ job: 4, code: 0 });
  expect(bench.nodes.processesOf(2)).toBeGreaterThan(0);
});

test("the next front end finds the gangs of all allocations, and launches none of them again", () => {
  const bench = busy();
  bench.restart();
  const [, again] = bench.of("connected");
  expect(again.attempts.map(({ job, phase }) => `${job} ${phase}`).sort()).toEqual([
    "1 running",
    "2 running",
    "3 running",
  ]);
  expect(bench.ends()).toEqual([]);
});

test("an allocation that ended while no front end was there: only its gangs are lost", () => {
  const bench = busy();
  const specs = [specOf(1, ["n1", "n2"]), specOf(2, ["n3", "n4"]), specOf(3, ["n1"])];
  bench.executor.close();
  bench.nodes.endGroup(0, "its time is over");
  bench.restart();
  // What is not listed is launched again, and no node of it is there.
  bench.executor.apply([
    { type: "launch", spec: specs[0] },
    { type: "launch", spec: specs[2] },
    { type: "matrix", matrix: bench.matrix([[specs[1]]]) },
  ]);
  bench.pass(1000);
  expect(
    bench
      .of("connected")
      .at(-1)
      ?.attempts.map(({ job }) => job),
  ).toEqual([2]);
  expect(bench.ends()).toMatchObject([
    { job: 1, lost: expect.stringContaining("no longer allocated") },
    { job: 3, lost: expect.stringContaining("no longer allocated") },
  ]);
  expect(capacity(bench)).toMatchObject({ nodes: ["n3", "n4"] });
});

test("a lost node of one allocation takes nothing from the others", () => {
  const bench = busy();
  bench.nodes.down("n2");
  bench.pass(2000);
  expect(bench.ends()).toMatchObject([{ job: 1, lost: expect.stringContaining("n2") }]);
  expect(capacity(bench)).toMatchObject({ nodes: ["n1", "n3", "n4"], parts: ["1a 2", "1b 4"] });
  expect(bench.nodes.busy.get("1b")).toBe(2);
});

test("a node that one allocation has lost and another one has now belongs to the other one, with its gangs", () => {
  const bench = new Bench({ groups: GROUPS });
  bench.run({ job: 1, on: ["n1"], script: ENDLESS }, { job: 2, on: ["n3"], script: ENDLESS });
  bench.pass(3000);
  bench.nodes.down("n2");
  bench.pass(2000);
  bench.nodes.begin("c", ["n2"]);
  bench.pass(3000);
  expect(capacity(bench)).toMatchObject({ parts: ["1a 2", "1b 4", "c 2"] });
  // One of its two nodes is left, so half of its memory, and what it had is known.
  expect(bench.executor.capacity.parts?.[0]).toMatchObject({ memoryBytes: 2 ** 39 });
  expect(bench.executor.capacity.parts?.[0].whole?.nodes.processors).toBe(4);
  bench.scripts.set(4, ENDLESS);
  const spec = specOf(4, ["n2"]);
  const others = [specOf(1, ["n1"]), specOf(2, ["n3"])];
  bench.executor.apply([
    { type: "launch", spec },
    { type: "matrix", matrix: bench.matrix([[spec, ...others]]) },
  ]);
  bench.pass(2000);
  expect(Object.fromEntries(bench.nodes.busy)).toEqual({ "1a": 1, "1b": 1, c: 1 });
  bench.nodes.endGroup(0, "its time is over", ["n2"]);
  bench.pass(2000);
  expect(bench.ends().map(({ job }) => job)).toEqual([1]);
  expect(bench.nodes.processesOf(4)).toBe(1);
  expect(capacity(bench)).toMatchObject({ parts: ["1b 4", "c 2"] });
});
