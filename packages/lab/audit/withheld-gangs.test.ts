/**
 * Gangs under drains, holds, edits, pauses and limits: the checker passes honest policies and reports wrong
 * schedules, worked out by hand and drawn slot by slot.
 */

import type { Interruptions } from "@tutti/kernel/core/interruptions.ts";
import type { Instance, JobIndex, Workload } from "@tutti/kernel/core/jobs.ts";
import type { GangMachine, Policy, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { instanceOf, seededInstance } from "@tutti/kernel/policies/instances-for-tests.ts";
import {
  drawnEvents,
  drawnInterruptions,
  drawnResources,
  EVENT_KINDS,
  type EventKind,
} from "@tutti/kernel/policies/interruptions-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { audit, auditLines } from "./audit.ts";
import { gangPolicy, SLOTS, violation } from "./broken-policies-for-tests.ts";
import { type AuditRule, noCounts, StopRun, type Violation } from "./checker.ts";
import { GangChecker } from "./gangs.ts";

/** Two jobs of 3 s on 2 of 4 processors, both submitted at 0; slots take 1 s. */
function world(
  interruptions: Partial<Interruptions>,
  more: Partial<Instance> & Partial<Pick<Workload, "limits" | "notes">> = {},
): Instance {
  const { limits, notes, ...columns } = more;
  const plain = instanceOf(4, [
    { submitS: 0, runS: 3, size: 2, id: 21 },
    { submitS: 0, runS: 3, size: 2, id: 22 },
  ]);
  return {
    ...plain,
    ...columns,
    interruptions: { outages: [], stops: [], ...interruptions },
    workload: { ...plain.workload, limits, notes },
  };
}

/**
 * What the checker finds in a schedule, a character for each job and second:
 *
 *   .  the job waits     #  it has a slot of the only row     =  it is stopped
 *   !  it gets the slot without being continued before
 */
function found(
  instance: Instance,
  pictures: readonly string[],
  more: Partial<Schedule> = {},
  headNeverFits = true,
): Violation | undefined {
  const claims = { headNeverFits, workConserving: false, keepsPromises: false };
  const checker = new GangChecker(instance, noCounts(), claims, SLOTS);
  const startS = pictures.map((picture) => (picture.includes("#") ? picture.indexOf("#") : Number.NaN));
  const endS = pictures.map((picture) => (picture.endsWith("#") ? picture.length : Number.NaN));
  const lastS = Math.max(...pictures.map(({ length }) => length));
  try {
    for (let atS = 0; atS <= lastS; atS++) {
      for (const job of [0, 1]) if (startS[job] === atS - 1) checker.started(startS[job], job);
      for (const job of [0, 1]) if (atS === 0) checker.arrived(0, job);
      for (const job of [0, 1]) if (endS[job] === atS) checker.departed(atS, job);
      if (atS === 0) checker.rowAdded(0, 0);
      const [was, is] = [atS - 1, atS].map((second) =>
        pictures.map((picture) => picture[second] ?? (second > 0 && picture.endsWith("=") ? "=" : ".")),
      );
      for (const job of [0, 1]) {
        if (was[job] !== "=" && is[job] === "=") checker.suspended(atS, job);
        if (was[job] === "=" && ".#".includes(is[job])) checker.resumed(atS, job);
      }
      for (const job of [0, 1]) {
        const isNew = "#!".includes(is[job]) && !"#!".includes(was[job]);
        if (isNew) checker.placed(atS, job, 0, Math.min(2 * job, 4 - (given(instance)[job] ?? 2)));
      }
      checker.decided(atS);
    }
    checker.finish({
      startS: Float64Array.from(startS),
      endS: Float64Array.from(endS),
      instants: lastS + 1,
      startsByRule: [startS.filter((atS) => atS >= 0).length],
      gang: undefined,
      ...more,
    });
  } catch (error) {
    if (!(error instanceof StopRun)) throw error;
  }
  return checker.violation;
}

/** Sizes that jobs get by edits, by job. */
function given({ interruptions }: Instance): (number | undefined)[] {
  const sizes: (number | undefined)[] = [];
  for (const { job, change } of interruptions?.withdrawals ?? []) sizes[job] = change?.size;
  return sizes;
}

const pause = (job: number, fromS: number, untilS: number) => ({ job, fromS, untilS });

describe("the checker of gangs", () => {
  const drains = [{ fromS: 0.5, untilS: 2 }];
  const drained = [{ fromS: 0, untilS: 2 }];
  const held = { withdrawals: [pause(1, 0, 2)] };
  const paused = { freezes: [pause(0, 1, 3)] };
  // It begins and ends within slots.
  const short = { freezes: [pause(0, 0.5, 1.5)] };
  const edit = { withdrawals: [{ job: 1, fromS: 0, untilS: 0, change: { size: 3 } }] };
  const edited = { given: { size: Int32Array.of(2, 3), runS: Float64Array.of(3, 3) } };
  const notes = [{ user: "anna" }, { user: "anna" }];
  const one = { limits: { runningJobs: 1 }, notes };
  const queue = {
    limits: { queues: { night: { runningCpus: 3 } } },
    notes: [
      { user: "anna", queue: "night" },
      { user: "ben", queue: "night" },
    ],
  };
  const licence = { resources: [{ name: "licence", amount: 1 }], demand: [Int32Array.of(1, 1)] };
  const recorded = { pauses: [pause(0, 1, 3)] };

  const sound: readonly [string, Instance, string[], Partial<Schedule>?][] = [
    ["a drain", world({ drains: drained }), ["..###", "..###"]],
    ["a drain, in which running gangs go on", world({ drains, ...held }), ["###", "..###"]],
    ["a hold", world(held), ["###", "..###"]],
    ["a job that is cancelled", world({ withdrawals: [pause(1, 0, Infinity)] }), ["###", "..."]],
    ["a hold of a gang that has a row", world({ withdrawals: [pause(1, 1, 9)] }), ["###", "###"]],
    ["an edit", world(edit), ["###", "...###"], edited],
    ["a pause", world(paused), ["#==##", "###"], recorded],
    ["a pause within slots", world(short), ["#=##", "###"], { pauses: [pause(0, 1, 2)] }],
    [
      "a pause that ends in a drain",
      world({ ...paused, drains: [{ fromS: 2, untilS: 9 }] }),
      ["#==##", "###"],
      recorded,
    ],
    ["a paused gang, which keeps its licence", world(paused, licence), ["#==##", ".....###"], recorded],
    [
      "two pauses, the second on the way back",
      world({ freezes: [pause(0, 1, 2), pause(0, 2.5, 4)] }),
      ["#=.=##", "###"],
      { pauses: [pause(0, 1, 4)] },
    ],
    ["a limit on a user", world({}, one), ["###", "...###"]],
    ["a limit on a queue", world({}, queue), ["###", "...###"]],
  ];
  test.each(sound)("passes %s", (title, instance, pictures, more) => {
    // Without a limit on rows, nothing waits for room.
    const waitsForRoom = ["an edit", "two pauses, the second on the way back"].includes(title);
    expect(found(instance, pictures, more, !waitsForRoom)).toBeUndefined();
  });

  const wrong: readonly [AuditRule, number, string, Instance, string[], Partial<Schedule>?][] = [
    ["drained", 21, "a gang is placed in a drain", world({ drains: drained }), ["###", "..###"]],
    ["drained", 22, "at a slot in a drain", world({ drains, ...held }), ["###", ".###"]],
    ["held", 22, "a gang is placed while it is held", world(held), ["###", ".###"]],
    ["head-waits", 22, "a hold is over", world(held), ["###", "...###"]],
    ["wrong-record", 22, "an edit is not recorded", world(edit), ["###", "...###"]],
    ["not-idle", 22, "an edit is ignored", world(edit), ["###", "###"], edited],
    ["paused", 21, "a pause is ignored", world(paused), ["###", "###"]],
    ["paused", 21, "a pause begins a slot late", world(paused), ["##=##", "###"]],
    ["stopped-needlessly", 22, "another gang is paused", world(paused), ["###", "#==##"]],
    ["stopped-needlessly", 21, "nobody has asked", world({}), ["#=##", "###"]],
    ["stopped", 21, "a pause ends early", world(paused), ["#=##", "###"]],
    ["stopped", 21, "a pause ends late", world(paused), ["#===##", "###"]],
    ["stopped", 21, "a gang is placed while it is paused", world(paused), ["#=!", "###"]],
    ["head-waits", 21, "a gang comes back late", world(paused), ["#==.##", "###"]],
    [
      "head-waits",
      21,
      "a gang comes back only after a drain",
      world({ ...paused, drains: [{ fromS: 2, untilS: 4 }] }),
      ["#==.##", "###"],
    ],
    ["service", 21, "a gang has service in its pause", world(short), ["#=#", "###"]],
    ["never-ended", 21, "a gang is never continued", world(paused), ["#=====", "###"], recorded],
    ["resource-twice", 22, "the licence of a paused gang", world(paused, licence), ["#==##", ".###"]],
    ["limit-exceeded", 22, "a limit on a user", world({}, one), ["###", ".###"]],
    ["limit-exceeded", 22, "a limit on a queue", world({}, queue), ["###", ".###"]],
    ["limit-exceeded", 22, "a paused gang counts", world(paused, one), ["#==##", "..###"]],
  ];
  test.each(wrong)("%s: job %i, %s", (rule, job, _, instance, pictures, more) => {
    const violation = found(instance, pictures, more, rule === "head-waits");
    expect(violation).toMatchObject({ rule, job } satisfies Partial<Violation>);
  });

  test("wrong-record: a pause is missing", () => {
    expect(found(world(paused), ["#==##", "###"])).toMatchObject({ rule: "wrong-record" });
  });
});

/** Keeps the jobs that are taken away from it. */
function deaf(decide: (queue: JobIndex[], machine: GangMachine) => void): PolicyChoice {
  const choice = gangPolicy(decide);
  const make = choice.definition.make as (...given: unknown[]) => Policy;
  const definition = {
    ...choice.definition,
    capabilities: { withdraw: true },
    make: (...given: unknown[]) => ({ ...make(...given), withdraw: () => {} }),
  };
  return { ...choice, definition: definition as PolicyChoice["definition"] };
}

describe("audit() of gangs", () => {
  /** From 3 s on, each job gets a row. */
  const late = deaf((queue, machine) => {
    if (machine.nowS < 3) return;
    for (const job of queue.splice(0)) machine.place(job, machine.addRow(), 0);
  });
  /** Three jobs, so that there is a decision at 3 s. */
  const three = (interruptions: Partial<Interruptions>, runS = 2): Instance => ({
    ...instanceOf(4, [
      { submitS: 0, runS, size: 2, id: 21 },
      { submitS: 0, runS, size: 2, id: 22 },
      { submitS: 3, runS, size: 2, id: 23 },
    ]),
    interruptions: { outages: [], stops: [], ...interruptions },
  });

  test.each<[AuditRule, number, Partial<Interruptions>]>([
    ["drained", 21, { drains: [{ fromS: 2, untilS: 5 }] }],
    ["stopped", 22, { withdrawals: [pause(1, 1, 5)] }],
  ])("%s: a policy that ignores that jobs are taken away", (rule, job, interruptions) => {
    expect(violation(three(interruptions), late)).toMatchObject({ rule, job, timeS: 3 });
    expect(audit(three({}), late, SLOTS).ok).toBe(true);
  });

  test("stopped: a policy places a paused gang", () => {
    const again = deaf((queue, machine) => {
      for (const job of queue.splice(0)) machine.place(job, machine.addRow(), 0);
      if (machine.nowS === 3 && machine.slotsOf(0) === 0) machine.place(0, machine.addRow(), 0);
    });
    expect(violation(three({ freezes: [pause(0, 1, 9)] }, 5), again)).toMatchObject({
      rule: "stopped",
      job: 21,
    });
    expect(audit(three({ freezes: [pause(0, 1, 2)] }, 5), again, SLOTS).ok).toBe(true);
  });

  /**
   * One row, the shortest first. Both jobs wait for the row until 10 s. Within a slot, the first of them
   * becomes the longer one, so it begins when the other has ended.
   */
  test("under limits, a gang that waits is changed within a slot", () => {
    const plain = instanceOf(4, [
      { submitS: 0, runS: 10, size: 4 },
      { submitS: 1, runS: 5, size: 4 },
      { submitS: 1, runS: 7, size: 4 },
    ]);
    const change = { estimateS: 9 };
    const instance: Instance = {
      ...plain,
      interruptions: { outages: [], stops: [], withdrawals: [{ job: 1, fromS: 3.5, untilS: 3.5, change }] },
      workload: {
        ...plain.workload,
        limits: { runningJobs: 9 },
        notes: [{}, {}, {}].map(() => ({ user: "u" })),
      },
    };
    const result = audit(instance, choosePolicy("gang:rows=1:queueOrder=shortest"), SLOTS);
    expect(result.ok && [...result.schedule.startS]).toEqual([0, 17, 10]);
  });

  const POLICIES = [
    "gang",
    "gang:rows=2:queue=easy",
    "random",
    "buddy:rows=3",
    "bc",
    "br:rows=2:queue=first-fit:queueOrder=shortest",
    "brms",
    "brmms:rows=2:queue=easy",
    "wlv:rows=2:queue=easy:memory=1:jobMemory=1",
  ];
  const shape = {
    processors: 16,
    count: 40,
    gapS: 6,
    maxRunS: 30,
    maxSize: 16,
    exactShare: 0.3,
    zeroShare: 0.1,
  };
  const all: readonly EventKind[] = EVENT_KINDS.filter((kind) => kind !== "limits");
  test.each([...EVENT_KINDS.map((kind) => ({ kinds: [kind] })), { kinds: all }, { kinds: EVENT_KINDS }])(
    "passes the project's policies: $kinds",
    ({ kinds }) => {
      for (const [seed, policy] of POLICIES.entries()) {
        const plain = seededInstance("gangs", { ...shape, seed });
        const choice = choosePolicy(policy);
        const copes = choice.definition.copesWith?.(choice.parameters) ?? [];
        const used = copes.includes("resources") ? drawnResources(plain, seed) : plain;
        const made = copes.includes("outages") ? drawnInterruptions(used, seed) : used;
        const instance = drawnEvents(made, seed, kinds);
        const result = audit(instance, choice, { ...SLOTS, probedInstants: 500 });
        expect(result.ok, auditLines(policy, result).join("\n")).toBe(true);
      }
    },
  );
});
