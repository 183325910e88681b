import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_JOB } from "../core/jobs.ts";
import { OrderedJobs } from "./ordered-jobs.ts";

/** The naive twin: a plain array that is sorted after each insertion. */
class NaiveList {
  entries: { key: number; job: number }[] = [];
  cursor = 0;
  readonly size: Int32Array;
  readonly value: Float64Array;
  constructor(size: Int32Array, value: Float64Array) {
    this.size = size;
    this.value = value;
  }
  insert(job: number, key: number) {
    this.entries.push({ key, job });
    this.entries.sort((a, b) => a.key - b.key || a.job - b.job);
  }
  remove(job: number) {
    this.entries = this.entries.filter((e) => e.job !== job);
  }
  nextFitting(free: number, maxValue: number, spare: number): number {
    for (; this.cursor < this.entries.length; this.cursor++) {
      const { job } = this.entries[this.cursor];
      if (this.size[job] <= free && (this.value[job] <= maxValue || this.size[job] <= spare)) return job;
    }
    return NO_JOB;
  }
  cover(need: number): { key: number; sum: number } {
    let sum = 0;
    for (const key of [...new Set(this.entries.map((e) => e.key))]) {
      for (const e of this.entries) if (e.key === key) sum += this.size[e.job];
      if (sum >= need) return { key, sum };
    }
    return { key: Number.POSITIVE_INFINITY, sum };
  }
}

/** One step of the model: a method, and numbers for its parameters. */
const step = fc.record({ method: fc.nat(9), a: fc.nat(999), b: fc.nat(40), c: fc.nat(40) });

function checkAgainstTwin(
  steps: { method: number; a: number; b: number; c: number }[],
  jobs: number,
  keys: number,
) {
  const size = Int32Array.from({ length: jobs }, (_, j) => 1 + ((j * 7919) % 32));
  const value = Float64Array.from({ length: jobs }, (_, j) => (j * 104729) % 37);
  const key = (job: number) => (job * 31) % keys;
  const list = new OrderedJobs({ size, estimateS: value }, true);
  const naive = new NaiveList(size, value);
  const inside = new Set<number>();
  for (const { method, a, b, c } of steps) {
    const job = a % jobs;
    if (method <= 4) {
      if (!inside.has(job)) {
        list.insert(job, key(job));
        naive.insert(job, key(job));
        inside.add(job);
      }
    } else if (method === 5) {
      expect(list.remove(job, key(job))).toBe(inside.delete(job));
      naive.remove(job);
    } else if (method === 6) {
      if (list.length > 0) {
        inside.delete(naive.entries[0].job);
        naive.remove(naive.entries[0].job);
        list.removeFirst();
      }
    } else if (method === 7) {
      naive.cursor = a % 2;
      list.startSearch(a % 2);
      for (let found = naive.nextFitting(b, c, b >> 1); ; found = naive.nextFitting(b, c, b >> 1)) {
        expect(list.nextFitting(b, c, b >> 1)).toBe(found);
        if (found === NO_JOB) break;
        if (found % 5 === 0) {
          list.skipFound();
          naive.cursor++;
          continue;
        }
        list.takeFound();
        naive.remove(found);
        inside.delete(found);
      }
    } else if (method === 8) {
      list.cover(a + 1);
      expect({ key: list.coverKey, sum: list.coverSum }).toEqual(naive.cover(a + 1));
    } else if (a === 0) {
      list.clear();
      naive.entries = [];
      inside.clear();
    }
    list.audit();
    const order = new Int32Array(jobs);
    const count = list.copyTo(order);
    expect([...order.subarray(0, count)]).toEqual(naive.entries.map((e) => e.job));
    expect(list.length).toBe(naive.entries.length);
    expect(list.first()).toBe(naive.entries[0]?.job ?? NO_JOB);
    expect(list.totalSize()).toBe(naive.entries.reduce((sum, e) => sum + size[e.job], 0));
  }
}

describe("OrderedJobs", () => {
  test("every method agrees with a sorted array, few distinct keys", () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 120 }), (steps) => checkAgainstTwin(steps, 60, 5)));
  });

  test("every method agrees with a sorted array across splits and merges of blocks", () => {
    const long = fc.array(step, { minLength: 500, maxLength: 900 });
    fc.assert(
      fc.property(long, (steps) => checkAgainstTwin(steps, 900, 397)),
      { numRuns: 15 },
    );
  });

  test("blocks filled in order, then emptied from random places, agree with a sorted array", () => {
    const removals = fc.shuffledSubarray(
      Array.from({ length: 300 }, (_, job) => job),
      { minLength: 290 },
    );
    fc.assert(
      fc.property(removals, (order) => {
        const fill = Array.from({ length: 300 }, (_, a) => ({ method: 0, a, b: 0, c: 0 }));
        const empty = order.map((a, i) => ({ method: i % 9 === 0 ? 8 : 5, a, b: 0, c: 0 }));
        checkAgainstTwin([...fill, ...empty], 300, 1);
      }),
      { numRuns: 10 },
    );
  });

  test("cover() counts every job of the key at which the sum is reached", () => {
    const list = new OrderedJobs({ size: [2, 3, 4, 5], estimateS: [] }, false);
    list.insert(0, 10);
    list.insert(1, 20);
    list.insert(2, 20);
    list.insert(3, 30);
    list.cover(3);
    expect([list.coverKey, list.coverSum]).toEqual([20, 9]);
    list.cover(15);
    expect(list.coverKey).toBe(Number.POSITIVE_INFINITY);
  });
});
