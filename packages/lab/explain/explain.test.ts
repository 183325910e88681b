import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { type GangMachine, type PolicyDefinition, StartRule } from "@tutti/kernel/core/policy.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { conformanceInstances, instanceOf } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy, makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { describe, expect, test } from "vitest";
import { explanationLines } from "../report/text/explanation-text.ts";
import type { GangFacts, SpaceFacts } from "../results/explanation.ts";
import { explain } from "./explain.ts";

const SLOTS = { slotS: 1, switchS: 0 };

/** Makes jobs from rows of submit time, run time, size and estimate. They are numbered from 11 on. */
function jobs(
  processors: number,
  ...lines: readonly (readonly [number, number, number, number?])[]
): Instance {
  return instanceOf(
    processors,
    lines.map(([submitS, runS, size, estimateS], i) => ({
      submitS,
      runS,
      size,
      estimateS: estimateS ?? runS,
      id: 11 + i,
    })),
  );
}

function spaceFacts(instance: Instance, policy: string, id: number): SpaceFacts {
  const { facts } = explain(instance, choosePolicy(policy), id, SLOTS);
  if (facts.sharing !== "space") throw new Error("expected space sharing");
  return facts;
}

/**
 * Four processors under EASY. Job 11 has an estimate of 12 s and runs for 10; 12 needs all; 13 and 15 pass;
 * 14 is too long to pass.
 *
 *   processor
 *     3       .  .  13 13 13 13 15 15 15 .  12 12 12 12 12 14 …
 *     2       11 11 11 11 11 11 11 11 11 11 12 12 12 12 12
 *     1       11 11 11 11 11 11 11 11 11 11 12 12 12 12 12
 *     0       11 11 11 11 11 11 11 11 11 11 12 12 12 12 12
 *   second    0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 */
const EASY_CASE = jobs(4, [0, 10, 3, 12], [1, 5, 4], [2, 4, 1], [3, 20, 1], [4, 3, 1]);

