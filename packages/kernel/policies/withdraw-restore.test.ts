/**
 * Tests the hooks `withdraw` and `restore`, by which a policy forgets a waiting job and takes over a running
 * one. At each step, a new policy that receives the running and the waiting jobs must start the same jobs as
 * the old one.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JobIndex } from "../core/jobs.ts";
import type { GangPolicyDefinition, Policy, PolicyChoice, SpacePolicyDefinition } from "../core/policy.ts";
import { JobTable } from "../machines/job-table.ts";
import { PoolMachine } from "../machines/pool-machine.ts";
import { fullTable } from "../simulator/full-table-for-tests.ts";
import { gangInstance } from "../simulator/gang-for-tests.ts";
import { auditMatrix } from "../structures/matrix/matrix-audit-for-tests.ts";
import { picture } from "../structures/matrix/pictures-for-tests.ts";
import { allChoices } from "./choices-for-tests.ts";
import { gang } from "./gangs/gang.ts";
import { BenchMachine } from "./gangs/gang-bench-for-tests.ts";
import { makeChoice } from "./parse-policy.ts";
import { POLICIES } from "./registry.ts";
import { conservative } from "./space/conservative.ts";
import { dynp } from "./space/dynp.ts";
import { decideConservatively, KEYS, type Key, type NaiveJob } from "./space/naive-conservative-for-tests.ts";

const PROCESSORS = 8;
const MAX_JOBS = 400;

interface Job {
  readonly number: number;
  readonly size: number;
  readonly submitS: number;
  readonly estimateS: number;
}

interface Running {
  readonly job: Job;
  readonly startS: number;
}

/** A pool that the test controls. */
class BenchPool extends PoolMachine {
  readonly waiting = new Map<number, Job>();
  /** Running jobs in order of start. */
  readonly running = new Map<number, Running>();
  readonly promisedS = new Map<number, number>();
  wakeS = Number.POSITIVE_INFINITY;
  readonly #policy: Policy;
  readonly #table = new JobTable({ shape: false, memory: false, origin: false });
  readonly #sizes: Int32Array;
  readonly #jobs: Job[] = [];
  readonly #rows = new Map<number, JobIndex>();
  readonly #keepsPromises: boolean;
  #started: number[] = [];

  constructor({ definition, parameters }: PolicyChoice<SpacePolicyDefinition>) {
    const sizes = new Int32Array(MAX_JOBS);
    super(PROCESSORS, sizes, undefined);
    this.#sizes = sizes;
    this.#keepsPromises = definition.guarantees(parameters).keepsPromises;
    this.#policy = definition.make(this, this.#table, parameters);
  }

