import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JobsView, NO_JOB } from "../core/jobs.ts";
import { SharedJobs } from "./shared-jobs.ts";

const JOBS = 80;
const size = Array.from({ length: JOBS }, (_, job) => 1 + ((job * 7919) % 32));
const estimateS = Array.from({ length: JOBS }, (_, job) => (job * 104729) % 37);

/** One step of the model: a method, and numbers for its parameters. */
const step = fc.record({ method: fc.nat(9), a: fc.nat(999), b: fc.nat(40), c: fc.nat(40) });
type Step = { method: number; a: number; b: number; c: number };

/** Compares with a sort of all jobs whenever the order is asked for. */
function checkAgainstTwin(steps: readonly Step[], users: number) {
  const used = new Array<number>(users).fill(0);
  let levels = [...used];
  const user = (job: number) => (job * 31) % users;
  const shares = {
    update: () => {
      levels = [...used];
    },
    level: (job: number) => levels[user(job)],
    // A user may be unknown.
    user: (job: number) => (user(job) === 1 ? undefined : `user ${user(job)}`),
  };
  const list = new SharedJobs({ size, estimateS, shares } as unknown as JobsView);
  const waiting = new Set<number>();
  let passed = new Set<number>();
  const inOrder = () => [...waiting].sort((a, b) => used[user(a)] - used[user(b)] || a - b);
  const nextFitting = (free: number, maxValue: number, spare: number) => {
    const fits = (job: number) => size[job] <= free && (estimateS[job] <= maxValue || size[job] <= spare);
    return inOrder().find((job) => !passed.has(job) && fits(job)) ?? NO_JOB;
  };
  for (const { method, a, b, c } of steps) {
    const job = a % JOBS;
    if (method <= 4) {
      if (!waiting.has(job)) list.insert(job);
      waiting.add(job);
    } else if (method === 5 && waiting.has(job)) {
      expect(list.remove(job)).toBe(true);
      waiting.delete(job);
    } else if (method === 6) {
      waiting.delete(inOrder()[0]);
      list.removeFirst();
    } else if (method === 7) {
      passed = new Set(inOrder().slice(0, a % 2));
      list.startSearch(a % 2);
      for (let found = nextFitting(b, c, b >> 1); ; found = nextFitting(b, c, b >> 1)) {
        expect(list.nextFitting(b, c, b >> 1)).toBe(found);
        if (found === NO_JOB) break;
        if (found % 5 === 0) {
          list.skipFound();
          passed.add(found);
        } else {
          list.takeFound();
          waiting.delete(found);
        }
      }
    } else if (method > 7) {
      // Levels change only between decisions; few values, so that many are equal.
      used[b % users] = c % 7;
      list.update();
    }
    expect(list.length).toBe(waiting.size);
    expect(list.first()).toBe(inOrder()[0] ?? NO_JOB);
    const order = new Int32Array(JOBS);
    expect([...order.subarray(0, list.copyTo(order))]).toEqual(inOrder());
  }
}

describe("SharedJobs", () => {
  test.each([1, 2, 5, 40])("every method agrees with a sort of all jobs, %i users", (users) => {
    fc.assert(fc.property(fc.array(step, { maxLength: 150 }), (steps) => checkAgainstTwin(steps, users)));
  });

  test("usage is counted only while at least two users wait", () => {
    let updates = 0;
    const shares = { update: () => updates++, level: (job: number) => job, user: (job: number) => job };
    const list = new SharedJobs({ size, estimateS, shares } as unknown as JobsView);
    list.insert(0);
    list.update();
    expect([list.first(), updates]).toEqual([0, 0]);
    list.insert(1);
    list.update();
    expect([list.first(), list.first(), updates]).toEqual([0, 0, 1]);
  });

  test("without shares, jobs are in order of their numbers", () => {
    const list = new SharedJobs({ size, estimateS } as unknown as JobsView);
    for (const job of [5, 3, 4]) list.insert(job);
    list.update();
    const order = new Int32Array(3);
    list.copyTo(order);
    expect([...order]).toEqual([3, 4, 5]);
  });
});
