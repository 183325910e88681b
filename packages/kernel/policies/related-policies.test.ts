/**
 * Tests FPMPFS and dynP, the other policies of kawanami2008, on cases worked by hand and against naive twins.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instance } from "../core/jobs.ts";
import { simulatePool } from "../simulator/pool.ts";
import { arbitraryInstance, instanceOf, type TestJob } from "./instances-for-tests.ts";
import { choosePolicy } from "./parse-policy.ts";

function startsOf(instance: Instance, policy: string): number[] {
  const { definition, parameters } = choosePolicy(policy);
  if (definition.sharing !== "space") throw new Error("expected space sharing");
  return [...simulatePool(instance, definition, parameters).startS];
}

const job = (submitS: number, runS: number, size: number, estimateS = runS): TestJob => ({
  submitS,
  runS,
  size,
  estimateS,
});

interface Situation {
  readonly waiting: number[];
  readonly running: number[];
  readonly free: number;
  readonly nowS: number;
  readonly startS: readonly number[];
}

/**
 * Runs jobs with a decision that is a plain function and returns the jobs to start at the present instant.
 */
function plainly(instance: Instance, decide: (situation: Situation) => number[]): number[] {
  const startS: number[] = new Array(instance.count).fill(Number.NaN);
  const ended = new Set<number>();
  const jobs = [...startS.keys()];
  const endOf = (j: number) => startS[j] + instance.runS[j];
  const isRunning = (j: number) => !Number.isNaN(startS[j]) && !ended.has(j);
  let arrived = 0;
  for (;;) {
    const nowS = Math.min(
      ...jobs.filter(isRunning).map(endOf),
      arrived < instance.count ? instance.submitS[arrived] : Number.POSITIVE_INFINITY,
    );
    if (nowS === Number.POSITIVE_INFINITY) return startS;
    for (const j of jobs.filter(isRunning)) if (endOf(j) === nowS) ended.add(j);
    while (arrived < instance.count && instance.submitS[arrived] === nowS) arrived++;
    const waiting = jobs.filter((j) => j < arrived && Number.isNaN(startS[j]));
    const running = jobs.filter(isRunning);
    const free = instance.processors - running.reduce((sum, j) => sum + instance.size[j], 0);
    for (const j of decide({ waiting, running, free, nowS, startS })) startS[j] = nowS;
  }
}

/**
 * dynP's decision: plans all waiting jobs, in the order that the mean estimate decides, on a list of
 * intervals.
 */
function planAll(instance: Instance, lower: number, upper: number, situation: Situation): number[] {
  const { waiting, running, nowS, startS } = situation;
  const { estimateS, size, processors } = instance;
  const mean = waiting.reduce((sum, j) => sum + estimateS[j], 0) / waiting.length;
  const sign = mean <= lower ? 1 : mean <= upper ? 0 : -1;
  const order = [...waiting].sort((a, b) => sign * (estimateS[a] - estimateS[b]) || a - b);
  const taken = running.map((j) => ({ fromS: nowS, untilS: startS[j] + estimateS[j], size: size[j] }));
  const usedAt = (atS: number) =>
    taken.filter((one) => one.fromS <= atS && atS < one.untilS).reduce((sum, one) => sum + one.size, 0);
  let free = situation.free;
  const starting: number[] = [];
  for (const j of order) {
    const fits = (fromS: number) =>
      [
        fromS,
        ...taken.map((one) => one.fromS).filter((atS) => fromS < atS && atS < fromS + estimateS[j]),
      ].every((atS) => usedAt(atS) + size[j] <= processors);
    const candidates = [nowS, ...taken.map((one) => one.untilS)].filter((atS) => atS >= nowS);
    const fromS = candidates.sort((a, b) => a - b).find(fits)!;
    taken.push({ fromS, untilS: fromS + estimateS[j], size: size[j] });
    if (fromS > nowS || size[j] > free) continue;
    free -= size[j];
    starting.push(j);
  }
  return starting;
}

