/**
 * Compares connected reservations with a twin of plain objects and arrays that recomputes everything. An
 * observer checks the paper's guarantees: no job uses held processors, a running job has at most one
 * requester, limits hold, and priorities are the sum of their gains.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instance, JobsView } from "../../core/jobs.ts";
import type { ParameterValues, Pool, SpacePolicyDefinition } from "../../core/policy.ts";
import { exceededLimit, type QueueClass } from "../../core/queue-classes.ts";
import { simulatePool } from "../../simulator/pool.ts";
import { makeChoice } from "../parse-policy.ts";
import { arbitraryShapedInstance, SMALL_CLASSES } from "../shaped-jobs-for-tests.ts";
import { type ConnectedReservation, connectedReservationOver } from "./connected-reservation.ts";

interface Settings {
  readonly reservations: "none" | "limited" | "unlimited";
  readonly selection: "automatic" | "user";
  readonly passing: number;
}

interface TwinJob {
  readonly row: number;
  readonly size: number;
  readonly threads: number;
  readonly queue: number;
  readonly estimateS: number;
  readonly endS: (startS: number) => number;
  passes: number;
  startS: number;
  order: number;
  hasPassed: boolean;
  /** As requester: what each donor leaves. */
  donors: { donor: TwinJob; leaves: number }[];
}

interface TwinResult {
  readonly startS: number[];
  readonly promises: string[];
  readonly passes: number[];
  /** Reservations by trigger, and how many had more than one donor. */
  readonly made: { arrival: number; head: number; priority: number; gathered: number };
}

/** The policy of the paper, instant by instant; everything is recomputed from the list of all jobs. */
function naively(instance: Instance, classes: readonly QueueClass[], settings: Settings): TwinResult {
  const all = Array.from({ length: instance.count }, (_, row) => twinJob(instance, row, classes, settings));
  const promises: string[] = [];
  const isRunning = (job: TwinJob, nowS: number) => job.startS <= nowS && !ended.has(job);
  const ended = new Set<TwinJob>();
  const arrived: TwinJob[] = [];
  let starts = 0;
  let nowS = 0;

  const running = () => arrived.filter((job) => isRunning(job, nowS));
  const requesters = () => arrived.filter((job) => job.donors.length > 0 && Number.isNaN(job.startS));
  const requesterOf = (job: TwinJob) =>
    requesters().find((one) => one.donors.some(({ donor }) => donor === job));
  const waitingIn = (queue: number) =>
    arrived.filter((job) => job.queue === queue && Number.isNaN(job.startS) && job.donors.length === 0);
  const sum = (jobs: TwinJob[]) => jobs.reduce((total, { size }) => total + size, 0);
  const held = () =>
    requesters()
      .flatMap(({ donors }) => donors)
      .filter(({ donor }) => ended.has(donor))
      .reduce((total, { leaves }) => total + leaves, 0);
  const free = () => instance.processors - sum(running()) - held();
  const freeToPass = () =>
    Math.min(
      free(),
      Math.floor(settings.passing * instance.processors) - sum(running().filter((job) => job.hasPassed)),
    );
  const priority = (job: TwinJob) => {
    const { threads, processors } = classes[job.queue];
    return job.passes * ((job.threads / threads) * (job.size / processors)) ** -0.5;
  };
  const limitOf = (queue: number) => {
    const rule = classes[queue].reservations;
    if (rule === undefined || settings.reservations === "none") return 0;
    return settings.reservations === "limited" ? rule.limit : Number.POSITIVE_INFINITY;
  };
  const openIn = (queue: number) => requesters().filter((job) => job.queue === queue).length;

  const start = (job: TwinJob) => {
    job.startS = nowS;
    job.order = starts++;
  };
  const pass = (job: TwinJob, passed: TwinJob[]) => {
    for (const other of passed) other.passes++;
    job.hasPassed = true;
    start(job);
  };
  const made = { arrival: 0, head: 0, priority: 0, gathered: 0 };
  const reserve = (job: TwinJob, trigger: "arrival" | "head" | "priority") => {
    if (openIn(job.queue) >= limitOf(job.queue)) return;
    const candidates = running().filter((other) => requesterOf(other) === undefined);
    const own = candidates.filter((other) => other.queue === job.queue);
    const [match] = own.filter(({ size }) => size === job.size).sort((a, b) => a.order - b.order);
    const population = sum(own) >= job.size ? own : candidates;
    if (sum(population) < job.size) return;
    population.sort((a, b) => b.size - a.size || b.threads - a.threads || a.order - b.order);
    const chosen = match === undefined ? population : [match];
    const donors: TwinJob["donors"] = [];
    let missing = job.size;
    for (const donor of chosen) {
      if (missing === 0) break;
      const leaves = Math.min(missing, donor.size);
      donors.push({ donor, leaves });
      missing -= leaves;
    }
    job.donors = donors;
    const byS = Math.max(...donors.map(({ donor }) => donor.startS + donor.estimateS));
    made[trigger]++;
    if (donors.length > 1) made.gathered++;
    promises.push(`${nowS}: ${job.row} by ${byS}`);
  };

  for (;;) {
    const ends = running().map((job) => job.endS(job.startS));
    const next = all[arrived.length];
    const nextS = Math.min(
      ...ends,
      next === undefined ? Number.POSITIVE_INFINITY : instance.submitS[next.row],
    );
    if (nextS === Number.POSITIVE_INFINITY) break;
    nowS = nextS;
    const ending = running()
      .filter((job) => job.endS(job.startS) === nowS)
      .sort((a, b) => a.order - b.order);
    const due: TwinJob[] = [];
    for (const job of ending) {
      const requester = requesterOf(job);
      ended.add(job);
      if (requester?.donors.every(({ donor }) => ended.has(donor))) due.push(requester);
    }
    const arrivals = all.filter(({ row }) => row >= arrived.length && instance.submitS[row] === nowS);
    for (const job of due) start(job);
    if (ending.length > 0) {
      for (const queue of classes.keys()) {
        for (const job of waitingIn(queue)) {
          const before = waitingIn(queue).filter(({ row }) => row < job.row);
          if (before.length === 0 && job.size <= free()) start(job);
          else if (before.length > 0 && job.size <= freeToPass()) pass(job, before);
        }
      }
      for (const [queue, { reservations }] of classes.entries()) {
        const [head] = waitingIn(queue);
        if (head !== undefined && reservations?.whenHeadBlocked) reserve(head, "head");
      }
    }
    for (const job of arrivals) {
      const before = waitingIn(job.queue);
      const isAlone = before.length === 0 && openIn(job.queue) === 0;
      arrived.push(job);
      if (before.length === 0 && job.size <= free()) start(job);
      else if (before.length > 0 && job.size <= freeToPass()) pass(job, before);
      else if (isAlone) reserve(job, "arrival");
    }
    for (const [queue, { reservations }] of classes.entries()) {
      for (const job of waitingIn(queue)) {
        if (reservations !== undefined && priority(job) > reservations.threshold) {
          reserve(job, "priority");
        }
      }
    }
  }
  return { startS: all.map((job) => job.startS), promises, passes: all.map((job) => job.passes), made };
}

