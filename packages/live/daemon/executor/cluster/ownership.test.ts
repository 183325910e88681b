/** Of two front ends, one has all nodes of an allocation, and the other one none. */
import { expect, test } from "vitest";
import { ALL_NODES, Bench, ENDLESS } from "./bench-for-tests.ts";

test("a front end that is refused by the first node touches no other node, and names the other front end once", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ALL_NODES, script: ENDLESS });
  bench.pass(1000);
  bench.nodes.heldBy = { front: "tutti serve on login1", nodes: ["n1"] };
  bench.nodes.greeted.length = 0;
  bench.disconnects.length = 0;
  bench.restart();
  bench.pass(10_000);
  expect(bench.nodes.greeted).toEqual(["n1"]);
  expect(bench.of("connected")).toHaveLength(1);
  expect(bench.disconnects).toEqual([
    "waiting for the first answer of 4 nodes",
    "allocation 1 is used by tutti serve on login1; expected no other front end; end that one, or this one",
  ]);
  // Asked again after 15 s.
  bench.pass(20_000);
  expect(bench.nodes.greeted).toEqual(["n1", "n1", "n1"]);
  expect(bench.disconnects).toHaveLength(2);
  bench.nodes.heldBy = undefined;
  bench.pass(20_000);
  expect(bench.of("connected")).toHaveLength(2);
  expect(bench.executor.trouble).toBeUndefined();
  expect(bench.ends()).toEqual([]);
});

test("a front end that is accepted by a node keeps away if another node refuses it", () => {
  const bench = new Bench();
  bench.nodes.heldBy = { front: "another one", nodes: ["n3"] };
  bench.nodes.greeted.length = 0;
  bench.restart();
  bench.pass(10_000);
  expect(bench.nodes.greeted.slice(0, 2)).toEqual(["n1", "n2"]);
  expect(bench.of("connected")).toHaveLength(1);
  expect(bench.executor.trouble).toContain("another one");
});

test("an allocation that another front end uses counts as busy, so that nobody gives it back", () => {
  const bench = new Bench();
  bench.nodes.heldBy = { front: "another one", nodes: ["n1"] };
  bench.restart();
  for (let s = 0; s < 60; s++) {
    bench.pass(1000);
    expect(bench.nodes.busy.get("1")).not.toBe(0);
  }
  expect(bench.nodes.busy.get("1")).toBeGreaterThanOrEqual(ALL_NODES.length);
});

test("a front end in use goes on if one of its nodes belongs to another one", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS });
  bench.pass(1000);
  bench.nodes.heldBy = { front: "another one", nodes: ["n3"] };
  bench.nodes.dropLink("n3");
  bench.pass(30_000);
  expect(bench.notices()).toEqual(["node-silent n3", "node-lost n3"]);
  expect(bench.executor.capacity.nodes.processors).toBe(6);
  expect(bench.nodes.processesOf(1)).toBe(2);
  expect(bench.ends()).toEqual([]);
});
