import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { SpacePolicyDefinition } from "../../core/policy.ts";
import type { QueueClass } from "../../core/queue-classes.ts";
import { simulatePool } from "../../simulator/pool.ts";
import { simulate } from "../../simulator/simulate.ts";
import { makeChoice } from "../parse-policy.ts";
import { type ShapedJob, SMALL_CLASSES, shapedInstance } from "../shaped-jobs-for-tests.ts";
import { ConnectedReservation, connectedReservationOver } from "./connected-reservation.ts";

/** Two queue classes: the one for small jobs never reserves, the other one does. */
function classes(
  rule: Partial<{ limit: number; threshold: number; whenHeadBlocked: boolean }> = {},
): QueueClass[] {
  return [
    { name: "x", processors: 8, processes: 8, threads: 8 },
    {
      name: "q",
      processors: 16,
      processes: 16,
      threads: 8,
      reservations: { limit: 1, threshold: 1e6, whenHeadBlocked: false, ...rule },
    },
  ];
}

const X = 0;
const Q = 1;

interface Line extends ShapedJob {
  readonly name: string;
}

/** Jobs in order of submission → starts by name, and the promises as "time: name by start". */
function run(
  processors: number,
  lines: readonly Line[],
  queues: readonly QueueClass[],
  ...settings: string[]
): { starts: Record<string, number>; promises: string[] } {
  const choice = makeChoice(connectedReservationOver(queues), ["selection=user", ...settings]);
  const promises: string[] = [];
  const { definition, parameters } = choice;
  if (definition.sharing !== "space") throw new Error("expected space sharing");
  const schedule = simulatePool(shapedInstance(processors, lines), definition, parameters, {
    observer: {
      promised: (timeS, job, startS) => promises.push(`${timeS}: ${lines[job].name} by ${startS}`),
    },
  });
  return { starts: Object.fromEntries(lines.map(({ name }, job) => [name, schedule.startS[job]])), promises };
}

const job = (
  name: string,
  submitS: number,
  runS: number,
  processes: number,
  more: Partial<Line> = {},
): Line => ({
  name,
  submitS,
  runS,
  processes,
  queue: Q,
  ...more,
});

describe("reservation of an arrival in an empty queue", () => {
  test("it inherits the processors of the job of the same size that started first", () => {
    const lines = [
      job("A", 0, 10, 4, { estimateS: 30 }),
      job("B", 0, 20, 4),
      job("C", 1, 5, 4), // cannot start, and no job waits: connected to A, which is expected to end by 30
      job("D", 2, 1, 4), // C waits in the queue, so D makes no reservation
    ];
    const { starts, promises } = run(8, lines, classes());
    expect(promises).toEqual(["1: C by 30"]);
    expect(starts).toEqual({ A: 0, B: 0, C: 10, D: 15 });
  });

  test("a job of the same size in another queue is no match; it can only be gathered", () => {
    const lines = [job("A", 0, 10, 4, { queue: X }), job("B", 0, 20, 5), job("C", 1, 5, 4)];
    // In C's own queue runs B with 5 processors, which suffice: 4 are inherited, 1 released.
    const { starts, promises } = run(9, lines, classes());
    expect(promises).toEqual(["1: C by 20"]);
    expect(starts.C).toBe(20);
  });

  test("reservations=none makes none", () => {
    const lines = [job("A", 0, 10, 4), job("B", 0, 20, 4), job("C", 1, 5, 4), job("D", 2, 1, 4)];
    expect(run(8, lines, classes(), "reservations=none").promises).toEqual([]);
  });

  test("a queue without a reservation rule never reserves", () => {
    const lines = [job("A", 0, 10, 8, { queue: X }), job("B", 1, 5, 8, { queue: X })];
    expect(run(8, lines, classes(), "reservations=unlimited").promises).toEqual([]);
  });
});

