/**
 * The checker against a simulator that is broken on purpose and reports events that a correct one never
 * reports.
 */

import type { Observer, Schedule } from "@tutti/kernel/core/schedule.ts";
import { instanceOf } from "@tutti/kernel/policies/instances-for-tests.ts";
import { describe, expect, test } from "vitest";
import { type AuditRule, type Checker, noCounts, StopRun } from "./checker.ts";
import { GangChecker } from "./gangs.ts";
import { SpaceChecker } from "./space.ts";

const CLAIMS = { headNeverFits: true, workConserving: true, keepsPromises: true };
/** Job 21: 3 processors for 10 s; job 22: 2 for 5 s; both arrive at 0. */
const instance = instanceOf(4, [
  { submitS: 0, runS: 10, size: 3, id: 21 },
  { submitS: 0, runS: 5, size: 2, id: 22 },
]);

const RECORD: Schedule = {
  startS: Float64Array.of(0, 10),
  endS: Float64Array.of(10, 15),
  instants: 3,
  startsByRule: [2],
  gang: undefined,
};

function violationAfter(checker: Checker, emit: (observer: Observer) => void): Checker["violation"] {
  try {
    emit(checker);
  } catch (error) {
    if (!(error instanceof StopRun)) throw error;
  }
  return checker.violation;
}

const space = () => new SpaceChecker(instance, noCounts(), CLAIMS, {});
/** Slots of 1 s, switches of 0.5 s. */
const gangs = () => new GangChecker(instance, noCounts(), CLAIMS, { slotS: 1, switchS: 0.5 });

function arrive(o: Observer): void {
  o.arrived?.(0, 0);
  o.arrived?.(0, 1);
}

/** Both jobs run one after the other. */
function inTurn(o: Observer): void {
  arrive(o);
  o.started?.(0, 0, 0);
  o.decided?.(0);
  o.departed?.(10, 0);
  o.started?.(10, 1, 0);
  o.decided?.(10);
  o.departed?.(15, 1);
  o.decided?.(15);
}

describe("SpaceChecker", () => {
  test("finds nothing in a sound run", () => {
    const checker = space();
    expect(violationAfter(checker, inTurn)).toBeUndefined();
    expect(violationAfter(checker, () => checker.finish(RECORD))).toBeUndefined();
    expect(checker.counts).toMatchObject({ arrivals: 2, starts: 2, ends: 2, instants: 3, queueChecks: 3 });
  });

  test.each<[AuditRule, number | undefined, number, (o: Observer) => void]>([
    [
      "processor-twice",
      22,
      0,
      (o) => {
        arrive(o);
        o.started?.(0, 0, 0);
        o.started?.(0, 1, 0);
      },
    ],
    [
      "start-before-arrival",
      22,
      0,
      (o) => {
        o.arrived?.(0, 0);
        o.started?.(0, 1, 0);
      },
    ],
    [
      "started-twice",
      21,
      0,
      (o) => {
        arrive(o);
        o.started?.(0, 0, 0);
        o.started?.(0, 0, 0);
      },
    ],
    [
      "run-length",
      21,
      9,
      (o) => {
        arrive(o);
        o.started?.(0, 0, 0);
        o.departed?.(9, 0);
      },
    ],
    [
      "run-length",
      22,
      3,
      (o) => {
        arrive(o);
        o.departed?.(3, 1);
      },
    ],
    ["wrong-arrival", 22, 0, (o) => o.arrived?.(0, 1)],
    ["wrong-arrival", 21, 2, (o) => o.arrived?.(2, 0)],
    [
      "time-backwards",
      undefined,
      0,
      (o) => {
        arrive(o);
        o.decided?.(-1);
      },
    ],
  ])("%s: job %s at %s s", (rule, job, timeS, emit) => {
    expect(violationAfter(space(), emit)).toMatchObject({ rule, job, timeS });
  });

  test.each<[AuditRule, number | undefined, Partial<Schedule>, (o: Observer) => void]>([
    ["wrong-record", 22, { startS: Float64Array.of(0, 9) }, inTurn],
    ["wrong-record", 21, { endS: Float64Array.of(11, 15) }, inTurn],
    ["wrong-record", undefined, { startsByRule: [1] }, inTurn],
    ["never-started", 21, {}, arrive],
    [
      "never-ended",
      21,
      {},
      (o) => {
        arrive(o);
        o.started?.(0, 0, 0);
      },
    ],
    ["wrong-arrival", 21, {}, () => {}],
  ])("finish(): %s, job %s", (rule, job, wrong, emit) => {
    const checker = space();
    expect(violationAfter(checker, emit)).toBeUndefined();
    expect(violationAfter(checker, () => checker.finish({ ...RECORD, ...wrong }))).toMatchObject({
      rule,
      job,
    });
  });
});

