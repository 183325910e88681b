/** Tests outages and stops with cases worked by hand and a naive twin. */

import { checkOutages, type Interruptions, type Outage } from "@tutti/kernel/core/interruptions.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { arbitraryInstance, instanceOf, type TestJob } from "@tutti/kernel/policies/instances-for-tests.ts";
import { interrupted, loss, window } from "@tutti/kernel/policies/interruptions-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import {
  type Decide,
  runTwin,
  twinEasy,
  twinFcfs,
  twinFirstFit,
} from "@tutti/kernel/simulator/pool-twin-for-tests.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const SLOTS = { slotS: 1, switchS: 0 };

interface Case {
  readonly policy: string;
  readonly jobs: readonly TestJob[];
  readonly events: Partial<Interruptions>;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Each pause: job, from, until. */
  readonly pauses?: readonly (readonly number[])[];
}

const job = (submitS: number, size: number, runS: number, estimateS = runS): TestJob => ({
  submitS,
  size,
  runS,
  estimateS,
});

/** On 4 processors. */
const CASES: Readonly<Record<string, Case>> = {
  "idle processors go first": {
    policy: "fcfs",
    jobs: [job(0, 2, 10)],
    events: { outages: [window(3, 8, 2)] },
    starts: [0],
    ends: [10],
  },
  "the job that started last is stopped, keeps its work and continues when there is room": {
    policy: "fcfs",
    jobs: [job(0, 2, 10), job(1, 2, 10)],
    events: { outages: [loss(4, 7, 1)] },
    starts: [0, 1],
    ends: [10, 14],
    pauses: [[1, 4, 7]],
  },
  "what a stopped job leaves over is there for others": {
    policy: "first-fit",
    jobs: [job(0, 4, 10), job(1, 2, 3)],
    events: { outages: [loss(4, 8, 1)] },
    starts: [0, 4],
    ends: [14, 7],
    pauses: [[0, 4, 8]],
  },
  "first come, first served starts a job into an outage that is known": {
    policy: "fcfs",
    jobs: [job(0, 4, 10)],
    events: { outages: [window(5, 9, 4)] },
    starts: [0],
    ends: [14],
    pauses: [[0, 5, 9]],
  },
  "easy keeps the head from running into an outage, and fills the time before it": {
    policy: "easy",
    jobs: [job(0, 4, 10), job(0, 2, 5), job(0, 2, 6)],
    events: { outages: [window(5, 9, 4)] },
    starts: [9, 0, 19],
    ends: [19, 5, 25],
  },
  "easy runs jobs during an outage of some processors": {
    policy: "easy",
    jobs: [job(0, 2, 20), job(0, 4, 5), job(0, 2, 6)],
    events: { outages: [window(4, 8, 2)] },
    starts: [0, 20, 8],
    ends: [20, 25, 14],
  },
  "conservative reserves around an outage that is known": {
    policy: "conservative",
    jobs: [job(0, 3, 4), job(0, 3, 4), job(0, 1, 9)],
    events: { outages: [window(6, 10, 2)] },
    starts: [0, 10, 0],
    ends: [4, 14, 9],
  },
  "conservative plans again when an outage is announced": {
    policy: "conservative",
    jobs: [job(0, 4, 4), job(0, 4, 4), job(0, 4, 4)],
    events: { outages: [window(6, 10, 1, 0, 2)] },
    starts: [0, 10, 14],
    ends: [4, 14, 18],
  },
  "conservative plans again after a sudden loss and when it is over": {
    policy: "conservative",
    jobs: [job(0, 4, 4), job(1, 3, 4), job(1, 4, 4)],
    events: { outages: [loss(2, 20, 1)] },
    // The first job is stopped with 2 s left, and it fits only on 4 processors.
    starts: [0, 2, 22],
    ends: [22, 6, 26],
    pauses: [[0, 2, 20]],
  },
  "dynp plans around an outage that is known": {
    policy: "dynp",
    jobs: [job(0, 4, 10), job(0, 4, 5)],
    events: { outages: [window(6, 9, 1)] },
    starts: [9, 0],
    ends: [19, 5],
  },
  "a job that is stopped gives its processors to others and waits again": {
    policy: "fcfs",
    jobs: [job(0, 3, 10), job(1, 3, 4)],
    events: { stops: [{ job: 0, fromS: 2, untilS: 3 }] },
    starts: [0, 2],
    ends: [14, 6],
    pauses: [[0, 2, 6]],
  },
  "a gang whose processors go away is placed on others, in a row of its own": {
    policy: "wlv",
    jobs: [job(0, 2, 6), job(0, 2, 6)],
    // Both run at the same time for 2 s, and from then on in turn: the first has slots 2, 4, 6, 8.
    events: { outages: [loss(2, 20, 2, 2)] },
    starts: [0, 0],
    ends: [9, 10],
    pauses: [[1, 2, 2]],
  },
  "a gang that finds no room waits outside of the matrix, and those behind it, until the next slot": {
    policy: "br",
    jobs: [job(0, 4, 5), job(1, 1, 1)],
    // Noticed at 3 s, when both have had theirs in turn: slots 0, 1 and 2.
    events: { outages: [window(2.5, 3.5, 1)] },
    starts: [0, 2],
    ends: [7, 3],
    pauses: [[0, 3, 4]],
  },
  "a gang that is stopped keeps its slots": {
    policy: "bc",
    jobs: [job(0, 4, 5)],
    events: { stops: [{ job: 0, fromS: 2, untilS: 6 }] },
    starts: [0],
    ends: [9],
    pauses: [[0, 2, 6]],
  },
  "a job that waits is not stopped": {
    policy: "fcfs",
    jobs: [job(0, 4, 5), job(0, 4, 5)],
    events: { stops: [{ job: 1, fromS: 2, untilS: 30 }] },
    starts: [0, 5],
    ends: [5, 10],
  },
  "what is left of the estimate orders a queue by shortest": {
    policy: "fcfs:order=shortest",
    jobs: [job(0, 4, 10), job(1, 4, 4), job(2, 4, 6)],
    // 8 s were done: 2 s are left, fewer than 4 and 6.
    events: { outages: [loss(8, 9, 4)] },
    starts: [0, 11, 15],
    ends: [11, 15, 21],
    pauses: [[0, 8, 9]],
  },
};

