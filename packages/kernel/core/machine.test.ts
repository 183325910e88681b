import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areSameCpus, type NodeCpus, NodeTable } from "./machine.ts";

function nodesOf(sizes: readonly number[]): NodeCpus[] {
  return sizes.map((size, i) => ({
    node: `n${i}`,
    cpus: Array.from({ length: size }, (_, cpu) => 2 * cpu + i),
  }));
}

const anySizes = fc.array(fc.integer({ min: 1, max: 96 }), { minLength: 1, maxLength: 12 });

describe("NodeTable", () => {
  test("puts nodes of a larger power of two first, and names CPUs by node", () => {
    const table = new NodeTable(nodesOf([6, 8, 3, 8]));
    expect(table.nodes.map(({ node }) => node)).toEqual(["n1", "n3", "n0", "n2"]);
    expect(table.processors).toBe(25);
    expect([0, 7, 8, 16, 22].map((index) => table.processorAt(index))).toEqual([
      { node: "n1", cpu: 1 },
      { node: "n1", cpu: 15 },
      { node: "n3", cpu: 3 },
      { node: "n0", cpu: 0 },
      { node: "n2", cpu: 2 },
    ]);
    expect(table.cpusAt([6, 7, 8])).toEqual([
      { node: "n1", cpus: [13, 15] },
      { node: "n3", cpus: [3] },
    ]);
  });

  test("of whole nodes gives every node the same power of two of places", () => {
    const table = new NodeTable(nodesOf([6, 8, 3]), true);
    expect(table).toMatchObject({ width: 8, places: 24, processors: 17 });
    expect(table.nodes.map(({ node }) => node)).toEqual(["n0", "n1", "n2"]);
    expect([5, 6, 8, 18, 19].map((index) => table.processorAt(index))).toEqual([
      { node: "n0", cpu: 10 },
      undefined,
      { node: "n1", cpu: 1 },
      { node: "n2", cpu: 6 },
      undefined,
    ]);
    expect(table.cpusAt([4, 5, 6, 7, 8, 9])).toEqual([
      { node: "n0", cpus: [8, 10] },
      { node: "n1", cpus: [1, 3] },
    ]);
    expect(table.cpusAt([6, 7])).toEqual([]);
    // All CPUs of n2, and its places without one; only two CPUs of n0.
    const [n0, , n2] = table.nodes;
    expect(table.indicesOf([n2])).toEqual([16, 17, 18, 19, 20, 21, 22, 23]);
    expect(table.indicesOf([{ ...n0, cpus: [2, 0] }])).toEqual([1, 0]);
    expect(new NodeTable([], true)).toMatchObject({ places: 0, processors: 0 });
  });

  test("of a machine of one node is that node", () => {
    const table = new NodeTable([{ node: "localhost", cpus: [0, 2, 5] }]);
    expect(table.cpusAt([0, 2])).toEqual([{ node: "localhost", cpus: [0, 5] }]);
    expect(table.indicesOf([{ node: "localhost", cpus: [5, 1, 0] }])).toEqual([2, -1, 0]);
    expect(table.indexOf({ node: "other", cpu: 0 })).toBe(-1);
    expect(table.cpusAt([])).toEqual([]);
  });

  test("leads there and back, for any nodes", () => {
    fc.assert(
      fc.property(anySizes, (sizes) => {
        const table = new NodeTable(nodesOf(sizes));
        const all = Array.from({ length: table.processors }, (_, i) => i);
        expect(table.processors).toBe(sizes.reduce((sum, size) => sum + size, 0));
        expect(all.map((i) => table.indexOf(table.processorAt(i)!))).toEqual(all);
        expect(table.indicesOf(table.cpusAt(all))).toEqual(all);
      }),
    );
  });

  test("begins each node at a multiple of the largest power of two that divides its size", () => {
    fc.assert(
      fc.property(anySizes, (sizes) => {
        const table = new NodeTable(nodesOf(sizes));
        for (const { node, cpus } of table.nodes) {
          const first = table.indexOf({ node, cpu: cpus[0] });
          let block = 1;
          while (cpus.length % (2 * block) === 0) block *= 2;
          expect(first % block).toBe(0);
        }
      }),
    );
  });
});

test("areSameCpus() compares nodes, CPUs and their order", () => {
  const cpus = [{ node: "a", cpus: [0, 1] }];
  expect(areSameCpus(cpus, [{ node: "a", cpus: [0, 1] }])).toBe(true);
  for (const other of [
    [],
    [{ node: "b", cpus: [0, 1] }],
    [{ node: "a", cpus: [1, 0] }],
    [...cpus, ...cpus],
  ]) {
    expect(areSameCpus(cpus, other)).toBe(false);
  }
});