describe("gathering of the largest running jobs", () => {
  const gathering = [
    job("A", 0, 10, 8),
    job("B", 0, 20, 6),
    job("C", 1, 5, 12), // 2 free: A's 8 and B's 6 are gathered, B leaves 4 and releases 2
    job("D", 11, 5, 3), // 10 are free, 8 of them held
    job("E", 12, 1, 2), // the 2 that are not held
  ];

  test("the requester starts when the last donor ends; no other job gets held processors", () => {
    const { starts, promises } = run(16, gathering, classes());
    expect(promises).toEqual(["1: C by 20"]);
    expect(starts).toEqual({ A: 0, B: 0, C: 20, D: 20, E: 12 });
  });

  test("the surplus is released when the donor gathered last ends, before the requester starts", () => {
    const lines = [
      job("A", 0, 20, 8),
      job("B", 0, 10, 6),
      job("C", 1, 5, 12),
      job("D", 2, 5, 4), // 2 were free, B releases 2 at 10; its other 4 are held
    ];
    expect(run(16, lines, classes()).starts).toEqual({ A: 0, B: 0, C: 20, D: 10 });
  });

  test("ties go to the most threads, then to the first start", () => {
    const lines = [
      job("A", 0, 10, 4),
      job("B", 1, 20, 2, { threads: 2 }),
      job("C", 2, 30, 2, { threads: 2 }),
      job("D", 3, 5, 3),
    ];
    const { starts, promises } = run(12, lines, classes());
    expect(promises).toEqual(["3: D by 21"]);
    expect(starts.D).toBe(21);
  });

  test("donors come from the requester's own queue while they suffice", () => {
    const lines = [
      job("X", 0, 100, 8, { queue: X }),
      job("A", 0, 10, 4),
      job("B", 0, 20, 4),
      job("C", 1, 5, 6),
    ];
    expect(run(16, lines, classes()).promises).toEqual(["1: C by 20"]);
  });

  test("donors come from all queues, largest first, if those of the own queue do not suffice", () => {
    const lines = [
      job("X", 0, 100, 8, { queue: X }),
      job("A", 0, 10, 4),
      job("B", 0, 20, 4),
      job("C", 1, 5, 11),
    ];
    // X's 8, then A's 4 of which 3 are left to C.
    const { starts, promises } = run(16, lines, classes());
    expect(promises).toEqual(["1: C by 100"]);
    expect(starts.C).toBe(100);
  });
});

describe("limits", () => {
  test("a running job carries one reservation: a second requester is refused and waits on", () => {
    const lines = [job("A", 0, 10, 8), job("B", 1, 10, 8), job("C", 2, 1, 8, { queue: 2 })];
    const two = [...classes(), { ...classes()[Q], name: "r" }];
    const { starts, promises } = run(8, lines, two);
    expect(promises[0]).toBe("1: B by 10");
    expect(promises).toHaveLength(1);
    expect(starts).toEqual({ A: 0, B: 10, C: 20 });
  });

  const twoRequesters = [
    job("A", 0, 50, 6),
    job("B", 0, 60, 6),
    job("F", 0, 70, 6),
    job("V", 1, 5, 10), // connected to A and B
    job("W", 2, 5, 7), // 6 are free; V waits in the queue, so W makes no reservation
    job("C", 3, 80, 1), // passes W, which gains ((1/8)·(7/16))^(−1/2) = 4.28
  ];

  test("at the limit a job over the threshold is refused and waits on like others", () => {
    const { starts, promises } = run(24, twoRequesters, classes({ threshold: 2 }));
    expect(promises).toEqual(["1: V by 60"]);
    // At 60 V takes 10; F's 6 and C's 1 still run, which leaves W its 7.
    expect(starts).toMatchObject({ V: 60, W: 60, C: 3 });
  });

  test("within the limit it is connected to running jobs that are not donors yet", () => {
    for (const rule of [{ limit: 2 }, { limit: 1, reservations: "unlimited" }]) {
      const settings = "reservations" in rule ? ["reservations=unlimited"] : [];
      const { starts, promises } = run(24, twoRequesters, classes({ ...rule, threshold: 2 }), ...settings);
      expect(promises).toEqual(["1: V by 60", "3: W by 83"]); // F's 6 and C's 1
      expect(starts).toMatchObject({ V: 60, W: 83 });
    }
  });

  test("a refused job asks again when the limit allows it", () => {
    const lines = [...twoRequesters, job("G", 4, 200, 2)];
    // At 60 W needs 7 and 5 are free; V has started, so W may be connected, to V's 10.
    expect(run(24, lines, classes({ threshold: 2 })).promises).toEqual(["1: V by 60", "60: W by 65"]);
  });
});