describe("hand-worked cases", () => {
  test.each(Object.entries(CASES))("%s", (_name, { policy, jobs, events, starts, ends, pauses = [] }) => {
    const instance = interrupted(instanceOf(4, jobs), events);
    const schedule = simulate(instance, choosePolicy(policy), SLOTS);
    expect([...schedule.startS]).toEqual(starts);
    expect([...schedule.endS]).toEqual(ends);
    const paused = (schedule.pauses ?? []).map((pause) => [pause.job, pause.fromS, pause.untilS]);
    expect(paused).toEqual(pauses);
  });
});

test.each<[string, Outage[]]>([
  ["the machine has 4 processors", [window(0, 1, 3, 2)]],
  ["an outage must end after it begins", [window(2, 2, 1)]],
  ["an outage must end after it begins", [window(2, 3, 1, 0, 2.5)]],
  ["expected whole numbers", [window(2, 3, 0)]],
  ["outage 1 takes some of these processors away at the same time", [window(0, 9, 2), window(8, 10, 1, 1)]],
])("checkOutages() refuses what cannot be: %s", (message, outages) => {
  expect(() => checkOutages(outages, 4)).toThrow(message);
});

test("prepare() carries interruptions over and finds stopped jobs again", () => {
  const { workload } = instanceOf(8, [job(0, 8, 1), job(0, 2, 1), job(0, 1, 1)]);
  const stops = [0, 2].map((row) => ({ job: row, fromS: 1, untilS: 2 }));
  const outages = [window(0, 1, 4)];
  const drains = [{ fromS: 3, untilS: 4 }];
  const interruptions = { outages, stops, freezes: stops, withdrawals: stops, drains };
  const prepared = prepare({ ...workload, interruptions }, 4, DEFAULT_RULES);
  // The job of the first row does not fit; the last one moves up.
  const kept = [{ job: 1, fromS: 1, untilS: 2 }];
  expect(prepared.interruptions).toEqual({
    outages,
    stops: kept,
    freezes: kept,
    withdrawals: kept,
    drains,
  });
  expect(() => prepare({ ...workload, interruptions: { outages, stops } }, 3, DEFAULT_RULES)).toThrow(
    "the machine has 3 processors",
  );
});

/** Instances of whole seconds with outages that do not overlap. */
const arbitraryCase = fc
  .tuple(
    arbitraryInstance(12),
    fc.array(
      fc.record({
        first: fc.nat(15),
        processors: fc.integer({ min: 1, max: 16 }),
        fromS: fc.nat(120),
        lengthS: fc.integer({ min: 1, max: 40 }),
        warningS: fc.option(fc.nat(60), { nil: undefined }),
      }),
      { maxLength: 6 },
    ),
  )
  .map(([instance, drawn]) => {
    const outages: Outage[] = [];
    for (const { first, processors, fromS, lengthS, warningS } of drawn) {
      const outage = {
        first,
        processors,
        fromS,
        untilS: fromS + lengthS,
        ...(warningS !== undefined && { announcedS: fromS - warningS }),
      };
      try {
        checkOutages([...outages, outage], instance.processors);
        outages.push(outage);
      } catch {
        // Outside this machine, or in conflict with the others.
      }
    }
    return interrupted(instance, { outages });
  });

describe("the same schedule as a naive twin", () => {
  test.each<[string, Decide]>([
    ["fcfs", twinFcfs],
    ["first-fit", twinFirstFit],
    ["easy", twinEasy],
  ])("%s", (name, decide) => {
    const check = (instance: Instance) => {
      const schedule = simulate(instance, choosePolicy(name), SLOTS);
      const expected = runTwin(instance, decide);
      expect([...schedule.startS]).toEqual(expected.startS);
      expect([...schedule.endS]).toEqual(expected.endS);
    };
    fc.assert(fc.property(arbitraryCase, check), { numRuns: 40 });
  });
});
