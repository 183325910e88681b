import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_JOB } from "../core/jobs.ts";
import { AgingJobs, valueAt } from "./aging-jobs.ts";

/** The naive twin: sorts all jobs whenever the order is asked for. */
class NaiveList {
  readonly waiting = new Set<number>();
  nowS = 0;
  readonly #jobs: Columns;
  #passed = new Set<number>();
  constructor(jobs: Columns) {
    this.#jobs = jobs;
  }
  inOrder(): number[] {
    const { size, estimateS, submitS } = this.#jobs;
    const values: number[] = [];
    for (const job of this.waiting) {
      const ratio = (this.nowS - submitS[job]) / Math.max(estimateS[job], 1);
      values[job] = size[job] * ratio * ratio * ratio;
    }
    return [...this.waiting].sort((a, b) => values[b] - values[a] || a - b);
  }
  startSearch(skip: number) {
    this.#passed = new Set(this.inOrder().slice(0, skip));
  }
  skip(job: number) {
    this.#passed.add(job);
  }
  nextFitting(free: number, maxValue: number, spare: number): number {
    const { size, estimateS } = this.#jobs;
    const fits = (job: number) => size[job] <= free && (estimateS[job] <= maxValue || size[job] <= spare);
    return this.inOrder().find((job) => !this.#passed.has(job) && fits(job)) ?? NO_JOB;
  }
}

interface Columns {
  readonly size: readonly number[];
  readonly estimateS: readonly number[];
  readonly submitS: readonly number[];
}

/** One step of the model: a method, and numbers for its parameters. */
const step = fc.record({ method: fc.nat(9), a: fc.nat(999), b: fc.nat(40), c: fc.nat(40) });
type Step = { method: number; a: number; b: number; c: number };

/** @param gapS how fast time passes, and the unit of all times */
function checkAgainstTwin(steps: readonly Step[], jobs: Columns, gapS: number) {
  const list = new AgingJobs(jobs);
  const naive = new NaiveList(jobs);
  const { submitS } = jobs;
  for (const { method, a, b, c } of steps) {
    const job = a % submitS.length;
    if (method <= 4) {
      // Jobs arrive before the order is asked for at the present time.
      if (!naive.waiting.has(job)) list.insert(job);
      naive.waiting.add(job);
      naive.nowS = Math.max(naive.nowS, submitS[job]);
      list.age(naive.nowS);
    } else if (method === 5) {
      expect(list.remove(job)).toBe(naive.waiting.delete(job));
    } else if (method === 6) {
      naive.waiting.delete(naive.inOrder()[0]);
      if (list.length > 0) list.removeFirst();
    } else if (method === 7) {
      naive.startSearch(a % 2);
      list.startSearch(a % 2);
      for (let found = naive.nextFitting(b, gapS * c, b >> 1); ; ) {
        expect(list.nextFitting(b, gapS * c, b >> 1)).toBe(found);
        if (found === NO_JOB) break;
        if ((found + c) % 3 > 0) {
          list.skipFound();
          naive.skip(found);
        } else {
          list.takeFound();
          naive.waiting.delete(found);
        }
        expect(list.first()).toBe(naive.inOrder()[0] ?? NO_JOB);
        found = naive.nextFitting(b, gapS * c, b >> 1);
      }
      // Time may pass while skipped jobs wait for the next search.
      naive.nowS += gapS * (c % 6);
      list.age(naive.nowS);
    } else {
      naive.nowS += gapS * b;
      list.age(naive.nowS);
    }
    expect(list.length).toBe(naive.waiting.size);
    expect(list.first()).toBe(naive.inOrder()[0] ?? NO_JOB);
    if (a % 8 > 0) continue;
    const order = new Int32Array(submitS.length);
    expect([...order.subarray(0, list.copyTo(order))]).toEqual(naive.inOrder());
  }
}

/** Few sizes and lengths, cubes among the sizes: many lines are equal, parallel or meet at one instant. */
function columns(jobs: number, gapS: number): Columns {
  const row = (values: (job: number) => number) => Array.from({ length: jobs }, (_, job) => values(job));
  return {
    size: row((job) => [1, 8, 27, 2, 3][(job * 7919) % 5]),
    estimateS: row((job) => gapS * [4, 8, 12, 0, 5, 4][(job * 104729) % 6]),
    submitS: row((job) => gapS * ((job * 31) % 11)),
  };
}

describe("AgingJobs", () => {
  test.each([
    ["whole seconds", 1],
    ["tenths of seconds", 0.1],
    ["large numbers", 1e8 / 3],
  ])("every method agrees with a sort of all jobs, %s", (_, gapS) => {
    const steps = fc.array(step, { maxLength: 200 });
    fc.assert(fc.property(steps, (steps) => checkAgainstTwin(steps, columns(60, gapS), gapS)));
  });

  test("every method agrees with a sort of all jobs in a long queue, with any lengths", () => {
    const long = fc.array(step, { minLength: 300, maxLength: 400 });
    const jobs = columns(300, 1);
    const estimateS = jobs.estimateS.map((_, job) => 1 + ((job * 104729) % 977) / 7);
    fc.assert(
      fc.property(long, (steps) => checkAgainstTwin(steps, { ...jobs, estimateS }, 1)),
      { numRuns: 10 },
    );
  });

  test("a short job overtakes a large one when its value is larger, and not before", () => {
    // 64 × (t ÷ 40)³ and 1 × ((t − 10) ÷ 5)³: the cube roots are t ÷ 10 and (t − 10) ÷ 5, equal at 20 s.
    const list = new AgingJobs({ size: [64, 1], estimateS: [40, 5], submitS: [0, 10] });
    list.insert(0);
    list.insert(1);
    const firstAt = (nowS: number) => {
      list.age(nowS);
      return list.first();
    };
    expect([10, 19.999999, 20, 20.000001, 1000].map(firstAt)).toEqual([0, 0, 0, 1, 1]);
    // As after a clock was set back.
    expect([19, 21].map(firstAt)).toEqual([0, 1]);
  });

  test("jobs that a search skipped overtake each other before the next one", () => {
    // The jobs of the test above. Both are skipped at 10 s, when their cube roots are 1 and 0.
    const list = new AgingJobs({ size: [64, 1], estimateS: [40, 5], submitS: [0, 10] });
    list.insert(0);
    list.insert(1);
    list.age(10);
    list.startSearch(0);
    for (const job of [0, 1]) {
      expect(list.nextFitting(64, 40, 64)).toBe(job);
      list.skipFound();
    }
    expect(list.first()).toBe(0);
    list.age(21);
    expect(list.first()).toBe(1);
  });

  test("values are those of the definition, with estimates below a second as one second", () => {
    expect(valueAt(30, 2, 10, 10)).toBe(16);
    expect(valueAt(3, 2, 0, 1)).toBe(16);
  });
});
