import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_JOB } from "../core/jobs.ts";
import { FinishQueue } from "./finish-queue.ts";

describe("FinishQueue", () => {
  test("first() is the head of the sorted list of (round, rank, job), whatever was set and removed before", () => {
    const command = fc.tuple(
      fc.nat({ max: 99 }),
      fc.nat({ max: 5 }),
      fc.nat({ max: 3 }),
      fc.integer({ min: 0, max: 3 }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 200, size: "max" }), (commands) => {
        const queue = new FinishQueue(10);
        const keys = new Map<number, [round: number, rank: number]>();
        for (const [job, round, rank, kind] of commands) {
          if (kind > 0) {
            queue.set(job, round, rank);
            keys.set(job, [round, rank]);
          } else if (keys.delete(job)) {
            queue.remove(job);
          }
          const sorted = [...keys].sort(([a, x], [b, y]) => x[0] - y[0] || x[1] - y[1] || a - b);
          expect(queue.first()).toBe(sorted[0]?.[0] ?? NO_JOB);
          expect(queue.count).toBe(keys.size);
          expect(queue.firstRound()).toBe(sorted[0]?.[1][0] ?? Number.POSITIVE_INFINITY);
          if (keys.has(job)) expect(queue.roundOf(job)).toBe(keys.get(job)![0]);
        }
      }),
    );
  });

  test("remove() refuses a job that is not in the queue", () => {
    for (const job of [1, 4]) expect(() => new FinishQueue(3).remove(job)).toThrow("Broken invariant");
  });
});