describe("fpmpfs", () => {
  test("the largest job that fits starts, in whatever order jobs came", () => {
    // At 10 all 8 are free: 5 beats 4, then 3 beats 2.
    const instance = instanceOf(8, [job(0, 10, 8), job(1, 5, 2), job(2, 5, 4), job(3, 5, 5), job(4, 5, 3)]);
    expect(startsOf(instance, "fpmpfs")).toEqual([0, 15, 15, 10, 10]);
  });

  test("a job past the wait limit blocks all others until it starts", () => {
    // Job 2 needs all 8; from 20 s on it has waited longer than 18 s, so job 4 may not start at 21.
    const jobs = [job(0, 40, 4), job(1, 5, 8), job(2, 6, 4), job(9, 12, 4), job(20, 9, 4)];
    expect(startsOf(instanceOf(8, jobs), "fpmpfs:waitLimit=18")).toEqual([0, 40, 2, 9, 45]);
    expect(startsOf(instanceOf(8, jobs), "fpmpfs:waitLimit=1000")).toEqual([0, 40, 2, 9, 21]);
  });

  test("agrees with a plain twin for any jobs and limits", () => {
    fc.assert(
      fc.property(arbitraryInstance(40), fc.constantFrom(0, 5, 30, 1000), (instance, limitS) => {
        const twin = plainly(instance, ({ waiting, free, nowS }) => {
          const overdue = waiting.filter((j) => nowS - instance.submitS[j] > limitS);
          const others = waiting.filter((j) => !overdue.includes(j));
          others.sort((a, b) => instance.size[b] - instance.size[a] || a - b);
          const starting: number[] = [];
          let left = free;
          for (const j of [...overdue, ...others]) {
            const fits = instance.size[j] <= left;
            if (!fits && overdue.includes(j)) break;
            if (!fits) continue;
            left -= instance.size[j];
            starting.push(j);
          }
          return starting;
        });
        expect(startsOf(instance, `fpmpfs:waitLimit=${limitS}`)).toEqual(twin);
      }),
    );
  });
});

describe("dynp", () => {
  const jobs = [job(0, 10, 4), job(1, 30, 4), job(2, 20, 4), job(3, 40, 4)];

  test("the mean estimate of the waiting jobs chooses the order", () => {
    // Waiting at 10 s: 30, 20, 40; their mean is 30.
    expect(startsOf(instanceOf(4, jobs), "dynp:lower=30:upper=1000")).toEqual([0, 30, 10, 60]); // shortest
    expect(startsOf(instanceOf(4, jobs), "dynp:lower=0:upper=1000")).toEqual([0, 10, 40, 60]); // first come
    expect(startsOf(instanceOf(4, jobs), "dynp:lower=0:upper=0")).toEqual([0, 50, 80, 10]); // longest
  });

  test("the order is chosen again at every decision", () => {
    // At 10 s the mean is 30: longest first. At 50 s 30 and 20 wait, mean 25: shortest first.
    expect(startsOf(instanceOf(4, jobs), "dynp:lower=26:upper=29")).toEqual([0, 70, 50, 10]);
  });

  test("a job starts out of order if it delays no job planned before it", () => {
    const planned = [job(0, 10, 3), job(1, 5, 4), job(2, 8, 1), job(3, 9, 1)];
    // Job 2 is planned for 10 s; job 3 ends by then; job 4 would not.
    expect(startsOf(instanceOf(4, planned), "dynp:lower=0:upper=1000")).toEqual([0, 10, 2, 15]);
  });

  test("agrees with a twin that plans every waiting job on a list of intervals", () => {
    const bounds = fc.constantFrom([0, 1000], [1000, 1000], [0, 0], [20, 40]);
    fc.assert(
      fc.property(arbitraryInstance(25), bounds, (instance, [lower, upper]) => {
        const twin = plainly(instance, (situation) => planAll(instance, lower, upper, situation));
        expect(startsOf(instance, `dynp:lower=${lower}:upper=${upper}`)).toEqual(twin);
      }),
      { numRuns: 300 },
    );
  });
});
