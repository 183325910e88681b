/**
 * Compares the space-sharing policies with naive twins, which are written from the rules of the policies with
 * arrays, sorts and loops. The twins keep nothing from one instant to the next, and share no code with the
 * simulator, its structures or the policies.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instance } from "../../core/jobs.ts";
import type { SpacePolicyDefinition } from "../../core/policy.ts";
import type { OverrunRule } from "../../core/rules.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { inTurn, SIZES } from "../../core/sizes-for-tests.ts";
import { simulatePool } from "../../simulator/pool.ts";
import { prepare } from "../../workload/prepare.ts";
import { readTrace, traceFile } from "../../workload/traces-for-tests.ts";
import { arbitraryInstance, instanceOf } from "../instances-for-tests.ts";
import { choosePolicy } from "../parse-policy.ts";
import {
  decideConservatively,
  inOrder,
  KEYS,
  type Key,
  lengthS,
  type NaiveJob,
} from "./naive-conservative-for-tests.ts";

/** A job of an instance. */
interface TwinJob extends NaiveJob {
  readonly runS: number;
}

interface Twin {
  readonly startS: number[];
  /** Promises of EASY: `row@instant: shadow time`. */
  readonly shadows: Set<string>;
}

/** One instant's decision: `start` may be called for waiting jobs that fit. */
type Decide = (state: TwinState, start: (job: TwinJob) => void) => void;

interface TwinState {
  nowS: number;
  free: number;
  waiting: TwinJob[];
  running: TwinJob[];
  arrived: TwinJob[];
  /** Whether a job has ended before its expected end in this instant. */
  endedEarly: boolean;
}

function runTwin(instance: Instance, decide: Decide): number[] {
  const jobs: TwinJob[] = Array.from({ length: instance.count }, (_, row) => ({
    row,
    submitS: instance.submitS[row],
    runS: instance.runS[row],
    estimateS: instance.estimateS[row],
    size: instance.size[row],
    startS: Number.NaN,
    reservedS: Number.NaN,
  }));
  const state: TwinState = {
    nowS: 0,
    free: instance.processors,
    waiting: [],
    running: [],
    arrived: [],
    endedEarly: false,
  };
  let next = 0;
  while (next < jobs.length || state.running.length > 0 || state.waiting.length > 0) {
    let nowS = next < jobs.length ? jobs[next].submitS : Number.POSITIVE_INFINITY;
    for (const job of state.running) nowS = Math.min(nowS, job.startS + job.runS);
    // A reservation that is due is an event, too.
    for (const job of state.waiting) if (job.reservedS > state.nowS) nowS = Math.min(nowS, job.reservedS);
    state.nowS = nowS;
    state.arrived = [];
    state.endedEarly = false;
    const still: TwinJob[] = [];
    for (const job of state.running) {
      if (job.startS + job.runS > nowS) {
        still.push(job);
        continue;
      }
      state.free += job.size;
      if (job.runS < lengthS(job)) state.endedEarly = true;
    }
    state.running = still;
    while (next < jobs.length && jobs[next].submitS === nowS) {
      state.arrived.push(jobs[next]);
      state.waiting.push(jobs[next++]);
    }
    decide(state, (job) => {
      if (job.size > state.free) throw new Error(`the twin starts job ${job.row}, which does not fit`);
      state.free -= job.size;
      job.startS = nowS;
      state.running.push(job);
      state.waiting = state.waiting.filter((other) => other !== job);
    });
  }
  return jobs.map((job) => job.startS);
}

function twinFcfs(instance: Instance, key: Key): Twin {
  const startS = runTwin(instance, (state, start) => {
    for (const job of inOrder(state.waiting, key, state.nowS)) {
      if (job.size > state.free) break;
      start(job);
    }
  });
  return { startS, shadows: new Set() };
}

function twinFirstFit(instance: Instance, key: Key): Twin {
  const startS = runTwin(instance, (state, start) => {
    for (const job of inOrder(state.waiting, key, state.nowS)) if (job.size <= state.free) start(job);
  });
  return { startS, shadows: new Set() };
}

function twinEasy(instance: Instance, key: Key): Twin {
  const shadows = new Set<string>();
  const startS = runTwin(instance, (state, start) => {
    const queue = inOrder(state.waiting, key, state.nowS);
    while (queue.length > 0 && queue[0].size <= state.free) start(queue.shift() as TwinJob);
    const head = queue.shift();
    if (head === undefined) return;
    const expectedEndS = (job: TwinJob) => job.startS + job.estimateS;
    let available = state.free;
    let shadowS = Number.NaN;
    for (const job of [...state.running].sort((a, b) => expectedEndS(a) - expectedEndS(b))) {
      available += job.size;
      shadowS = expectedEndS(job);
      if (available >= head.size) break;
    }
    shadows.add(`${head.row}@${state.nowS}: ${shadowS}`);
    let spare = state.free - head.size;
    for (const job of state.running) if (expectedEndS(job) <= shadowS) spare += job.size;
    for (const job of queue) {
      if (job.size > state.free) continue;
      if (state.nowS + job.estimateS <= shadowS) start(job);
      else if (job.size <= spare) {
        spare -= job.size;
        start(job);
      }
    }
  });
  return { startS, shadows };
}

