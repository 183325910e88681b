/** Tests drains, holds, edits and cancelled jobs in simulations with cases worked out by hand. */

import type { Interruptions } from "@tutti/kernel/core/interruptions.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { instanceOf, type TestJob } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { describe, expect, test } from "vitest";

const NEVER = Number.POSITIVE_INFINITY;

function run(
  jobs: readonly TestJob[],
  interruptions: Partial<Interruptions>,
  policy: string,
  processors = 4,
  more: Partial<Instance> = {},
) {
  const instance: Instance = {
    ...instanceOf(processors, jobs),
    ...more,
    interruptions: { outages: [], stops: [], ...interruptions },
  };
  const schedule = simulate(instance, choosePolicy(policy), { slotS: 1, switchS: 0 });
  return { starts: Array.from(schedule.startS), ends: Array.from(schedule.endS), given: schedule.given };
}

const SPACE = ["fcfs", "easy", "conservative"];
const ALL = [...SPACE, "gang:rows=1", "br:rows=1"];

describe("a drain", () => {
  test.each(ALL)("%s: running jobs go on, and nothing starts before its end", (policy) => {
    const jobs = [
      { submitS: 0, runS: 10, size: 2 },
      { submitS: 3, runS: 5, size: 2 },
      { submitS: 4, runS: 5, size: 4 },
      { submitS: 12, runS: 2, size: 1 },
    ];
    // Job 2 could start at 3, job 3 at 10. At 20, job 2 starts; next to it fits job 4, not job 3.
    const { starts, ends } = run(jobs, { drains: [{ fromS: 2, untilS: 20 }] }, policy);
    expect(starts.slice(0, 3)).toEqual([0, 20, 25]);
    expect(ends.slice(0, 3)).toEqual([10, 25, 30]);
    expect(starts[3]).toBe(policy === "fcfs" || policy.endsWith("rows=1") ? 30 : 20);
  });

  test("a job that already waits does not start, and order is by submission at the end", () => {
    const jobs = [
      { submitS: 0, runS: 10, size: 4 },
      { submitS: 1, runS: 5, size: 4 },
      { submitS: 12, runS: 5, size: 4 },
    ];
    const drains = [
      { fromS: 5, untilS: 15 },
      { fromS: 17, untilS: NEVER },
    ];
    for (const policy of ALL) expect(run(jobs, { drains }, policy).starts).toEqual([0, 15, Number.NaN]);
  });
});

test("easy: a head that comes back larger gets a new reservation", () => {
  const jobs = [
    { submitS: 0, runS: 100, size: 6 },
    { submitS: 0, runS: 200, size: 2 },
    { submitS: 1, runS: 50, size: 4 },
    { submitS: 4, runS: 500, size: 2 },
  ];
  // With 4 processors, job 3 would start at 100 and leave room for job 4; with 10, it needs all at 200.
  const withdrawals = [{ job: 2, fromS: 2, untilS: 3, change: { size: 10 } }];
  expect(run(jobs, { withdrawals }, "easy", 10).starts).toEqual([0, 0, 200, 250]);
});

describe("a withdrawal", () => {
  const jobs = [
    { submitS: 0, runS: 10, size: 4 },
    { submitS: 1, runS: 10, size: 4 },
    { submitS: 2, runS: 10, size: 4 },
  ];

  test.each(ALL)("%s: a held job lets others pass, and keeps its place in the queue", (policy) => {
    const held = (fromS: number, untilS: number) =>
      run(jobs, { withdrawals: [{ job: 1, fromS, untilS }] }, policy);
    expect(held(5, 12).starts).toEqual([0, 20, 10]);
    expect(held(5, 8).starts).toEqual([0, 10, 20]);
    // From its submit, and before it.
    expect(held(1, 12).starts).toEqual([0, 20, 10]);
    expect(held(0, 12).starts).toEqual([0, 20, 10]);
    // It runs already.
    expect(held(15, 40).starts).toEqual([0, 10, 20]);
  });

  test.each(ALL)("%s: a cancelled job never starts", (policy) => {
    const { starts, ends } = run(jobs, { withdrawals: [{ job: 1, fromS: 5, untilS: NEVER }] }, policy);
    expect(starts).toEqual([0, Number.NaN, 10]);
    expect(ends).toEqual([10, Number.NaN, 20]);
  });

  test.each(ALL)("%s: of two holds at once, the last release counts", (policy) => {
    const withdrawals = [
      { job: 1, fromS: 3, untilS: 22 },
      { job: 1, fromS: 5, untilS: 8 },
    ];
    expect(run(jobs, { withdrawals }, policy).starts).toEqual([0, 22, 10]);
  });

  test.each(ALL)("%s: a job with another size starts on it, also if it was held meanwhile", (policy) => {
    const withdrawals = [
      { job: 2, fromS: 3, untilS: 8 },
      { job: 2, fromS: 5, untilS: 5, change: { size: 2 } },
      { job: 1, fromS: 6, untilS: 6, change: { size: 2 } },
    ];
    const { starts, given } = run(jobs, { withdrawals }, policy);
    expect(starts).toEqual([0, 10, 10]);
    expect(Array.from(given!.size)).toEqual([4, 2, 2]);
  });

  test("EASY uses the new limit: a job backfills once it is short enough, and at once", () => {
    const short = [
      { submitS: 0, runS: 10, size: 3 },
      { submitS: 1, runS: 10, size: 4 },
      { submitS: 2, runS: 4, estimateS: 60, size: 1 },
    ];
    expect(run(short, {}, "easy").starts).toEqual([0, 10, 20]);
    const change = (fromS: number, estimateS: number) => [
      { job: 2, fromS, untilS: fromS, change: { estimateS } },
    ];
    // The head starts at 10: at 5, a job of 5 s fits before it, and one of 6 s does not.
    expect(run(short, { withdrawals: change(5, 5) }, "easy").starts).toEqual([0, 10, 5]);
    expect(run(short, { withdrawals: change(5, 6) }, "easy").starts).toEqual([0, 10, 20]);
  });

  test("a job waits for the GPUs that it asks for now", () => {
    const plain = instanceOf(4, [
      { submitS: 0, runS: 10, size: 1 },
      { submitS: 1, runS: 10, size: 4 },
      { submitS: 2, runS: 10, size: 1 },
    ]);
    const resources = [{ name: "gpu", amount: 1 }];
    const change = { use: { gpu: 1 } };
    const withdrawals = [
      { job: 1, fromS: 3, untilS: NEVER },
      { job: 2, fromS: 1.5, untilS: 4, change },
    ];
    for (const policy of ALL) {
      const instance = {
        ...plain,
        resources,
        demand: [Int32Array.of(1, 0, 0)],
        interruptions: { outages: [], stops: [], withdrawals },
      };
      const { startS } = simulate(instance, choosePolicy(policy), { slotS: 1, switchS: 0 });
      expect(Array.from(startS)).toEqual([0, Number.NaN, 10]);
      expect(Array.from(instance.demand[0])).toEqual([1, 0, 0]);
    }
  });
});