function twinJob(
  instance: Instance,
  row: number,
  classes: readonly QueueClass[],
  settings: Settings,
): TwinJob {
  const shape = {
    processors: instance.size[row],
    processes: instance.shape!.processes[row],
    threads: instance.shape!.threads[row],
    estimateS: instance.estimateS[row],
  };
  // The tightest class: sorted by its limits, one after the other.
  const limits = (one: QueueClass) => [
    one.processors,
    one.processes,
    one.threads,
    one.elapsedBelowS ?? Number.POSITIVE_INFINITY,
  ];
  const [tightest] = [...classes.keys()]
    .filter((queue) => exceededLimit(classes[queue], shape) === undefined)
    .sort((a, b) => {
      const [ofA, ofB] = [limits(classes[a]), limits(classes[b])];
      const differs = ofA.findIndex((value, i) => value !== ofB[i]);
      return differs < 0 ? a - b : ofA[differs] - ofB[differs];
    });
  return {
    row,
    size: shape.processors,
    threads: shape.threads,
    estimateS: shape.estimateS,
    queue: settings.selection === "user" ? instance.shape!.queue[row] : tightest,
    endS: (startS) => startS + instance.runS[row],
    passes: 0,
    startS: Number.NaN,
    order: -1,
    hasPassed: false,
    donors: [],
  };
}