describe("explain() under EASY", () => {
  test("the head: what it lacked, who had to end, what it was promised, who passed", () => {
    const explanation = explain(EASY_CASE, choosePolicy("easy"), 12, SLOTS);
    expect(explanation).toMatchObject({
      policy: "easy",
      processors: 4,
      rule: StartRule.head,
      job: { id: 12, size: 4, submitS: 1, startS: 10, endS: 15 },
    });
    expect(explanation.facts).toEqual({
      sharing: "space",
      arrival: { free: 1, running: 1, queued: 0, queuedProcessors: 0 },
      obstacle: { kind: "size", free: 1, missing: 3 },
      hadToEnd: { count: 1, listed: [{ id: 11, size: 3, expectedEndS: 12, endS: 10 }] },
      inFront: { count: 0, processors: 0, workS: 0 },
      freedBy: { count: 1, processors: 3, listed: [{ id: 11, size: 3 }] },
      firstRoomS: null,
      promises: { count: 1, listed: [{ atS: 1, startS: 12 }] },
      reservations: { count: 0, listed: [] },
      passers: {
        count: 2,
        processorSeconds: 7,
        byRule: [{ rule: StartRule.beforeShadow, isAheadInOrder: false, count: 2 }],
        listed: [
          {
            id: 13,
            size: 1,
            submitS: 2,
            startS: 2,
            runS: 4,
            rule: StartRule.beforeShadow,
            isAheadInOrder: false,
          },
          {
            id: 15,
            size: 1,
            submitS: 4,
            startS: 6,
            runS: 3,
            rule: StartRule.beforeShadow,
            isAheadInOrder: false,
          },
        ],
      },
      waitParts: { tooFewFreeS: 9, reservedS: 0, notItsTurnS: 0 },
    });
    expect(explanationLines(explanation)).toEqual([
      "job 12 under easy: 4 of 4 processors, estimate 5 s, run time 5 s",
      "It arrived at 1 s, started at 10 s and waited 9 s.",
      "When it arrived, 1 of 4 processors was free, 1 job ran and 0 jobs (0 processors) waited ahead of it.",
      "It did not fit: it needs 4 processors, but 1 was left (3 missing).",
      "According to the estimates, 1 running job had to end first: job 11 (3; expected 12 s, ended 10 s).",
      "2 jobs passed it, with 7 processor-seconds in all; 2 by the rule: backfilled before the shadow time.",
      "The largest of them: job 13 (1 for 4 s, at 2 s), job 15 (1 for 3 s, at 6 s).",
      "It was promised a start no later than 12 s (promised at 1 s).",
      "At the instant of its start, 3 processors became free: job 11 (3) ended.",
      "It started by the rule: head of queue.",
      "Of its wait: 9 s (100 %) because too few processors were free.",
    ]);
  });

  test("a job after the reservation: who held it, and the parts of the wait", () => {
    const facts = spaceFacts(EASY_CASE, "easy", 14);
    expect(facts).toMatchObject({
      arrival: { free: 0, running: 2, queued: 1, queuedProcessors: 4 },
      obstacle: { kind: "size", free: 0, missing: 1 },
      hadToEnd: { count: 1, listed: [{ id: 13, expectedEndS: 6, endS: 6 }] },
      // Job 12 has ended.
      freedBy: { count: 1, processors: 4, listed: [{ id: 12 }] },
      firstRoomS: 9,
      reservations: {
        count: 1,
        listed: [
          { id: 12, fromS: 3, untilS: 10, firstPromisedS: 12, lastPromisedS: 12, changes: 0, startS: 10 },
        ],
      },
      passers: { count: 1, processorSeconds: 3, listed: [{ id: 15, startS: 6 }] },
      // 3 to 9 and 10 to 15; 9 to 10.
      waitParts: { tooFewFreeS: 11, reservedS: 1, notItsTurnS: 0 },
    });
  });

  test("the jobs in front of it are named with the work that they bring", () => {
    // Job 12 needs 4 processors for 5 s by its estimate; job 14 needs the one that job 13 has until 6 s.
    const explanation = explain(EASY_CASE, choosePolicy("easy"), 14, SLOTS);
    expect(explanation.facts).toMatchObject({ inFront: { count: 1, processors: 4, workS: 20 } });
    const lines = explanationLines(explanation);
    expect(lines).toContain(
      "1 job still waited before it, for 4 processors and 20 processor-seconds by the estimates: as much as the whole machine does in 5 s.",
    );
    expect(lines).toContain(
      "Apart from it, 1 running job had to end first by the estimates: job 13 (1; expected 6 s, ended 6 s).",
    );
  });

  test.each(["arrival", "shortest", "largest"])(
    "the jobs in front are those that an independent count finds: order=%s",
    (order) => {
      const [instance] = conformanceInstances();
      const { submitS, estimateS, size, count } = instance;
      const { startS } = simulate(instance, choosePolicy(`easy:order=${order}`), SLOTS);
      const keys: Record<string, (job: number) => number> = {
        arrival: (job) => submitS[job],
        shortest: (job) => estimateS[job],
        largest: (job) => -size[job],
      };
      let most = 0;
      for (let job = 0; job < count; job += 11) {
        const expected = { count: 0, processors: 0, workS: 0 };
        for (let other = 0; other < count; other++) {
          // Its own instant decides: who has arrived by then, and has not started by then.
          const waits = submitS[other] <= submitS[job] && startS[other] > submitS[job];
          const isBefore = keys[order](other) - keys[order](job) || other - job;
          if (startS[job] === submitS[job] || other === job || !waits || isBefore > 0) continue;
          expected.count++;
          expected.processors += size[other];
          expected.workS += size[other] * estimateS[other];
        }
        const { inFront } = spaceFacts(instance, `easy:order=${order}`, instance.id[job]);
        expect({ ...inFront, workS: 0 }).toEqual({ ...expected, workS: 0 });
        expect(inFront.workS).toBeCloseTo(expected.workS, 6);
        most = Math.max(most, inFront.count);
      }
      expect(most).toBeGreaterThan(2);
    },
  );

  test("a job that finds room but a reservation before it", () => {
    // Job 13 has an estimate of 20 s: it would run past 12 s on the head's processors.
    const instance = jobs(4, [0, 10, 3, 12], [1, 5, 4], [2, 20, 1]);
    const facts = spaceFacts(instance, "easy", 13);
    expect(facts.obstacle).toEqual({
      kind: "reservation",
      free: 1,
      holder: { id: 12, size: 4 },
      promisedS: 12,
    });
    expect(facts.waitParts).toEqual({ tooFewFreeS: 5, reservedS: 8, notItsTurnS: 0 });
    expect(facts.firstRoomS).toBe(2);
    const lines = explanationLines(explain(instance, choosePolicy("easy"), 13, SLOTS));
    expect(lines).toContain(
      "Enough processors were left for it (1), but job 12 (4) held a reservation for 12 s.",
    );
    expect(lines).toContain(
      "Job 12 (4) held a reservation from 2 s to 10 s, first for 12 s; it started at 10 s.",
    );
    expect(lines).toContain("No job passed it.");
  });

  test("a job that passes starts at once", () => {
    const explanation = explain(EASY_CASE, choosePolicy("easy"), 13, SLOTS);
    expect(explanation.rule).toBe(StartRule.beforeShadow);
    expect(explanation.facts).toMatchObject({
      arrival: { free: 1, queued: 1 },
      obstacle: { kind: "none" },
      waitParts: { tooFewFreeS: 0, reservedS: 0, notItsTurnS: 0 },
    });
    expect(explanationLines(explanation)).toContain("It started at the instant of its arrival.");
  });
});