/** Job 21 in row 0 and job 22 in row 1, both from processor 0. */
function twoRows(o: Observer): void {
  arrive(o);
  o.rowAdded?.(0, 0);
  o.placed?.(0, 0, 0, 0);
  o.rowAdded?.(0, 1);
  o.placed?.(0, 1, 1, 0);
  o.decided?.(0);
}

describe("GangChecker", () => {
  test("finds nothing in a sound run", () => {
    const checker = gangs();
    // Slots of 1.5 s in turn: job 21 has 0, 2, 4, 6, 8 and job 22 has 1, 3, 5, 7, 9. Job 22 ends at 15 s, and
    // then job 21 is alone.
    const emit = (o: Observer) => {
      twoRows(o);
      o.started?.(0, 0, 5);
      o.started?.(1.5, 1, 5);
      o.departed?.(15, 1);
      o.rowDeleted?.(15, 1);
      o.decided?.(15);
      o.departed?.(20, 0);
      o.decided?.(20);
    };
    expect(violationAfter(checker, emit)).toBeUndefined();
    const record = { ...RECORD, startS: Float64Array.of(0, 1.5), endS: Float64Array.of(20, 15) };
    expect(violationAfter(checker, () => checker.finish(record))).toBeUndefined();
    expect(checker.counts).toMatchObject({ starts: 2, ends: 2, slots: 15, matrixChanges: 5 });
  });

  test.each<[AuditRule, number | undefined, string, (o: Observer) => void]>([
    [
      "service",
      22,
      "a job ends a slot too early",
      (o) => {
        twoRows(o);
        o.started?.(0, 0, 5);
        o.started?.(1.5, 1, 5);
        o.departed?.(12, 1);
      },
    ],
    [
      "start-time",
      22,
      "a start is reported with another job's slot",
      (o) => {
        twoRows(o);
        o.started?.(0, 0, 5);
        o.started?.(0, 1, 5);
        o.departed?.(15, 1);
      },
    ],
    [
      "off-slot",
      undefined,
      "an end within a slot",
      (o) => {
        twoRows(o);
        o.departed?.(14.9, 1);
      },
    ],
    [
      "fitting-job-waits",
      22,
      "an arrival is left outside the matrix",
      (o) => {
        arrive(o);
        o.rowAdded?.(0, 0);
        o.placed?.(0, 0, 0, 0);
        o.decided?.(0);
      },
    ],
    [
      "not-idle",
      22,
      "a cell is given twice",
      (o) => {
        arrive(o);
        o.rowAdded?.(0, 0);
        o.placed?.(0, 0, 0, 0);
        o.placed?.(0, 1, 0, 2);
      },
    ],
    [
      "off-machine",
      22,
      "a job hangs over the end",
      (o) => {
        arrive(o);
        o.rowAdded?.(0, 0);
        o.placed?.(0, 1, 0, 3);
      },
    ],
    [
      "migrated",
      22,
      "a second row on other processors",
      (o) => {
        twoRows(o);
        o.rowAdded?.(0, 2);
        o.placed?.(0, 1, 2, 1);
      },
    ],
    [
      "torn-gang",
      21,
      "an exchange cuts through a job",
      (o) => {
        twoRows(o);
        o.exchanged?.(0, 0, 1, 0, 2);
      },
    ],
    [
      "no-such-row",
      21,
      "a row is used that was never added",
      (o) => {
        arrive(o);
        o.placed?.(0, 0, 4, 0);
      },
    ],
    [
      "row-not-empty",
      22,
      "a row with a job is deleted",
      (o) => {
        twoRows(o);
        o.rowDeleted?.(0, 1);
      },
    ],
    [
      "last-slot",
      21,
      "a job loses its only row",
      (o) => {
        twoRows(o);
        o.released?.(0, 0, 0);
      },
    ],
    [
      "not-there",
      21,
      "a job gives back another's row",
      (o) => {
        twoRows(o);
        o.released?.(0, 0, 1);
      },
    ],
    [
      "start-before-arrival",
      21,
      "a job is placed before it arrives",
      (o) => {
        o.rowAdded?.(0, 0);
        o.placed?.(0, 0, 0, 0);
      },
    ],
    [
      "already-ended",
      22,
      "a job is placed after its end",
      (o) => {
        twoRows(o);
        o.started?.(0, 0, 5);
        o.started?.(1.5, 1, 5);
        o.departed?.(15, 1);
        o.placed?.(15, 1, 1, 0);
      },
    ],
    [
      "wrong-size",
      21,
      "stretches of four processors for a job of three",
      (o) => {
        arrive(o);
        o.rowAdded?.(0, 0);
        o.placed?.(0, 0, 0, 0, [0, 1, 1, 4]);
      },
    ],
    [
      "torn-gang",
      21,
      "an exchange moves one of two stretches",
      (o) => {
        arrive(o);
        o.rowAdded?.(0, 0);
        o.rowAdded?.(0, 1);
        o.placed?.(0, 0, 0, 0, [0, 1, 2, 4]);
        o.exchanged?.(0, 0, 1, 0, 1);
      },
    ],
    [
      "migrated",
      22,
      "a job changes processors where nothing is declared",
      (o) => {
        twoRows(o);
        o.migrated?.(0, 1, 1, 2, 2);
      },
    ],
  ])("%s (job %s): %s", (rule, job, _, emit) => {
    expect(violationAfter(gangs(), emit)).toMatchObject({ rule, job });
  });

  const moving = () =>
    new GangChecker(instance, noCounts(), { ...CLAIMS, migrationS: 2 }, { slotS: 1, switchS: 0.5 });

  test("a declared migration that is paid for is sound, and its place counts from then on", () => {
    const checker = moving();
    // As in the correct run above, but job 22 needs 7 slots: it ends at 21 s, when job 21 has had 7.
    const emit = (o: Observer) => {
      twoRows(o);
      o.migrated?.(0, 1, 1, 2, 2);
      o.decided?.(0);
      o.started?.(0, 0, 5);
      o.started?.(1.5, 1, 5);
      o.departed?.(21, 1);
      o.rowDeleted?.(21, 1);
      o.decided?.(21);
      o.departed?.(24, 0);
      o.decided?.(24);
    };
    expect(violationAfter(checker, emit)).toBeUndefined();
    const record = { ...RECORD, startS: Float64Array.of(0, 1.5), endS: Float64Array.of(24, 21) };
    expect(violationAfter(checker, () => checker.finish(record))).toMatchObject({ rule: "wrong-record" });
  });

  test.each<[AuditRule, string, (o: Observer) => void]>([
    ["migration-cost", "another cost than declared", (o) => o.migrated?.(0, 1, 1, 2, 1)],
    ["not-idle", "to processors of another job", (o) => o.migrated?.(0, 1, 0, 0, 2)],
    ["off-machine", "over the machine's end", (o) => o.migrated?.(0, 1, 1, 3, 2)],
    [
      "migrated",
      "out of two rows",
      (o) => {
        o.rowAdded?.(0, 2);
        o.placed?.(0, 1, 2, 0);
        o.migrated?.(0, 1, 1, 2, 2);
      },
    ],
    [
      "migrated",
      "a second slot on the processors before",
      (o) => {
        o.migrated?.(0, 1, 1, 2, 2);
        o.rowAdded?.(0, 2);
        o.placed?.(0, 1, 2, 0);
      },
    ],
    [
      "service",
      "without paying",
      (o) => {
        o.migrated?.(0, 1, 1, 2, 2);
        o.decided?.(0);
        o.started?.(0, 0, 5);
        o.started?.(1.5, 1, 5);
        o.departed?.(15, 1);
      },
    ],
  ])("%s where migrations are declared: %s", (rule, _, emit) => {
    const both = (o: Observer) => {
      twoRows(o);
      emit(o);
    };
    expect(violationAfter(moving(), both)).toMatchObject({ rule, job: 22 });
  });

  test("exchanged() follows the rows: who runs afterwards is who was exchanged", () => {
    const checker = gangs();
    const emit = (o: Observer) => {
      twoRows(o);
      o.exchanged?.(0, 0, 1, 0, 4);
      o.decided?.(0);
      o.started?.(0, 1, 5);
      o.started?.(1.5, 0, 5);
      // Job 22 now has the even slots and ends with the ninth.
      o.departed?.(13.5, 1);
    };
    expect(violationAfter(checker, emit)).toBeUndefined();
  });
});