describe("reservation by priority", () => {
  const lines = [
    job("A", 0, 50, 2),
    job("B", 0, 30, 2),
    job("W", 1, 10, 6), // 4 processors run: too few donors, W waits without a reservation
    job("C", 2, 40, 1), // passes W
    job("D", 3, 40, 1), // passes W again; now 6 processors run
    job("E", 4, 5, 3),
  ];
  // One pass is worth ((1/8)·(6/16))^(−1/2) = 4.62 to W.

  test("a job asks when its priority is above the threshold, and inherits from all it gathered", () => {
    const { starts, promises } = run(8, lines, classes({ threshold: 9 }));
    expect(promises).toEqual(["3: W by 50"]);
    // At 30 B's 2 are held in addition to 2 free ones, too few for E; at 50 W takes all 6 that were
    // inherited.
    expect(starts).toEqual({ A: 0, B: 0, W: 50, C: 2, D: 3, E: 60 });
  });

  test("below the threshold others keep passing", () => {
    const { starts, promises } = run(8, lines, classes({ threshold: 14 }));
    expect(promises).toEqual([]);
    expect(starts).toEqual({ A: 0, B: 0, W: 43, C: 2, D: 3, E: 30 });
  });

  test("a job that passes in first fit counts like an arrival that passes", () => {
    // Passed by C, by D and, at 30, by E: 3 · 4.62 = 13.86; at 30 A 2, C 1, D 1, E 3 run, 7 in all.
    const { promises } = run(8, lines, classes({ threshold: 13 }));
    expect(promises).toEqual(["30: W by 50"]);
  });
});

describe("reservation of a blocked head", () => {
  const lines = [
    job("A", 0, 10, 3),
    job("B", 0, 40, 3),
    job("W", 1, 5, 7), // 6 processors run: too few donors
    job("C", 2, 100, 1), // passes W
    job("D", 3, 50, 4, { queue: X }),
  ];

  test("after a job has ended, the first job of the queue asks if it still cannot start", () => {
    // At 10 A ends and D, whose queue is served first, starts on 4; D's 4 and B's 3 are W's 7.
    const { starts, promises } = run(8, lines, classes({ whenHeadBlocked: true }));
    expect(promises).toEqual(["10: W by 60"]);
    expect(starts).toEqual({ A: 0, B: 0, W: 60, C: 2, D: 10 });
  });

  test("not in a queue that does not say so", () => {
    expect(run(8, lines, classes()).promises).toEqual([]);
  });
});

describe("passing", () => {
  const lines = [
    job("A", 0, 10, 6),
    job("W", 1, 5, 8),
    job("B", 2, 20, 1), // passes W
    job("C", 3, 20, 1), // would pass W too
  ];

  test("jobs that passed others may hold the given share of the machine together", () => {
    const open = run(8, lines, classes(), "reservations=none");
    expect(open.starts).toEqual({ A: 0, W: 23, B: 2, C: 3 });
    const limited = run(8, lines, classes(), "reservations=none", "passing=0.125");
    expect(limited.starts).toEqual({ A: 0, W: 22, B: 2, C: 27 });
    const none = run(8, lines, classes(), "reservations=none", "passing=0");
    expect(none.starts).toEqual({ A: 0, W: 10, B: 15, C: 15 });
  });
});