  #add(job: Job): JobIndex {
    const row = this.#jobs.push(job) - 1;
    this.#table.reserve(row);
    this.#sizes[row] = job.size;
    this.#table.size[row] = job.size;
    this.#table.submitS[row] = job.submitS;
    this.#table.estimateS[row] = job.estimateS;
    this.#rows.set(job.number, row);
    return row;
  }

  runs({ job, startS }: Running): void {
    const row = this.#add(job);
    this.resumeFrom(row, startS);
    this.running.set(job.number, { job, startS });
    this.#policy.restore?.(row, startS);
  }

  arrives(job: Job): void {
    this.waiting.set(job.number, job);
    this.enter(this.#add(job));
  }

  withdraws(number: number): void {
    const row = this.#rows.get(number)!;
    this.waiting.delete(number);
    this.promisedS.delete(number);
    this.forget(row);
    this.#policy.withdraw?.(row);
  }

  ends(number: number): void {
    const row = this.#rows.get(number)!;
    this.running.delete(number);
    this.leave(row);
    this.#policy.depart(row);
  }

  /** Numbers of the jobs that start. */
  decide(): readonly number[] {
    this.#started = [];
    if (this.wakeS <= this.nowS) this.wakeS = Number.POSITIVE_INFINITY;
    this.#policy.decide(this.takeArrivals());
    return this.#started.sort((a, b) => a - b);
  }

  protected onSuspend(): void {
    throw new Error("This test stops no jobs");
  }

  protected onStart(row: JobIndex): void {
    const job = this.#jobs[row];
    this.waiting.delete(job.number);
    this.running.set(job.number, { job, startS: this.nowS });
    this.#started.push(job.number);
  }

  override promise(row: JobIndex, startS: number): void {
    const { number } = this.#jobs[row];
    if (this.#keepsPromises)
      expect(startS).toBeLessThanOrEqual(this.promisedS.get(number) ?? Number.POSITIVE_INFINITY);
    this.promisedS.set(number, startS);
  }

  wakeAt(timeS: number): void {
    this.wakeS = timeS;
  }

  /** The next instant that needs a decision. */
  nextS(): number {
    return Math.min(
      this.wakeS,
      ...[...this.running.values()].map(({ job, startS }) => startS + job.estimateS),
    );
  }
}

const step = fc.record({
  laterS: fc.nat(12),
  arrive: fc.array(fc.tuple(fc.integer({ min: 1, max: PROCESSORS }), fc.integer({ min: 1, max: 20 })), {
    maxLength: 3,
  }),
  ends: fc.array(fc.nat(20), { maxLength: 2 }),
  withdrawals: fc.array(fc.nat(20), { maxLength: 2 }),
});
type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never;

interface Events {
  readonly atS: number;
  readonly ends: readonly number[];
  readonly withdrawals: readonly number[];
  readonly arrivals: readonly Job[];
}

/** Applies the step to the pool. No job runs longer than its estimate. */
function eventsOf({ laterS, arrive, ends, withdrawals }: Step, pool: BenchPool, next: number): Events {
  const atS = Math.min(pool.nowS + laterS, pool.nextS());
  const running = [...pool.running.values()];
  const waiting = [...pool.waiting.keys()];
  const due = running.filter(({ job, startS }, i) => startS + job.estimateS <= atS || ends.includes(i));
  return {
    atS,
    ends: due.map(({ job }) => job.number),
    withdrawals: waiting.filter((_, i) => withdrawals.includes(i)),
    arrivals: arrive.map(([size, estimateS], i) => ({ number: next + i, size, submitS: atS, estimateS })),
  };
}

function take(pool: BenchPool, { atS, ends, withdrawals, arrivals }: Events): readonly number[] {
  pool.nowS = atS;
  for (const number of ends) pool.ends(number);
  for (const number of withdrawals) pool.withdraws(number);
  for (const job of arrivals) pool.arrives(job);
  return pool.decide();
}

/** A new policy that learns which jobs run and which wait, except some. */
function toldAnew(
  choice: PolicyChoice<SpacePolicyDefinition>,
  pool: BenchPool,
  leftOut: readonly number[] = [],
): BenchPool {
  const fresh = new BenchPool(choice);
  for (const running of pool.running.values()) fresh.runs(running);
  fresh.nowS = pool.nowS;
  for (const job of pool.waiting.values()) if (!leftOut.includes(job.number)) fresh.arrives(job);
  return fresh;
}

/** Runs until no job waits. */
function finish(pool: BenchPool): void {
  for (let i = 0; i < MAX_JOBS && pool.waiting.size > 0; i++) {
    const atS = pool.nextS();
    const due = [...pool.running.values()].filter(({ job, startS }) => startS + job.estimateS <= atS);
    take(pool, { atS, ends: due.map(({ job }) => job.number), withdrawals: [], arrivals: [] });
  }
  expect(pool.waiting.size).toBe(0);
}

const space = POLICIES.flatMap((definition) =>
  definition.sharing === "space" && definition.capabilities?.withdraw && definition.capabilities.restore
    ? allChoices(definition)
    : [],
);
const steps = fc.array(step, { maxLength: 30 });

describe("a policy that forgets waiting jobs starts the same jobs as a new policy that never saw them", () => {
  const forgetful = [
    ...space.filter(({ definition }) => definition !== conservative),
    makeChoice(dynp, ["lower=5", "upper=9"]),
  ];
  test.each(forgetful.map((choice) => [choice.label, choice] as const))("%s", (_, choice) => {
    fc.assert(
      fc.property(steps, (drawn) => {
        const pool = new BenchPool(choice);
        let next = 0;
        for (const one of drawn) {
          const events = eventsOf(one, pool, next);
          next += events.arrivals.length;
          const fresh = toldAnew(choice, pool, events.withdrawals);
          expect(take(fresh, { ...events, withdrawals: [] })).toEqual(take(pool, events));
        }
        finish(pool);
      }),
      { numRuns: 300 },
    );
  });
});

/** Reservations of conservative backfilling, made naively from what happens on a pool. */
class NaiveReservations {
  readonly #key: Key;
  #jobs = new Map<number, NaiveJob>();

  constructor({ parameters }: PolicyChoice<SpacePolicyDefinition>) {
    this.#key = KEYS[String(parameters.order)];
  }

  /** The jobs that start at the next decision of a pool at which these events happen. */
  startsOf(pool: BenchPool, { atS, ends, withdrawals, arrivals }: Events): number[] {
    const early = ends.filter((number) => {
      const { job, startS } = pool.running.get(number)!;
      return startS + job.estimateS > atS;
    });
    const running = [...pool.running.values()].filter(({ job }) => !ends.includes(job.number));
    const waiting = [...pool.waiting.values(), ...arrivals].filter(
      (job) => !withdrawals.includes(job.number),
    );
    return this.#decide(atS, running, waiting, arrivals, early.length + withdrawals.length > 0);
  }

  /** The jobs that start when a new policy learns everything at once. */
  startsAgain(pool: BenchPool): number[] {
    this.#jobs = new Map();
    const waiting = [...pool.waiting.values()];
    return this.#decide(pool.nowS, [...pool.running.values()], waiting, waiting, false);
  }

  #decide(
    nowS: number,
    running: readonly Running[],
    waiting: readonly Job[],
    arrivals: readonly Job[],
    endedEarly: boolean,
  ): number[] {
    const state = {
      nowS,
      running: running.map(({ job, startS }) => ({ ...this.#naive(job), startS })),
      waiting: waiting.map((job) => this.#naive(job)),
      arrived: arrivals.map((job) => this.#naive(job)),
      endedEarly,
    };
    decideConservatively(PROCESSORS, state, this.#key);
    const due = state.waiting.filter(({ reservedS }) => reservedS <= nowS);
    return due.map(({ row }) => row).sort((a, b) => a - b);
  }

  #naive(job: Job): NaiveJob {
    const { number, size, submitS, estimateS } = job;
    const known = this.#jobs.get(number);
    if (known !== undefined) return known;
    const naive = { row: number, size, submitS, estimateS, startS: Number.NaN, reservedS: Number.NaN };
    this.#jobs.set(number, naive);
    return naive;
  }
}

describe("conservative backfilling, which remembers what it has promised", () => {
  test.each(allChoices(conservative).map((choice) => [choice.label, choice] as const))(
    "%s keeps all promises when jobs are withdrawn, and starts the same jobs as its naive twin",
    (_, choice) => {
      fc.assert(
        fc.property(steps, fc.nat(30), (drawn, at) => {
          let pool = new BenchPool(choice);
          const naive = new NaiveReservations(choice);
          let next = 0;
          for (const [i, one] of drawn.entries()) {
            if (i === at) {
              const expected = naive.startsAgain(pool);
              pool = toldAnew(choice, pool);
              expect(pool.decide()).toEqual(expected);
            }
            const events = eventsOf(one, pool, next);
            next += events.arrivals.length;
            const expected = naive.startsOf(pool, events);
            const started = take(pool, events);
            expect(started).toEqual(expected);
            for (const number of started) {
              expect(pool.nowS).toBeLessThanOrEqual(pool.promisedS.get(number)!);
            }
          }
          finish(pool);
        }),
        { numRuns: 300 },
      );
    },
  );
});

describe("gang scheduling row by row with a queue in front", () => {
  const SIZES = Array.from({ length: 60 }, (_, job) => 1 + ((job * 7) % PROCESSORS));
  const instance = gangInstance(
    PROCESSORS,
    SIZES.map((size) => [0, 1, size] as const),
  );

  class GangBench {
    readonly machine = new BenchMachine(PROCESSORS, instance.size);
    readonly policy: Policy;
    readonly waiting = new Set<JobIndex>();

    constructor({ definition, parameters }: PolicyChoice<GangPolicyDefinition>) {
      this.policy = definition.make(this.machine, fullTable(instance), parameters);
    }

    take(
      ends: readonly JobIndex[],
      withdrawals: readonly JobIndex[],
      arrivals: readonly JobIndex[],
    ): string[] {
      for (const job of ends) this.machine.removeJob(job);
      for (const job of ends) this.policy.depart(job);
      for (const job of withdrawals) {
        this.waiting.delete(job);
        this.policy.withdraw?.(job);
      }
      for (const job of arrivals) this.waiting.add(job);
      this.policy.decide(arrivals);
      for (const job of this.waiting) if (this.machine.slotsOf(job) > 0) this.waiting.delete(job);
      auditMatrix(this.machine);
      return picture(this.machine).filter((row) => /[^.]/.test(row));
    }

    get placed(): JobIndex[] {
      return SIZES.map((_, job) => job).filter((job) => this.machine.slotsOf(job) > 0);
    }
  }

  /** A new policy that learns which jobs run where and which wait. */
  function copyOf(bench: GangBench, choice: PolicyChoice<GangPolicyDefinition>): GangBench {
    const fresh = new GangBench(choice);
    for (let position = 0; position < bench.machine.rowCount; position++) {
      const from = bench.machine.rowAt(position);
      if (bench.machine.firstRun(from) === -1) continue;
      const row = fresh.machine.addRow();
      for (let run = bench.machine.firstRun(from); run !== -1; run = bench.machine.nextRun(run)) {
        const job = bench.machine.runJob(run);
        fresh.machine.place(job, row, bench.machine.runFirst(run));
        fresh.policy.restore?.(job, 0);
      }
    }
    return fresh;
  }

  test.each(["fit=first:queue=fcfs", "fit=best:queue=first-fit", "queue=fcfs:queueOrder=smallest"])(
    "rows=2:%s",
    (settings) => {
      const choice = makeChoice(gang as GangPolicyDefinition, ["rows=2", ...settings.split(":")]);
      fc.assert(
        fc.property(steps, (drawn) => {
          const bench = new GangBench(choice);
          let next = 0;
          for (const { arrive, ends, withdrawals } of drawn) {
            const fresh = copyOf(bench, choice);
            const before = picture(bench.machine).filter((row) => /[^.]/.test(row));
            expect(fresh.take([], [], [...bench.waiting])).toEqual(before);
            const ending = bench.placed.filter((_, i) => ends.includes(i));
            const leaving = [...bench.waiting].filter((_, i) => withdrawals.includes(i));
            const coming = Array.from({ length: Math.min(arrive.length, SIZES.length - next) }, () => next++);
            expect(fresh.take(ending, leaving, coming)).toEqual(bench.take(ending, leaving, coming));
          }
        }),
        { numRuns: 100 },
      );
    },
  );
});
