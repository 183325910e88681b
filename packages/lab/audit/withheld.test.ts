/**
 * Drains, holds, edits, pauses and limits: the checker passes honest policies and reports wrong schedules,
 * worked out by hand.
 */

import type { Interruptions } from "@tutti/kernel/core/interruptions.ts";
import type { Instance, JobIndex, JobsView, Workload } from "@tutti/kernel/core/jobs.ts";
import { type Policy, type Pool, type SpacePolicyDefinition, StartRule } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import type { Observer, Schedule } from "@tutti/kernel/core/schedule.ts";
import { instanceOf, seededInstance } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy, makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { audit, auditLines } from "./audit.ts";
import { type AuditRule, noCounts, StopRun, type Violation } from "./checker.ts";
import { withoutLaterEvents } from "./probes.ts";
import { SpaceChecker } from "./space.ts";

const SLOTS = { slotS: 1, switchS: 0 };
const CLAIMS = { headNeverFits: true, workConserving: false, keepsPromises: false };
const NONE: Interruptions = { outages: [], stops: [] };

/** Two jobs of 10 s on 2 of 4 processors, both submitted at 0. */
function world(interruptions: Partial<Interruptions>, workload: Partial<Workload> = {}): Instance {
  const plain = instanceOf(4, [
    { submitS: 0, runS: 10, estimateS: 20, size: 2, id: 21 },
    { submitS: 0, runS: 10, estimateS: 20, size: 2, id: 22 },
  ]);
  return {
    ...plain,
    interruptions: { ...NONE, ...interruptions },
    workload: { ...plain.workload, ...workload },
  };
}

/** What the checker finds in a schedule, given as the starts and ends of the two jobs. */
function found(
  instance: Instance,
  [startS, endS]: readonly (readonly [number, number])[],
  more: Partial<Schedule> = {},
): Violation | undefined {
  const checker: SpaceChecker & Observer = new SpaceChecker(instance, noCounts(), CLAIMS, {});
  const instants = [...new Set([0, 5, 20, ...startS, ...endS])].filter((atS) => atS >= 0);
  try {
    for (const atS of instants.sort((a, b) => a - b)) {
      for (const job of [0, 1]) if (endS[job] === atS) checker.departed(atS, job);
      if (atS === 0) for (const job of [0, 1]) checker.arrived(0, job);
      for (const job of [0, 1]) if (startS[job] === atS) checker.started(atS, job, 0);
      checker.decided(atS);
    }
    checker.finish({
      startS: Float64Array.from(startS),
      endS: Float64Array.from(endS),
      instants: instants.length,
      startsByRule: [startS.filter((atS) => atS >= 0).length],
      gang: undefined,
      ...more,
    });
  } catch (error) {
    if (!(error instanceof StopRun)) throw error;
  }
  return checker.violation;
}

const users = (...names: string[]) => names.map((user) => ({ user, queue: "night" }));
const pause = (job: number, fromS: number, untilS: number) => ({ job, fromS, untilS });

