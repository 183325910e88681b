/** Compares the sizes of jobs with threads with cases worked by hand, and with a naive twin. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mostMemoryFor, roomFor, sizeForTasks } from "./whole-tasks.ts";

/** CPUs and bytes. */
const SMALL = [2, 10] as const;
const MIDDLE = [2, 20] as const;
const LARGE = [2, 30] as const;
const SINGLE = [1, 1000] as const;

test.each([
  // One task is on one node, so it has the larger one's memory at most.
  [1, 1, [SMALL, LARGE], 30],
  // Two on the larger one with 15 each.
  [2, 1, [SMALL, LARGE], 30],
  // Two on the larger one, and one on the other, with 10 each.
  [3, 1, [SMALL, LARGE], 30],
  // Two on each with 10 each.
  [4, 1, [MIDDLE, LARGE], 40],
  // Two on each would have 5 each; the program on one has all of it.
  [4, 1, [SMALL, LARGE], 30],
  // A node has room for one task of two threads.
  [2, 2, [MIDDLE, LARGE], 40],
  [2, 1, [SINGLE, SINGLE], 2000],
  [1, 4, [SMALL, LARGE], 0],
  [1, 1, [], 0],
] as const)(
  "%i tasks of %i threads on nodes of %j CPUs and bytes have at most %i bytes",
  (tasks, threads, nodes, most) => {
    const all = nodes.map(([cpus, memoryBytes]) => ({ cpus, memoryBytes }));
    expect(mostMemoryFor({ tasks, threads }, all)).toBe(most);
  },
);

describe("sizeForTasks()", () => {
  test.each([
    // A stretch of 5 from processor 2 has 2 CPUs of the first node, and 3 of the second.
    [1, 3, [4, 4, 4], "consecutive", 5],
    // From processor 1 on: 3 CPUs of the first node, then a whole node.
    [1, 4, [4, 4], "consecutive", 7],
    // Two threads and even nodes: only a stretch from an odd processor splits a task, and it splits one.
    [2, 2, [4, 4], "consecutive", 5],
    // The last stretch that holds no task has 2 CPUs, so no gang of 3 or more is wrong there.
    [1, 3, [8], "consecutive", 3],
    // All but one CPU of a task on each node, then one more.
    [1, 3, [4, 4, 4], "any", 7],
    // 5 + 2 + 2 CPUs hold only one task; whichever is the tenth, there are two.
    [2, 3, [5, 5, 5], "any", 10],
    [2, 4, [4, 4], "any", 8],
    [4, 1, [4, 4], "any", 4],
  ] as const)(
    "%i tasks of %i threads on nodes of %j CPUs, placed %s: %i",
    (tasks, threads, sizes, placing, size) => {
      expect(sizeForTasks(tasks, threads, sizes, placing)).toBe(size);
    },
  );

  test("holds the tasks wherever a policy puts the gang, and one processor less does not", () => {
    const some = fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 3 }),
      tasks: fc.integer({ min: 1, max: 5 }),
      threads: fc.integer({ min: 2, max: 4 }),
    });
    fc.assert(
      fc.property(some, ({ sizes, tasks, threads }) => {
        fc.pre(roomFor(threads, sizes) >= tasks);
        const nodeOf = sizes.flatMap((cpus, node) => Array<number>(cpus).fill(node));
        const all = nodeOf.length;
        const room = (processors: readonly number[]) =>
          roomFor(
            threads,
            sizes.map((_, node) => processors.filter((processor) => nodeOf[processor] === node).length),
          );
        const every = { consecutive: stretches, any: subsets } as const;
        for (const placing of ["consecutive", "any"] as const) {
          const holds = (size: number) => every[placing](all, size).every((chosen) => room(chosen) >= tasks);
          const size = sizeForTasks(tasks, threads, sizes, placing);
          expect([placing, size, holds(size)]).toEqual([placing, size, true]);
          // A smaller size that always holds them would be enough.
          const less = Array.from({ length: size - 1 }, (_, i) => i + 1);
          expect([placing, size, less.filter(holds)]).toEqual([placing, size, []]);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function stretches(all: number, size: number): number[][] {
  return Array.from({ length: all - size + 1 }, (_, first) =>
    Array.from({ length: size }, (_, i) => first + i),
  );
}

function subsets(all: number, size: number): number[][] {
  const found: number[][] = [];
  for (let bits = 0; bits < 2 ** all; bits++) {
    const chosen = Array.from({ length: all }, (_, i) => i).filter((i) => (bits >> i) & 1);
    if (chosen.length === size) found.push(chosen);
  }
  return found;
}