describe("explain() under other policies", () => {
  test("first come, first served: it would fit, but another is first", () => {
    const facts = spaceFacts(jobs(4, [0, 10, 3], [1, 5, 4], [2, 4, 1]), "fcfs", 13);
    expect(facts.obstacle).toEqual({ kind: "queue", free: 1, head: { id: 12, size: 4 } });
    expect(facts.waitParts).toEqual({ tooFewFreeS: 5, reservedS: 0, notItsTurnS: 8 });
    expect(facts.passers.count).toBe(0);
  });

  test("shortest first: a later job that is ahead of it in the order has passed, too", () => {
    const facts = spaceFacts(jobs(1, [0, 10, 1], [1, 9, 1], [2, 3, 1]), "fcfs:order=shortest", 12);
    expect(facts.passers).toMatchObject({
      count: 1,
      byRule: [{ rule: StartRule.head, isAheadInOrder: true, count: 1 }],
      listed: [{ id: 13, startS: 10 }],
    });
  });

  test("first fit: passed by every job that fits", () => {
    const explanation = explain(
      jobs(4, [0, 10, 3], [1, 5, 4], [2, 20, 1]),
      choosePolicy("first-fit"),
      12,
      SLOTS,
    );
    expect(explanation.job.startS).toBe(22);
    expect(explanation.facts).toMatchObject({
      passers: { count: 1, processorSeconds: 20, byRule: [{ rule: StartRule.firstFit, count: 1 }] },
      waitParts: { tooFewFreeS: 21, reservedS: 0, notItsTurnS: 0 },
    });
  });

  test("conservative: its own promise moves when a job ends early", () => {
    // Job 11 has an estimate of 12 s and runs for 10; 12 is promised 12 s, then starts at 10 s; 13 after it
    // is promised 17 s, then 15 s.
    const facts = spaceFacts(jobs(4, [0, 10, 3, 12], [1, 5, 4], [2, 20, 1]), "conservative", 13);
    expect(facts.promises).toEqual({
      count: 2,
      listed: [
        { atS: 2, startS: 17 },
        { atS: 10, startS: 15 },
      ],
    });
    expect(facts.reservations).toMatchObject({ count: 1, listed: [{ id: 12, fromS: 2, untilS: 10 }] });
  });
});