describe("queues", () => {
  test("a chosen queue that does not admit the job is refused with the limit", () => {
    expect(() => run(16, [job("A", 0, 1, 9, { queue: X })], classes())).toThrow(InputError);
    expect(() => run(16, [job("A", 0, 1, 9, { queue: X })], classes())).toThrow(
      'job row 0: it asks for 9 processors, 9 processes and 1 thread per process in queue "x", which admits 8 processors, 8 processes and 8 threads per process; set scale=2 or more for wider classes, or selection=automatic',
    );
  });

  test("a job that no class admits is refused, with what it asks for", () => {
    expect(() => run(32, [job("A", 0, 1, 17, { queue: -1 })], classes())).toThrow(
      "it asks for 17 processors, 17 processes and 1 thread per process, but no queue class admits that: the widest, q, admits 16 processors, 16 processes and 8 threads per process; set scale=2 or more for wider classes",
    );
  });

  test("scale widens every class, which changes what a job gains when it is passed", () => {
    expect(run(32, [job("A", 0, 10, 17, { queue: -1 })], classes(), "scale=2").starts).toEqual({ A: 0 });
    // V takes the only reservation, so W waits without one until B passes it. Formula (1) with the limits 32
    // and 16: W, of 8 processors and 2 threads, gains (2/16 · 8/32)^(−1/2).
    const lines = [
      job("A", 0, 10, 12),
      job("V", 1, 5, 8),
      job("W", 2, 5, 4, { threads: 2 }),
      job("B", 3, 1, 4),
    ];
    const settings = ["selection=user", "scale=2"];
    const { definition, parameters } = makeChoice(connectedReservationOver(classes()), settings);
    let policy: ConnectedReservation | undefined;
    const watched: SpacePolicyDefinition = {
      ...(definition as SpacePolicyDefinition),
      make: (pool, jobs) => {
        policy = new ConnectedReservation(pool, jobs, parameters, classes());
        return policy;
      },
    };
    simulatePool(shapedInstance(16, lines), watched, parameters);
    expect(policy!.priorityOf(2)).toBeCloseTo(Math.sqrt(32), 12);
  });
});

describe("jobCheck", () => {
  const shapes = fc.record({
    processes: fc.integer({ min: 1, max: 60 }),
    threads: fc.integer({ min: 1, max: 20 }),
    estimateS: fc.integer({ min: 1, max: 40 }),
    queue: fc.integer({ min: -1, max: SMALL_CLASSES.length - 1 }),
  });

  test("refuses what no class admits, and the scale that it names is the smallest that helps", () => {
    const property = fc.property(
      shapes,
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      ({ processes, threads, estimateS, queue }, scale, byUser) => {
        const offered = { processors: processes * threads, processes, threads, estimateS, queue };
        const open = byUser && queue >= 0 ? [SMALL_CLASSES[queue]] : SMALL_CLASSES;
        const admits = (by: number) =>
          open.some(
            (one) =>
              offered.processors <= by * one.processors &&
              processes <= by * one.processes &&
              threads <= by * one.threads &&
              (one.elapsedBelowS === undefined || estimateS < one.elapsedBelowS),
          );
        const { jobCheck } = connectedReservationOver(SMALL_CLASSES);
        const reason = jobCheck!({ scale, selection: byUser ? "user" : "automatic" })(offered);
        expect(reason === undefined).toBe(admits(scale));
        const named = /set scale=(\d+) /.exec(reason ?? "")?.[1];
        if (named !== undefined)
          expect([admits(Number(named) - 1), admits(Number(named))]).toEqual([false, true]);
        else if (reason !== undefined) expect(admits(1e6)).toBe(false);
      },
    );
    fc.assert(property, { numRuns: 1000 });
  });

  test("is made before a run: the text names the policy, the job's own number, its shape and what to set", () => {
    const instance = shapedInstance(32, [
      ...Array.from({ length: 3 }, (_, i) => ({ submitS: i, runS: 1, processes: 1 })),
      { submitS: 3, runS: 1, processes: 17 },
      { submitS: 4, runS: 1, processes: 9, threads: 2 },
    ]);
    const numbered = { ...instance, id: Int32Array.from([101, 102, 103, 104, 105]) };
    const choice = makeChoice(connectedReservationOver(classes()));
    expect(() => simulate(numbered, choice, { slotS: 1, switchS: 0 })).toThrow(
      'Cannot run policy "connected-reservation" here: job 105 asks for 18 processors, 9 processes and 2 threads per process, but no queue class admits that: the widest, q, admits 16 processors, 16 processes and 8 threads per process; set scale=2 or more for wider classes; 2 jobs cannot be scheduled, and this is the largest',
    );
  });
});