describe("a pause that keeps the processors", () => {
  const jobs = [
    { submitS: 0, runS: 10, size: 2 },
    { submitS: 1, runS: 5, size: 4 },
    { submitS: 2, runS: 9, size: 2 },
  ];
  const freezes = [{ job: 0, fromS: 4, untilS: 100 }];

  test.each(SPACE)("%s: the job ends later by the length of the pause, and others wait for it", (policy) => {
    const { starts, ends } = run(jobs, { freezes }, policy);
    expect([starts[0], ends[0]]).toEqual([0, 106]);
    // From 4 s on, the head is expected to wait for more than a minute: the third job passes it.
    expect(starts[1]).toBe(106);
    expect(starts[2]).toBe(policy === "fcfs" ? 111 : 4);
  });

  test("a pause without an end keeps the job and its processors for ever", () => {
    const { starts, ends } = run(jobs, { freezes: [{ ...freezes[0], untilS: NEVER }] }, "fcfs");
    expect(starts).toEqual([0, Number.NaN, Number.NaN]);
    expect(ends[0]).toBeNaN();
  });

  test("a job that waits or has ended cannot be paused; a gang leaves its row", () => {
    expect(run(jobs, { freezes: [{ job: 1, fromS: 4, untilS: 8 }] }, "fcfs").starts).toEqual([0, 10, 15]);
    expect(run(jobs.slice(0, 1), { freezes: [{ job: 0, fromS: 4, untilS: 9 }] }, "gang").ends).toEqual([15]);
  });
});

describe.each(["gang", "br", "wlv"])("a paused gang under %s", (policy) => {
  // All have the whole machine; the first and the third use the only GPU.
  const jobs = [10, 5, 3, 2].map((runS, i) => ({ submitS: i, runS, size: 4 }));
  const gpu = { resources: [{ name: "gpu", amount: 1 }], demand: [Int32Array.of(1, 0, 1, 0)] };

  test.each([
    // The row is empty at 4 s. At 9 s, the third job is the head of the queue, and needs the GPU.
    ["keeps its GPU, and goes before the queue", "", 6, [], [0, 4, 15, 18], [15, 9, 18, 20]],
    ["keeps its GPU until the pause ends", "", 100, [], [0, 4, 106, 109], [106, 9, 109, 111]],
    ["keeps its GPU, while others pass", ":queue=first-fit", 100, [], [0, 4, 106, 9], [106, 9, 109, 11]],
    ["comes back during a drain", "", 6, [{ fromS: 5, untilS: 50 }], [0, 4, 50, 53], [15, 9, 53, 55]],
  ] as const)("%s (%s)", (_, queue, untilS, drains, starts, ends) => {
    const freezes = [{ job: 0, fromS: 4, untilS }];
    const found = run(jobs, { freezes, drains }, `${policy}:rows=1${queue}`, 4, gpu);
    expect([found.starts, found.ends]).toEqual([starts, ends]);
  });
});

test("a policy that cannot take jobs back is refused", () => {
  const choice = choosePolicy("fcfs");
  const stubborn = { ...choice, definition: { ...choice.definition, capabilities: {} } };
  const instance = {
    ...instanceOf(1, []),
    interruptions: { outages: [], stops: [], drains: [{ fromS: 0, untilS: 1 }] },
  };
  expect(() => simulate(instance, stubborn, { slotS: 1, switchS: 0 })).toThrow(
    'Cannot run policy "fcfs" here: waiting jobs are held, changed or kept back by drains and windows, expected a policy with the capability "withdraw"',
  );
});