function twinConservative(instance: Instance, key: Key): Twin {
  const startS = runTwin(instance, (state, start) => {
    decideConservatively(instance.processors, state, key);
    for (const job of inOrder(state.waiting, key, state.nowS)) if (job.reservedS <= state.nowS) start(job);
  });
  return { startS, shadows: new Set() };
}

const TWINS: Record<string, (instance: Instance, key: Key) => Twin> = {
  fcfs: twinFcfs,
  "first-fit": twinFirstFit,
  easy: twinEasy,
  conservative: twinConservative,
};

/**
 * Runs policy and twin. Every start must be the same, and every promise of EASY must be the twin's shadow
 * time.
 */
function check(instance: Instance, policy: string, order: string): void {
  const { definition, parameters } = choosePolicy(`${policy}:order=${order}`);
  const twin = TWINS[policy](instance, KEYS[order]);
  const schedule = simulatePool(instance, definition as SpacePolicyDefinition, parameters, {
    observer: {
      promised(timeS, job, startS) {
        if (policy !== "easy" || twin.shadows.has(`${job}@${timeS}: ${startS}`)) return;
        throw new Error(`EASY promises job ${instance.id[job]} ${startS} s at ${timeS} s, the twin does not`);
      },
    },
  });
  const wrong = twin.startS.findIndex((startS, job) => startS !== schedule.startS[job]);
  if (wrong < 0) return;
  throw new Error(
    `job ${instance.id[wrong]} starts at ${schedule.startS[wrong]} s, by the twin at ${twin.startS[wrong]} s`,
  );
}

describe("naive twins on random workloads", () => {
  for (const policy of Object.keys(TWINS)) {
    for (const order of Object.keys(KEYS)) {
      test(`${policy}:order=${order} starts every job when the twin does`, () => {
        fc.assert(
          fc.property(arbitraryInstance(40), (instance) => check(instance, policy, order)),
          { numRuns: 150, seed: 20260101 },
        );
      });
    }
  }

  test.each(Object.keys(TWINS))(
    "%s starts every job when the twin does, times in tenths of a second",
    (policy) => {
      const tenths = (column: Float64Array) => column.map((timeS) => timeS / 10);
      fc.assert(
        fc.property(arbitraryInstance(40), (instance) => {
          const { submitS, runS, estimateS } = instance;
          const rounded = { submitS: tenths(submitS), runS: tenths(runS), estimateS: tenths(estimateS) };
          check({ ...instance, ...rounded }, policy, "arrival");
        }),
        { numRuns: 400, seed: 20260102 },
      );
    },
  );

  test("the twins differ where the rules differ", () => {
    // 0 1 2 3 4 5 6 7 8 9    job 2 waits for both processors, job 3 would fit next to job 1 until 4 s or 12 s
    const jobs = (lengthS: number) => [
      { submitS: 0, runS: 6, size: 1 },
      { submitS: 1, runS: 5, size: 2 },
      { submitS: 2, runS: lengthS, size: 1 },
    ];
    const starts = (twin: typeof twinEasy, lengthS: number) =>
      twin(instanceOf(2, jobs(lengthS)), KEYS.arrival).startS;
    expect(starts(twinFcfs, 2)).toEqual([0, 6, 11]);
    expect(starts(twinFirstFit, 10)).toEqual([0, 12, 2]);
    expect(starts(twinEasy, 10)).toEqual([0, 6, 11]);
    expect(starts(twinEasy, 4)).toEqual([0, 6, 2]);
    expect(starts(twinConservative, 5)).toEqual([0, 6, 11]);
  });
});

describe("naive twins on whole traces", () => {
  const OVERRUNS: readonly OverrunRule[] = ["raise", "kill"];
  for (const [turn, name] of ["KTH-SP2", "SDSC-SP2"].entries()) {
    for (const overrun of inTurn(OVERRUNS, SIZES.tracesEvery, turn)) {
      test.skipIf(traceFile(name) === undefined)(
        `${name}, overrun=${overrun}: FCFS, first fit and EASY`,
        () => {
          const workload = readTrace(name);
          const instance = prepare(workload, workload.processors as number, { ...DEFAULT_RULES, overrun });
          expect(instance.count).toBeGreaterThan(28_000);
          for (const policy of ["fcfs", "first-fit", "easy"]) check(instance, policy, "arrival");
        },
      );
    }
  }

  test.skipIf(traceFile("KTH-SP2") === undefined)(
    "the first jobs of KTH-SP2: conservative, and EASY in all orders",
    () => {
      const workload = readTrace("KTH-SP2");
      const whole = prepare(workload, workload.processors as number, DEFAULT_RULES);
      const instance: Instance = { ...whole, count: 4000 };
      for (const order of Object.keys(KEYS)) {
        // A trace has users, and the twins do not count what they use; test/conformance/fair-share does.
        if (order === "fair-share") continue;
        check(instance, "easy", order);
        check(instance, "conservative", order);
      }
    },
  );
});