describe("the checker's books of what keeps jobs from outside", () => {
  const drains = [{ fromS: 0, untilS: 5 }];
  const held = { withdrawals: [{ job: 1, fromS: 0, untilS: 5 }] };
  const frozen = { freezes: [{ job: 0, fromS: 4, untilS: 7 }] };
  const edit = { withdrawals: [{ job: 1, fromS: 0, untilS: 0, change: { size: 3 } }] };
  const given = { size: Int32Array.of(2, 3), runS: Float64Array.of(10, 10) };
  const one = { limits: { runningJobs: 1 }, notes: users("anna", "anna") };
  const queue = { limits: { queues: { night: { runningCpus: 3 } } }, notes: users("anna", "ben") };

  const sound: readonly [string, Instance, [number, number], [number, number], Partial<Schedule>?][] = [
    ["a drain", world({ drains }), [5, 5], [15, 15]],
    ["a hold", world(held), [0, 5], [10, 15]],
    ["a pause", world(frozen), [0, 0], [13, 10], { pauses: [pause(0, 4, 7)] }],
    ["an edit", world(edit), [0, 10], [10, 20], { given }],
    ["a limit on a user", world({}, one), [0, 10], [10, 20]],
    ["a limit on a queue", world({}, queue), [0, 10], [10, 20]],
  ];
  test.each(sound)("a sound schedule passes: %s", (_, instance, startS, endS, more) => {
    expect(found(instance, [startS, endS], more)).toBeUndefined();
  });

  const wrong: readonly [
    AuditRule,
    number,
    Instance,
    [number, number],
    [number, number],
    Partial<Schedule>?,
  ][] = [
    ["drained", 21, world({ drains }), [0, 0], [10, 10]],
    ["drained", 22, world({ drains: [{ fromS: 3, untilS: 6 }], ...held }), [0, 5], [10, 15]],
    ["held", 22, world(held), [0, 0], [10, 10]],
    ["head-waits", 22, world(held), [0, 20], [10, 30]],
    ["run-length", 21, world(frozen), [0, 0], [10, 10]],
    ["run-length", 21, world(frozen), [0, 0], [14, 10]],
    ["processor-twice", 22, world(edit), [0, 0], [10, 10], { given }],
    ["limit-exceeded", 22, world({}, one), [0, 0], [10, 10]],
    ["limit-exceeded", 22, world({}, queue), [0, 0], [10, 10]],
  ];
  test.each(wrong)("%s: job %i", (rule, job, instance, startS, endS, more) => {
    expect(found(instance, [startS, endS], more)).toMatchObject({ rule, job });
  });

  test("a pause that is not recorded, and a job that is cancelled", () => {
    expect(
      found(world(frozen), [
        [0, 0],
        [13, 10],
      ]),
    ).toMatchObject({ rule: "wrong-record" });
    const cancelled = world({ withdrawals: [{ job: 1, fromS: 0, untilS: Infinity }] });
    const never: readonly [number, number][] = [
      [0, Number.NaN],
      [10, Number.NaN],
    ];
    expect(found(cancelled, never)).toBeUndefined();
    expect(found(world({}), never)).toMatchObject({ rule: "head-waits", job: 22 });
  });
});

describe("the checker's order of the queue", () => {
  /** Job 21 runs on 3 of 4 processors. Job 22 needs as many, job 23 needs one. */
  function waiting(priority: Int32Array | undefined, edits: Interruptions | undefined): SpaceChecker {
    const sizes = [3, 3, 1];
    const plain = instanceOf(
      4,
      [21, 22, 23].map((id, i) => ({ submitS: 0, runS: 10, size: sizes[i], id })),
    );
    const instance = { ...plain, priority, interruptions: edits };
    const checker: SpaceChecker & Observer = new SpaceChecker(instance, noCounts(), CLAIMS, {});
    for (const job of [0, 1, 2]) checker.arrived(0, job);
    checker.started(0, 0);
    return checker;
  }
  const edited = (priority: number) => ({
    ...NONE,
    withdrawals: [{ job: 2, fromS: 0, untilS: 0, change: { priority } }],
  });

  test.each([
    ["without priorities", undefined, undefined, undefined],
    ["a priority of its own", Int32Array.of(0, 0, 1), undefined, 23],
    ["a lower one", Int32Array.of(0, 0, -1), undefined, undefined],
    ["one that it gets by an edit", Int32Array.of(0, 0, -1), edited(2), 23],
    ["one that it loses by an edit", Int32Array.of(0, 0, 1), edited(-2), undefined],
  ])("job 23, which fits, is the head: %s", (_, priority, edits, job) => {
    const checker = waiting(priority, edits);
    const decide = () => checker.decided(0);
    if (job === undefined) expect(decide).not.toThrow();
    else expect(decide).toThrow(StopRun);
    expect(checker.violation?.job).toBe(job);
    expect(checker.violation?.rule).toBe(job === undefined ? undefined : "head-waits");
  });
});