describe("explain() of gangs", () => {
  function gangFacts(instance: Instance, policy: string, id: number): GangFacts {
    const { facts } = explain(instance, choosePolicy(policy), id, SLOTS);
    if (facts.sharing !== "time") throw new Error("expected time sharing");
    return facts;
  }

  test("two jobs of the whole machine take turns", () => {
    //  slot   0  1  2  3  4  5
    //         11 12 11 12 11 12      job 11 ends at 5 s, its row goes, job 12 has the last slot alone
    const instance = jobs(4, [0, 3, 4], [0, 3, 4]);
    expect(gangFacts(instance, "br", 12)).toEqual({
      sharing: "time",
      slotS: 1,
      placedS: 0,
      position: 2,
      rowsThen: 2,
      processors: [[0, 3]],
      workSlots: 3,
      meanRows: 11 / 6,
      mostRows: 2,
      meanSlots: 1,
      slotsGiven: 0,
      slotsTaken: 0,
      moves: 0,
      migrations: 0,
      migrationS: 0,
      changes: [],
      slowdown: 2,
    });
    expect(explanationLines(explain(instance, choosePolicy("br"), 12, SLOTS))).toEqual([
      "job 12 under br: 4 of 4 processors, estimate 3 s, run time 3 s",
      "It arrived at 0 s, started at 1 s and waited 1 s.",
      "It was placed at 0 s in row 2 of 2, on processors 0 to 3; it started with its first slot.",
      "Its work is 3 slots of 1 s.",
      "It ended at 6 s. It was in the system 2 times as long as its work takes without other jobs. While it was in the matrix, it had 1 of 1.83 rows on average (at most 2 rows).",
    ]);
  });

  test("a job in several stretches: all of them are listed", () => {
    const { definition } = choosePolicy("br");
    const scattering = makeChoice({
      ...definition,
      sharing: "time",
      make: (machine: GangMachine) => ({
        depart: () => {},
        decide: (arrived: readonly number[]) => {
          for (const job of arrived) machine.placeStretches(job, machine.addRow(), [0, 1, 2, 4], 2);
        },
      }),
    } as PolicyDefinition);
    const explanation = explain(jobs(4, [0, 3, 3]), scattering, 11, SLOTS);
    expect(explanation.facts).toMatchObject({
      processors: [
        [0, 0],
        [2, 3],
      ],
      position: 1,
      rowsThen: 1,
    });
    expect(explanationLines(explanation)[2]).toBe(
      "It was placed at 0 s in row 1 of 1, on processors 0, 2 to 3; it started with its first slot.",
    );
  });

  test("a migration is reported with its cost", () => {
    // row 1  11 11 12 12      after 4 s jobs 12 and 14 have ended; job 11 moves to their processors,
    // row 2  13 13 14 14      and job 13 fits in the same row
    const instance = jobs(4, [0, 10, 2], [0, 2, 2], [0, 10, 2], [0, 2, 2]);
    const explanation = explain(instance, choosePolicy("wlv:migrate=2"), 11, SLOTS);
    expect(explanation.facts).toMatchObject({ migrations: 1, migrationS: 2, processors: [[0, 1]] });
    const lines = explanationLines(explanation).join("\n");
    expect(lines).toContain(
      "It was moved to other processors 1 time to save a row, which cost it 2 s of service.",
    );
    expect(lines).toContain("It ended at 14 s");
  });

  test("an extra slot is given when a row has room on its processors", () => {
    //  row 1  11 11 12 12      job 12 ends after one slot; nobody else's processors are free in all rows,
    //  row 2  13 13 13 13      so the row stays, and job 15 gets job 12's place besides its own
    //  row 3  14 14 15 15
    const instance = jobs(4, [0, 40, 2], [0, 1, 2], [0, 40, 4], [0, 40, 2], [0, 40, 2]);
    const facts = gangFacts(instance, "brmms", 15);
    expect(facts).toMatchObject({
      placedS: 0,
      position: 3,
      rowsThen: 3,
      processors: [[2, 3]],
      slotsTaken: 0,
    });
    expect(facts.changes[0]).toEqual({ atS: 1, slots: 2, rows: 3 });
    expect(facts.meanSlots).toBeGreaterThan(1);
    expect(facts.slotsGiven).toBe(1);
  });
});

