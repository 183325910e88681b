import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WorkloadVector } from "./workload-vector.ts";

/** The naive twin: finds the leftmost window without 0 that has the largest sum. Windows may pass the end. */
function naive(idle: readonly number[], size: number, from: number, end: number): number {
  let best = 0;
  let bestAt = -1;
  for (let at = from; at + size <= end; at++) {
    const window = Array.from({ length: size }, (_, i) => idle[(at + i) % idle.length]);
    const sum = window.reduce((a, b) => a + b, 0);
    if (!window.includes(0) && sum > best) [best, bestAt] = [sum, at];
  }
  return bestAt;
}

describe("WorkloadVector", () => {
  test("figure 5 of zhou1999: of the two windows for five processors the less loaded one, P4 to P8", () => {
    const vector = new WorkloadVector(8);
    [0, 0, 1, 2, 2, 2, 2, 3].forEach((idle, at) => {
      vector.add(at, 1, idle);
    });
    expect(vector.segments).toBe(4);
    expect(vector.leastLoadedWindow(5, 0, 8)).toBe(3);
    expect(vector.leastLoadedWindow(6, 0, 8)).toBe(2);
    expect(vector.leastLoadedWindow(7, 0, 8)).toBe(-1);
    expect(vector.least(2, 6)).toBe(1);
  });

  test("does what a plain array of counts does, on a line and around a ring", () => {
    const change = fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: -3, max: 3 }));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 24 }),
        fc.array(change, { maxLength: 30 }),
        (processors, changes) => {
          const vector = new WorkloadVector(processors);
          const idle = new Array<number>(processors).fill(0);
          for (const [x, y, delta] of changes) {
            const first = x % processors;
            const size = 1 + (y % processors);
            const own = Array.from({ length: size }, (_, i) => (first + i) % processors);
            if (delta === 0) {
              vector.addEverywhere(1);
              for (let at = 0; at < processors; at++) idle[at]++;
            } else if (own.every((at) => idle[at] + delta >= 0)) {
              vector.add(first, size, delta);
              for (const at of own) idle[at] += delta;
            } else
              expect(() => new WorkloadVector(processors).add(first, size, -1)).toThrow("Broken invariant");
            expect(Array.from({ length: processors }, (_, at) => vector.at(at))).toEqual(idle);
            expect(vector.segments).toBe(1 + idle.filter((own, at) => at > 0 && own !== idle[at - 1]).length);
            const copy = new Int32Array(processors);
            vector.copyTo(copy);
            expect([...copy]).toEqual(idle);
            expect(vector.least(first, size)).toBe(Math.min(...own.map((at) => idle[at])));
            expect(vector.leastLoadedWindow(size, 0, processors)).toBe(naive(idle, size, 0, processors));
            const ring = processors + size - 1;
            expect(vector.leastLoadedWindow(size, 0, ring)).toBe(naive(idle, size, 0, ring));
            expect(vector.leastLoadedWindow(size, first, first + processors)).toBe(
              naive(idle, size, first, first + processors),
            );
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});