describe("audit() of such workloads", () => {
  const usual = {
    processors: 16,
    count: 80,
    gapS: 10,
    maxRunS: 60,
    maxSize: 16,
    exactShare: 0.3,
    zeroShare: 0.1,
  };

  /** Everything at once, at random instants. */
  function busy(seed: number): Instance {
    const base = seededInstance("busy", { ...usual, seed });
    const random = new Random(seed, "events");
    const some = <One>(count: number, make: (job: number, fromS: number, i: number) => One): One[] =>
      Array.from({ length: count }, (_, i) => make(random.below(base.count), random.below(800), i));
    return {
      ...base,
      interruptions: {
        outages: [{ first: 0, processors: 4, fromS: 400, untilS: 500, announcedS: 100 }],
        stops: some(4, (job, fromS) => ({ job, fromS, untilS: fromS + 50 })),
        freezes: some(8, (_, fromS, i) => ({ job: 9 * i, fromS, untilS: fromS + 1 + random.below(200) })),
        drains: [{ fromS: 200, untilS: 250 }],
        withdrawals: [
          ...some(6, (job, fromS) => ({ job, fromS, untilS: fromS + random.below(200) })),
          ...some(6, (job, fromS) => ({
            job,
            fromS,
            untilS: fromS,
            change: { size: 1 + random.below(16), estimateS: 60 + random.below(60) },
          })),
        ],
      },
    };
  }

  function limited(seed: number): Instance {
    const base = seededInstance("limited", { ...usual, seed });
    const notes = Array.from({ length: base.count }, (_, i) => ({
      user: `u${i % 5}`,
      queue: i % 3 ? "day" : "night",
    }));
    const limits = {
      runningJobs: 3,
      groups: { lab: { runningCpus: 20, users: ["u1", "u2"] } },
      queues: { night: { runningJobs: 2 } },
    };
    return { ...base, workload: { ...base.workload, notes, limits } };
  }

  test.each([
    ["busy", busy],
    ["limited", limited],
  ])("passes the project's policies: %s", (_, make) => {
    for (const [i, policy] of [
      "fcfs",
      "easy",
      "easy:order=shortest",
      "conservative",
      "first-fit",
    ].entries()) {
      const result = audit(make(i), choosePolicy(policy), { ...SLOTS, probedInstants: 1500 });
      expect(result.ok, auditLines(policy, result).join("\n")).toBe(true);
    }
  });

  test("passes a job that is changed, and gets another size, at one instant", () => {
    const plain = instanceOf(4, [
      { submitS: 0, runS: 5, size: 4 },
      { submitS: 1, runS: 6, size: 2 },
    ]);
    const instance: Instance = {
      ...plain,
      molding: {
        minSize: Int32Array.of(4, 1),
        maxSize: Int32Array.of(4, 4),
        serialShare: Float64Array.of(0, 0),
      },
      interruptions: { ...NONE, withdrawals: [{ job: 1, fromS: 5, untilS: 5, change: { size: 3 } }] },
    };
    const { definition } = choosePolicy("fcfs");
    /** Starts each job on as few processors as possible. */
    const make = (pool: Pool, jobs: JobsView): Policy => {
      let queue: JobIndex[] = [];
      return {
        depart: () => {},
        withdraw: (job) => {
          queue = queue.filter((other) => other !== job);
        },
        decide: (arrived) => {
          queue.push(...arrived);
          const { minSize } = jobs.molding!;
          while (queue.length > 0 && minSize[queue[0]] <= pool.free)
            pool.start(queue[0], StartRule.other, minSize[queue.shift()!]);
        },
      };
    };
    const guarantees = () => ({ headNeverFits: false, workConserving: false, keepsPromises: false });
    const narrow = makeChoice({ ...definition, guarantees, make } as SpacePolicyDefinition);
    const result = audit(instance, narrow, SLOTS);
    expect(result.ok, auditLines("narrow", result).join("\n")).toBe(true);
    // 6 s on 3 processors are 18 s on one.
    expect(result.ok && [...result.schedule.endS]).toEqual([5, 23]);
  });

  test("runs with another future have only the events that are known by then", () => {
    const { interruptions } = withoutLaterEvents(busy(2), 300);
    const all = busy(2).interruptions!;
    const known = (list: readonly { readonly fromS: number }[] = []) =>
      list.filter(({ fromS }) => fromS <= 300);
    expect(interruptions).toEqual({
      outages: all.outages,
      stops: known(all.stops),
      freezes: known(all.freezes),
      drains: known(all.drains),
      withdrawals: known(all.withdrawals),
    });
    expect(known(all.withdrawals).length).toBeLessThan(all.withdrawals!.length);
    expect(withoutLaterEvents(busy(2), 99).interruptions!.outages).toEqual([]);
  });
});
