/** A front end that starts while a node does not answer: it serves the others, and ends nothing too early. */
import { expect, test } from "vitest";
import { Bench, ENDLESS, specOf } from "./bench-for-tests.ts";

const SILENT = ["n1 up", "n2 silent", "n3 up", "n4 up"];

/** Gangs 1 on n1 and n2, 2 on n3 and n4, and 3 on n2; then n2 is cut off, and the front end starts again. */
function restarted() {
  const bench = new Bench();
  const specs = bench.run(
    { job: 1, on: ["n1", "n2"], script: ENDLESS },
    { job: 2, on: ["n3", "n4"], script: ENDLESS },
    { job: 3, on: ["n2"], script: ENDLESS },
  );
  bench.pass(2000);
  bench.nodes.cut("n2");
  const fromMs = bench.clock.nowMs();
  bench.restart();
  bench.pass(4000);
  return { bench, specs, fromMs };
}

function statesIn(bench: Bench): string[] {
  return bench
    .of("nodes")
    .at(-1)!
    .nodes.map(({ node, state }) => `${node} ${state}`);
}

test("it serves within four seconds, with the node shown as silent", () => {
  const { bench, fromMs } = restarted();
  const [, again] = bench.of("connected");
  expect(again.atMs - fromMs).toBeLessThan(4500);
  expect(again.attempts).toMatchObject([{ job: 1 }, { job: 2 }]);
  expect(statesIn(bench)).toEqual(SILENT);
  expect(bench.notices()).toEqual(["node-silent n2"]);
  const spec = specOf(4, ["n4"]);
  bench.scripts.set(4, { computeMs: 50 });
  bench.executor.apply([
    { type: "launch", spec },
    { type: "matrix", matrix: bench.matrix([[spec]]) },
  ]);
  bench.pass(1000);
  expect(bench.ends()).toMatchObject([{ job: 4, code: 0 }]);
});

test("the gangs of the node go on when it answers, also one that is on no other node", () => {
  const { bench, specs } = restarted();
  bench.executor.apply([
    ...specs.map((spec) => ({ type: "launch" as const, spec })),
    { type: "matrix", matrix: bench.matrix(specs.map((spec) => [spec])) },
  ]);
  bench.pass(5000);
  expect(bench.executor.hindrance({ job: 3, attempt: 1 })?.message).toBe(
    "node n2 does not answer; there, the job goes on if it can",
  );
  bench.nodes.join("n2");
  const backMs = bench.clock.nowMs();
  bench.pass(3000);
  expect(bench.notices()).toEqual(["node-silent n2", "node-back n2"]);
  expect(bench.ends()).toEqual([]);
  for (const job of [1, 2, 3]) {
    const records = bench.nodes.recordsOf(job);
    expect(records.filter(({ kind }) => kind === "begun")).toHaveLength(1);
    expect(records.some((record) => record.kind === "ran" && record.fromMs > backMs + 1000)).toBe(true);
  }
});

test("a gang that was started on the node, which no longer knows it, is lost and not started again", () => {
  const { bench, specs } = restarted();
  bench.nodes.crash("n2");
  bench.executor.apply([
    ...specs.map((spec) => ({ type: "launch" as const, spec })),
    { type: "matrix", matrix: bench.matrix(specs.map((spec) => [spec])) },
  ]);
  bench.nodes.join("n2");
  bench.nodes.startNode("n2");
  bench.pass(5000);
  const lost = bench
    .ends()
    .map(({ job, lost, neverBegan }) => ({ job, lost: lost !== undefined, neverBegan }));
  expect(lost).toHaveLength(2);
  expect(lost).toEqual(expect.arrayContaining([1, 3].map((job) => ({ job, lost: true }))));
  expect(bench.nodes.recordsOf(3).filter(({ kind }) => kind === "begun")).toHaveLength(1);
});

test("a node that stays away is lost 23 s after the allocation was found", () => {
  const { bench, fromMs } = restarted();
  bench.pass(25_000);
  expect(bench.notices()).toEqual(["node-silent n2", "node-lost n2"]);
  const [, lost] = bench.of("notice");
  expect(lost.atMs - fromMs).toBeGreaterThanOrEqual(23_000);
  expect(lost.atMs - fromMs).toBeLessThan(24_000);
  expect(bench.executor.capacity.nodes.processors).toBe(6);
});

test("when somebody says that nothing runs on the node, its gangs of an earlier front end are lost, and begin no more", () => {
  const { bench, specs } = restarted();
  bench.executor.apply([
    ...specs.map((spec) => ({ type: "launch" as const, spec })),
    { type: "matrix", matrix: bench.matrix(specs.map((spec) => [spec])) },
  ]);
  bench.pass(25_000);
  expect(bench.ends()).toEqual([]);
  bench.executor.apply([{ type: "off", node: "n2", by: "ann" }]);
  bench.pass(2000);
  expect(bench.ends().map(({ job, lost }) => [job, lost !== undefined])).toEqual([
    [1, true],
    [3, true],
  ]);
  for (const job of [1, 3])
    expect(bench.nodes.recordsOf(job).filter(({ kind }) => kind === "begun")).toHaveLength(1);
  expect(bench.nodes.processesOf(2)).toBe(2);
});
