/**
 * Tests countable resources with cases worked by hand, a naive machine that packs vectors, and a naive twin.
 */

import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { StartRule } from "@tutti/kernel/core/policy.ts";
import type { ResourceKind } from "@tutti/kernel/core/resources.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { PoolMachine } from "@tutti/kernel/machines/pool-machine.ts";
import { arbitraryInstance, instanceOf } from "@tutti/kernel/policies/instances-for-tests.ts";
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

function withResources(
  instance: Instance,
  resources: readonly ResourceKind[],
  demand: readonly number[][],
): Instance {
  return { ...instance, resources, demand: demand.map((column) => Int32Array.from(column)) };
}

/** On 4 processors and 2 GPUs: processors, GPUs, estimate, run time if shorter; all arrive at 0. */
const CASES: Readonly<Record<string, readonly [policy: string, jobs: number[][], starts: number[]]>> = {
  "a job waits for GPUs though processors are idle": [
    "fcfs",
    [
      [1, 2, 5],
      [1, 1, 5],
      [1, 0, 5],
    ],
    [0, 5, 5],
  ],
  "first fit passes it": [
    "first-fit",
    [
      [1, 2, 5],
      [1, 1, 5],
      [1, 0, 5],
    ],
    [0, 5, 0],
  ],
  "the largest that fits is not the largest": [
    "fpmpfs",
    [
      [1, 2, 5],
      [3, 1, 5],
      [2, 0, 5],
    ],
    // Job 2 takes a GPU first; job 1, which needs both, waits for it.
    [5, 0, 5],
  ],
  "easy reserves GPUs: a job that would take one past the shadow time waits": [
    "easy",
    [
      [1, 1, 5],
      [1, 2, 5],
      [1, 1, 6],
      [1, 1, 5],
    ],
    [0, 5, 10, 0],
  ],
  "easy: a job without GPUs starts if it ends before the reservation": [
    "easy",
    [
      [1, 1, 5],
      [4, 2, 5],
      [1, 0, 5],
      [1, 0, 6],
    ],
    [0, 5, 0, 10],
  ],
  "conservative reserves over all kinds": [
    "conservative",
    [
      [1, 2, 5],
      [4, 0, 5],
      [1, 1, 5],
      [1, 0, 5],
    ],
    [0, 5, 10, 0],
  ],
  "conservative: when a job ends early, one that needs no GPU passes one that lacks a GPU": [
    "conservative",
    [
      [1, 1, 20],
      [3, 1, 30, 5],
      [1, 2, 10],
      [2, 0, 10],
    ],
    // Until 5, both wait until 30.
    [0, 0, 20, 5],
  ],
  "gangs hold theirs from the first slot to the last, whether it is their turn or not": [
    "wlv",
    [
      [4, 2, 5],
      [4, 0, 5],
      [1, 1, 5],
    ],
    // Jobs 1 and 2 in turn until 9; the third waits for a GPU until then, and slot 9 is still the second's.
    [0, 1, 10],
  ],
  "dynp plans over all kinds": [
    "dynp",
    [
      [1, 2, 5],
      [4, 0, 6],
      [1, 1, 7],
    ],
    [0, 5, 11],
  ],
};

describe("hand-worked cases", () => {
  test.each(Object.entries(CASES))("%s", (_name, [policy, jobs, starts]) => {
    const plain = instanceOf(
      4,
      jobs.map(([size, , estimateS, runS = estimateS]) => ({ submitS: 0, size, runS, estimateS })),
    );
    const instance = withResources(plain, [{ name: "gpu", amount: 2 }], [jobs.map(([, gpus]) => gpus)]);
    expect([...simulate(instance, choosePolicy(policy), SLOTS).startS]).toEqual(starts);
  });
});

test("a policy that cannot handle resources is refused with a message", () => {
  const instance = withResources(instanceOf(512, []), [{ name: "gpu", amount: 2 }], [[]]);
  expect(() => simulate(instance, choosePolicy("connected-reservation"), SLOTS)).toThrow(
    'Cannot run policy "connected-reservation" here: jobs need resources besides processors, expected a policy whose copesWith lists "resources"',
  );
});

