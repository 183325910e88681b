/** The checker against machines that treat outages and stops wrongly. */

import type { Interruptions } from "@tutti/kernel/core/interruptions.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import { instanceOf } from "@tutti/kernel/policies/instances-for-tests.ts";
import { interrupted, loss, window } from "@tutti/kernel/policies/interruptions-for-tests.ts";
import { describe, expect, test } from "vitest";
import { type AuditRule, noCounts, StopRun } from "./checker.ts";
import { SpaceChecker } from "./space.ts";

/**
 * Job 1: 2 processors for 10 s; job 2: 2 for 5 s. Both arrive at 0 s. When the test begins, they are running,
 * from 0 s and from 1 s.
 */
function violation(
  interruptions: Partial<Interruptions>,
  emit: (o: Observer) => void,
  avoidsOutages = false,
) {
  const instance = interrupted(
    instanceOf(4, [
      { submitS: 0, runS: 10, size: 2 },
      { submitS: 0, runS: 5, size: 2 },
    ]),
    interruptions,
  );
  const claims = { headNeverFits: false, workConserving: false, keepsPromises: true, avoidsOutages };
  const checker = new SpaceChecker(instance, noCounts(), claims, {});
  try {
    checker.arrived(0, 0);
    checker.arrived(0, 1);
    checker.started(0, 0);
    checker.decided(0);
    checker.started(1, 1);
    checker.decided(1);
    emit(checker);
  } catch (error) {
    if (!(error instanceof StopRun)) throw error;
  }
  return checker.violation;
}

const AWAY = { outages: [loss(4, 8, 2)] };

describe("SpaceChecker", () => {
  test("finds nothing where the last job is stopped, and goes on", () => {
    const sound = (o: Observer) => {
      o.suspended?.(4, 1);
      o.resumed?.(4, 1);
      o.decided?.(4);
      o.started?.(8, 1, 0);
      o.decided?.(8);
      o.departed?.(10, 0);
      o.departed?.(10, 1);
    };
    expect(violation(AWAY, sound)).toBeUndefined();
  });

  test.each<[AuditRule, number | undefined, Partial<Interruptions>, (o: Observer) => void]>([
    ["processor-away", undefined, AWAY, (o) => o.decided?.(4)],
    ["stopped-needlessly", 1, AWAY, (o) => o.suspended?.(4, 0)],
    ["stopped-needlessly", 2, AWAY, (o) => o.suspended?.(3, 1)],
    [
      "stopped-needlessly",
      2,
      { outages: [loss(4, 8, 2)] },
      (o) => [1, 1].map((job) => o.suspended?.(4, job)),
    ],
    ["stopped-needlessly", 1, AWAY, (o) => [1, 0].map((job) => o.suspended?.(4, job))],
    [
      "stopped",
      2,
      AWAY,
      (o) => {
        o.suspended?.(4, 1);
        o.resumed?.(5, 1);
      },
    ],
    [
      "stopped",
      1,
      { stops: [{ job: 0, fromS: 2, untilS: 6 }] },
      (o) => {
        o.suspended?.(2, 0);
        o.started?.(3, 0, 0);
      },
    ],
    [
      "processor-twice",
      2,
      AWAY,
      (o) => {
        o.suspended?.(4, 1);
        o.resumed?.(4, 1);
        o.started?.(5, 1, 0);
      },
    ],
    [
      "run-length",
      2,
      AWAY,
      (o) => {
        o.suspended?.(4, 1);
        o.resumed?.(4, 1);
        o.started?.(8, 1, 0);
        // It had run for 3 of its 5 s.
        o.departed?.(11, 1);
      },
    ],
    [
      "never-ended",
      2,
      AWAY,
      (o) => {
        o.suspended?.(4, 1);
        o.departed?.(10, 0);
        const endS = Float64Array.of(10, Number.NaN);
        const checker = o as SpaceChecker;
        checker.finish({
          startS: Float64Array.of(0, 1),
          endS,
          instants: 0,
          startsByRule: [2],
          gang: undefined,
        });
      },
    ],
  ])("%s, job %s", (rule, job, interruptions, emit) => {
    expect(violation(interruptions, emit)).toMatchObject({ rule, job });
  });

  test("outage-ignored: only where the policy claims to look ahead", () => {
    const known = { outages: [window(5, 8, 1)] };
    expect(violation(known, () => {})).toBeUndefined();
    expect(violation(known, () => {}, true)).toMatchObject({ rule: "outage-ignored", job: 2, timeS: 1 });
    expect(violation({ outages: [window(6, 8, 1)] }, () => {}, true)).toBeUndefined();
    expect(violation({ outages: [loss(5, 8, 1)] }, () => {}, true)).toBeUndefined();
  });

  test("resource-twice", () => {
    const plain = instanceOf(4, [
      { submitS: 0, runS: 10, size: 1 },
      { submitS: 0, runS: 10, size: 1 },
    ]);
    const instance = {
      ...plain,
      resources: [{ name: "gpu", amount: 3 }],
      demand: [Int32Array.of(2, 2)],
    };
    const claims = { headNeverFits: false, workConserving: true, keepsPromises: true };
    const checker = new SpaceChecker(instance, noCounts(), claims, {});
    const both = () => {
      checker.arrived(0, 0);
      checker.arrived(0, 1);
      checker.started(0, 0);
      // The second job is not expected to start.
      checker.decided(0);
      checker.started(0, 1);
    };
    expect(both).toThrow(StopRun);
    expect(checker.violation).toMatchObject({ rule: "resource-twice", job: 2 });
  });

  test("wrong-record: pauses that were not recorded", () => {
    const emit = (o: Observer) => {
      o.suspended?.(4, 1);
      o.resumed?.(4, 1);
      o.started?.(8, 1, 0);
      o.departed?.(10, 0);
      o.departed?.(10, 1);
      (o as SpaceChecker).finish({
        startS: Float64Array.of(0, 1),
        endS: Float64Array.of(10, 10),
        instants: 0,
        startsByRule: [3],
        gang: undefined,
      });
    };
    expect(violation(AWAY, emit)).toMatchObject({ rule: "wrong-record" });
  });
});