describe("explain()", () => {
  test("agrees with the schedule for every job under every policy: the parts of the wait are the wait", () => {
    const [instance] = conformanceInstances();
    for (const definition of POLICIES) {
      const choice = makeChoice(definition);
      const schedule = simulate(instance, choice, SLOTS);
      for (let job = 0; job < instance.count; job += 37) {
        const explanation = explain(instance, choice, instance.id[job], SLOTS);
        expect(explanation.job).toMatchObject({
          id: instance.id[job],
          startS: schedule.startS[job],
          endS: schedule.endS[job],
        });
        expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
        const lines = explanationLines(explanation).join("\n");
        expect(lines).not.toMatch(/NaN|undefined|null|Infinity|∞|–/);
        if (explanation.facts.sharing === "time") continue;
        const { tooFewFreeS, reservedS, notItsTurnS } = explanation.facts.waitParts;
        expect(tooFewFreeS + reservedS + notItsTurnS).toBe(schedule.startS[job] - instance.submitS[job]);
      }
    }
  });

  test("a job that never starts is said to", () => {
    const { definition } = choosePolicy("fcfs");
    const lazy = makeChoice<PolicyDefinition>({
      ...definition,
      sharing: "space",
      make: () => ({ depart: () => {}, decide: () => {} }),
    });
    const explanation = explain(jobs(4, [0, 5, 1]), lazy, 11, SLOTS);
    expect(explanation.job).toMatchObject({ startS: null, endS: null });
    expect(explanationLines(explanation)[1]).toBe("It arrived at 0 s and never started.");
    expect(explanationLines(explanation)).toContain(
      "Enough processors were left for it (4), and it was first in the queue, but the policy made it wait.",
    );
  });

  test("refuses a job that is not there, or that was left out", () => {
    const instance = jobs(8, [0, 5, 1], [1, 5, 8]);
    const run = (from: Instance, id: number) => () => explain(from, choosePolicy("easy"), id, SLOTS);
    expect(run(instance, 5)).toThrow(InputError);
    expect(run(instance, 5)).toThrow(
      "Cannot explain job 5: there is no such job in by hand, expected a number as in the source, such as 11 or 12",
    );
    const smaller = prepare(instance.workload, 4, DEFAULT_RULES);
    expect(run(smaller, 12)).toThrow(
      "Cannot explain job 12: it needs more than the 4 processors of the machine and was left out",
    );
  });
});

describe("explanationLines() of times close to each other", () => {
  const explanation = explain(EASY_CASE, choosePolicy("easy"), 12, SLOTS);
  const facts = explanation.facts as SpaceFacts;
  const linesWith = (more: Partial<SpaceFacts>) =>
    explanationLines({ ...explanation, facts: { ...facts, ...more } });

  test("different times look different", () => {
    const held = { id: 9, size: 1, firstPromisedS: 1234.5, lastPromisedS: 1234.5, changes: 0, startS: 1e-7 };
    const line = (fromS: number, untilS: number) =>
      linesWith({ reservations: { count: 1, listed: [{ ...held, fromS, untilS }] } }).find((text) =>
        text.startsWith("Job 9"),
      );
    expect(line(0.201, 0.2042)).toBe(
      "Job 9 (1) held a reservation from 0.201 s to 0.204 s, first for 1,234.5 s; it started at 0 s.",
    );
    expect(line(0.2011, 0.2012)).toContain("a reservation for less than a millisecond at 0.201 s,");
    expect(line(3, 3)).toContain("a reservation at 3 s,");
  });

  test("the last of many promises is shown as the last", () => {
    const listed = [9, 8, 7, 6, 3].map((startS, i) => ({ atS: i, startS }));
    expect(linesWith({ promises: { count: 7, listed } })).toContain(
      "It was promised a start no later than 9 s (promised at 0 s), 8 s (promised at 1 s), 7 s (promised at 2 s), 6 s (promised at 3 s), 2 more, and finally 3 s (promised at 4 s).",
    );
  });
});