describe("prepare()", () => {
  const { workload } = instanceOf(4, [
    { submitS: 0, size: 1, runS: 1 },
    { submitS: 0, size: 1, runS: 1 },
  ]);
  const needy = { ...workload, demand: [{ kind: "gpu", amount: Int32Array.of(1, 3) }] };
  const gpus = [
    { name: "disk", amount: 1 },
    { name: "gpu", amount: 2 },
  ];

  test("jobs that need more than there is are dropped, or clipped", () => {
    const dropped = prepare(needy, 4, { ...DEFAULT_RULES, oversize: "drop" }, gpus);
    expect([dropped.count, dropped.demand]).toEqual([1, [Int32Array.of(0), Int32Array.of(1)]]);
    expect(dropped.diagnostics.map(({ code, count }) => [code, count])).toEqual([["resource-dropped", 1]]);
    const clipped = prepare(needy, 4, { ...DEFAULT_RULES, oversize: "clip" }, gpus);
    expect([clipped.count, clipped.demand]).toEqual([2, [Int32Array.of(0, 0), Int32Array.of(1, 2)]]);
  });

  test("resources that the machine does not name are not limited", () => {
    expect(prepare(needy, 4, DEFAULT_RULES)).toMatchObject({ count: 2, workloadRow: undefined });
    expect(prepare(needy, 4, DEFAULT_RULES).resources).toBeUndefined();
  });

  test("impossible resources are refused", () => {
    expect(() => prepare(needy, 4, DEFAULT_RULES, [{ name: "gpu", amount: 1.5 }])).toThrow('1.5 of "gpu"');
    expect(() => prepare(needy, 4, DEFAULT_RULES, [gpus[0], gpus[0]])).toThrow('"disk" twice');
  });
});

/** A machine without a clock. */
class BarePool extends PoolMachine {
  override enter(job: number): void {
    super.enter(job);
  }
  override leave(job: number): void {
    super.leave(job);
  }
  wakeAt(): void {}
  protected onStart(): void {}
  protected onSuspend(): void {}
}

/** Up to three kinds of resources; not every job needs every kind. */
const arbitraryResources = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 3 });

test("the machine fits, starts and refuses as a naive one that packs vectors", () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 8 }),
    arbitraryResources,
    fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.array(fc.nat(4), { minLength: 3, maxLength: 3 })), {
      minLength: 1,
      maxLength: 12,
    }),
    fc.array(fc.nat(11), { maxLength: 60 }),
    (processors, amounts, jobs, actions) => {
      const kinds = amounts.map((amount, k) => ({ name: `kind ${k}`, amount }));
      const demand = kinds.map((_, k) => jobs.map(([, needs]) => needs[k]));
      const size = Int32Array.from(jobs, ([own]) => own);
      const pool = new BarePool(processors, size, undefined, { resources: kinds, demand });
      for (const job of jobs.keys()) pool.enter(job);
      const running = new Set<number>();
      const ended = new Set<number>();
      for (const action of actions) {
        const job = action % jobs.length;
        if (running.delete(job)) {
          pool.leave(job);
          ended.add(job);
          continue;
        }
        const vector = (one: number) => [size[one], ...demand.map((column) => column[one])];
        const used = (k: number) => [...running].reduce((sum, one) => sum + vector(one)[k], 0);
        const fits =
          !ended.has(job) &&
          [processors, ...amounts].every((amount, k) => used(k) + vector(job)[k] <= amount);
        expect(pool.fits(job)).toBe(fits);
        const start = () => pool.start(job, StartRule.other);
        if (fits) {
          start();
          running.add(job);
        } else expect(start).toThrow(RuleViolation);
        expect(pool.free).toBe(processors - used(0));
      }
    },
  );
  fc.assert(property, { numRuns: 300 });
});

describe("the same schedule as a naive twin", () => {
  const arbitraryCase = fc.tuple(arbitraryInstance(12), arbitraryResources, fc.infiniteStream(fc.nat(6)));
  test.each<[string, Decide]>([
    ["fcfs", twinFcfs],
    ["first-fit", twinFirstFit],
    ["easy", twinEasy],
  ])("%s", (name, decide) => {
    const property = fc.property(arbitraryCase, ([plain, amounts, needs]) => {
      const kinds = amounts.map((amount, k) => ({ name: `kind ${k}`, amount }));
      const demand = amounts.map((amount) =>
        Array.from({ length: plain.count }, () => Math.min(amount, Number(needs.next().value))),
      );
      const instance = withResources(plain, kinds, demand);
      const schedule = simulate(instance, choosePolicy(name), SLOTS);
      const expected = runTwin(instance, decide);
      expect([...schedule.startS]).toEqual(expected.startS);
      expect([...schedule.endS]).toEqual(expected.endS);
    });
    fc.assert(property, { numRuns: 40 });
  });

  test("a resource that no job needs changes nothing: EASY by plan is EASY", () => {
    const property = fc.property(arbitraryInstance(40), (plain) => {
      const instance = withResources(plain, [{ name: "gpu", amount: 0 }], [new Array(plain.count).fill(0)]);
      for (const name of ["easy", "easy:order=shortest", "easy:order=wfp", "conservative", "dynp"]) {
        const choice = choosePolicy(name);
        expect(simulate(instance, choice, SLOTS).startS).toEqual(simulate(plain, choice, SLOTS).startS);
      }
    });
    fc.assert(property, { numRuns: 200 });
  });
});
