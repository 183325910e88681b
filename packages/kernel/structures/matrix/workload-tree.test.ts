import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockLevel } from "./buddy.ts";
import { WorkloadTree } from "./workload-tree.ts";

/** The naive twin: idle slots in a plain array; every query reads all of them. */
class Leaves {
  readonly idle: number[];
  readonly height: number;
  constructor(processors: number) {
    this.idle = new Array(processors).fill(0);
    this.height = Math.ceil(Math.log2(processors));
  }

  block(level: number, node: number): number[] {
    return this.idle.slice(node * 2 ** level, (node + 1) * 2 ** level);
  }

  value(level: number, node: number): number {
    const block = this.block(level, node);
    return block.every((idle) => idle > 0) ? block.reduce((a, b) => a + b, 0) : 0;
  }

  nodes(level: number): number[] {
    return Array.from({ length: Math.ceil(this.idle.length / 2 ** level) }, (_, node) => node);
  }

  leastLoaded(size: number): number {
    const level = Math.ceil(Math.log2(size));
    let best = -1;
    for (const node of this.nodes(level)) {
      if (this.block(level, node).length < size || this.value(level, node) === 0) continue;
      if (best === -1 || this.value(level, node) > this.value(level, best)) best = node;
    }
    return best;
  }

  add(first: number, end: number, delta: number): void {
    for (let at = first; at < end; at++) this.idle[at] += delta;
  }
}

function expectSame(tree: WorkloadTree, leaves: Leaves): void {
  const copy = new Int32Array(leaves.idle.length);
  tree.copyTo(copy);
  expect([...copy]).toEqual([...leaves.idle]);
  for (let level = 0; level <= leaves.height; level++) {
    for (const node of leaves.nodes(level)) {
      expect(tree.value(level, node)).toBe(leaves.value(level, node));
      expect(tree.least(level, node)).toBe(Math.min(...leaves.block(level, node)));
      expect(tree.width(level, node)).toBe(leaves.block(level, node).length);
    }
  }
  for (let size = 1; size <= leaves.idle.length; size++) {
    expect(tree.leastLoadedBlock(size)).toBe(leaves.leastLoaded(size));
  }
}

type Command = (tree: WorkloadTree, leaves: Leaves) => void;

function commands(processors: number): fc.Arbitrary<Command> {
  const at = fc.nat({ max: processors });
  const range = fc.tuple(at, at).map(([x, y]) => (x < y ? [x, y] : [y, x]));
  return fc.oneof(
    fc
      .tuple(range, fc.integer({ min: -2, max: 2 }))
      .map<Command>(([[first, end], delta]) => (tree, leaves) => {
        if (leaves.idle.slice(first, end).some((idle) => idle + delta < 0)) return;
        tree.add(first, end - first, delta);
        leaves.add(first, end, delta);
      }),
    fc.constantFrom(1, -1).map<Command>((delta) => (tree, leaves) => {
      if (leaves.idle.some((idle) => idle + delta < 0)) return;
      tree.add(0, processors, delta);
      leaves.add(0, processors, delta);
    }),
  );
}

describe("WorkloadTree", () => {
  test("answers as an array of leaves does", () => {
    const scenario = fc.integer({ min: 1, max: 40 }).chain((processors) =>
      fc.record({
        processors: fc.constant(processors),
        commands: fc.array(commands(processors), { maxLength: 40, size: "max" }),
      }),
    );
    fc.assert(
      fc.property(scenario, ({ processors, commands }) => {
        const tree = new WorkloadTree(processors);
        const leaves = new Leaves(processors);
        for (const command of commands) {
          command(tree, leaves);
          expectSame(tree, leaves);
        }
      }),
      { numRuns: 150 },
    );
  });

  // Figure 2 of zhou2000, rebuilt from the text of section 3: J1 and J2 in S1, J6 in S3, no idle slot on P1,
  // two on P8, value 5 for the last four processors.
  //   S1  J1 J1 .  .  .  .  J2 J2
  //   S2  x  x  x  x  y  y  y  .
  //   S3  z  z  z  z  J6 J6 .  .
  const figure2 = () => {
    const tree = new WorkloadTree(8);
    tree.add(0, 8, 3);
    for (const [first, end] of [
      [0, 2],
      [6, 8],
      [0, 4],
      [4, 7],
      [0, 4],
      [4, 6],
    ])
      tree.add(first, end - first, -1);
    return tree;
  };
  const levels = (tree: WorkloadTree) =>
    [3, 2, 1, 0].map((level) =>
      Array.from({ length: 8 >> level }, (_, node) => tree.value(level, node)).join(" "),
    );

  test("shows figure 2 of zhou2000; a job of four processors gets the last four", () => {
    const tree = figure2();
    expect(levels(tree)).toEqual(["0", "0 5", "0 2 2 3", "0 0 1 1 1 1 1 2"]);
    expect(tree.leastLoadedBlock(4)).toBe(1);
    expect(tree.leastLoadedBlock(2)).toBe(3);
    expect(tree.leastLoadedBlock(8)).toBe(-1);
  });

  test("J2 of figure 2 can have another slot, J1 of the busy half cannot", () => {
    const tree = figure2();
    expect([tree.least(1, 0), tree.least(1, 3)]).toEqual([0, 1]);
  });

  test("the end of J1 in figure 2 makes the root nonzero, so that a slot can be deleted", () => {
    const tree = figure2();
    tree.add(0, 2, 1);
    expect(levels(tree)).toEqual(["9", "4 5", "2 2 2 3", "1 1 1 1 1 1 1 2"]);
  });

  test("ties go to the leftmost block; a block cut off by the machine's end takes jobs that fit in it", () => {
    const tree = new WorkloadTree(6);
    tree.add(0, 6, 1);
    expect([1, 2, 3, 4, 5, 6, 7].map((size) => tree.leastLoadedBlock(size))).toEqual([0, 0, 0, 0, 0, 0, -1]);
    tree.add(0, 1, -1);
    expect([1, 2, 3, 4, 5, 6].map((size) => tree.leastLoadedBlock(size))).toEqual([1, 1, -1, -1, -1, -1]);
    const cut = new WorkloadTree(7);
    cut.add(0, 7, 1);
    cut.add(0, 1, -1);
    expect(cut.leastLoadedBlock(3)).toBe(1);
    expect(cut.leastLoadedBlock(4)).toBe(-1);
  });

  test("refuses what would leave a processor with fewer than 0 idle slots, and processors that are missing", () => {
    expect(() => new WorkloadTree(8).add(2, 1, -1)).toThrow("Broken invariant");
    expect(() => new WorkloadTree(6).add(4, 3, 1)).toThrow("Broken invariant");
  });

  test("the level of a job's block is the one of the paper", () => {
    expect([1, 2, 3, 4, 5, 8, 9, 128].map(blockLevel)).toEqual([0, 1, 2, 2, 3, 3, 4, 7]);
  });
});