/** Runs the policy under an observer that audits its bookkeeping and checks its guarantees from outside. */
function audited(instance: Instance, classes: readonly QueueClass[], settings: Settings) {
  const { definition, parameters } = makeChoice(
    connectedReservationOver(classes),
    Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  );
  let policy!: ConnectedReservation;
  let pool!: Pool;
  const spied: SpacePolicyDefinition = {
    ...(definition as SpacePolicyDefinition),
    make(machine: Pool, jobs: JobsView, values: ParameterValues) {
      pool = machine;
      policy = (definition as SpacePolicyDefinition).make(machine, jobs, values) as ConnectedReservation;
      return policy;
    },
  };
  const promises: string[] = [];
  const promisedS = new Map<number, number>();
  const schedule = simulatePool(instance, spied, parameters, {
    observer: {
      promised: (timeS, job, startS) => {
        promises.push(`${timeS}: ${job} by ${startS}`);
        expect(promisedS.has(job)).toBe(false); // one reservation per job
        promisedS.set(job, startS);
      },
      started: (timeS, job) => {
        expect(timeS).toBeLessThanOrEqual(promisedS.get(job) ?? Number.POSITIVE_INFINITY);
        expect(pool.free).toBeGreaterThanOrEqual(policy.book.held); // no job passed into held processors
      },
      decided: () => {
        policy.book.audit();
        expect(pool.free).toBeGreaterThanOrEqual(policy.book.held);
        if (settings.reservations !== "limited") return;
        for (const [queue, { reservations }] of classes.entries()) {
          expect(policy.book.openIn(queue)).toBeLessThanOrEqual(reservations?.limit ?? 0);
        }
      },
    },
  });
  const priorities = Array.from({ length: instance.count }, (_, job) => policy.priorityOf(job));
  return { schedule, promises, priorities };
}

const settings = fc.record({
  reservations: fc.constantFrom<Settings["reservations"]>("limited", "unlimited", "none"),
  selection: fc.constantFrom<Settings["selection"]>("automatic", "user"),
  passing: fc.constantFrom(1, 1, 0.5, 0),
});

function check(instance: Instance, chosen: Settings) {
  const ours = audited(instance, SMALL_CLASSES, chosen);
  const twin = naively(instance, SMALL_CLASSES, chosen);
  expect(ours.promises).toEqual(twin.promises);
  expect([...ours.schedule.startS]).toEqual(twin.startS);
  for (let job = 0; job < instance.count; job++) {
    // Priorities are kept only where a threshold may ask for them.
    const { queue, size, threads } = twinJob(instance, job, SMALL_CLASSES, chosen);
    const { reservations, processors, threads: most } = SMALL_CLASSES[queue];
    const counts = reservations !== undefined && chosen.reservations !== "none";
    const gain = ((threads / most) * (size / processors)) ** -0.5;
    expect(ours.priorities[job]).toBeCloseTo(counts ? twin.passes[job] * gain : 0, 9);
  }
}

describe("connected-reservation", () => {
  test("every start, promise and priority agrees with the naive twin, few jobs", () => {
    const instance = arbitraryShapedInstance(SMALL_CLASSES, 16, 40, 5);
    fc.assert(fc.property(instance, settings, check), { numRuns: 400 });
  });

  test("every start, promise and priority agrees with the naive twin, many jobs", () => {
    const instance = arbitraryShapedInstance(SMALL_CLASSES, 24, 90, 50);
    fc.assert(fc.property(instance, settings, check), { numRuns: 60 });
  });

  test("scale is a list of classes with multiplied limits", () => {
    const wider = (factor: number) =>
      SMALL_CLASSES.map((one) => ({
        ...one,
        processors: factor * one.processors,
        processes: factor * one.processes,
        threads: factor * one.threads,
      }));
    const instance = arbitraryShapedInstance(wider(3), 48, 40, 5);
    const property = fc.property(instance, settings, (drawn, chosen) => {
      const words = Object.entries(chosen).map(([name, value]) => `${name}=${value}`);
      const { definition, parameters } = makeChoice(connectedReservationOver(SMALL_CLASSES), [
        ...words,
        "scale=3",
      ]);
      const ours = simulatePool(drawn, definition as SpacePolicyDefinition, parameters);
      expect([...ours.startS]).toEqual(naively(drawn, wider(3), chosen).startS);
    });
    fc.assert(property, { numRuns: 150 });
  });

  test("the drawn cases make reservations by all triggers, of one donor and of several", () => {
    const made = { arrival: 0, head: 0, priority: 0, gathered: 0 };
    const instance = arbitraryShapedInstance(SMALL_CLASSES, 16, 90, 70);
    const chosen: Settings = { reservations: "limited", selection: "automatic", passing: 1 };
    for (const drawn of fc.sample(instance, { numRuns: 40, seed: 1 })) {
      const twin = naively(drawn, SMALL_CLASSES, chosen);
      for (const trigger of ["arrival", "head", "priority", "gathered"] as const) {
        made[trigger] += twin.made[trigger];
      }
    }
    expect(Math.min(made.arrival, made.head, made.priority, made.gathered)).toBeGreaterThan(20);
  });
});
