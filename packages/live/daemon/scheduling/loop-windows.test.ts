/**
 * Tests windows against two oracles in virtual time. A workload file of a run with windows, simulated, has
 * the same starts and ends under every policy that can take waiting jobs back. And a naive twin, which knows
 * only when each window was announced, begins, ends and was removed, allows every start, and no job waits
 * that it allows while its processors are idle.
 */

import type { PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import type { WindowBody } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import {
  ANNA,
  BEN,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const CPUS = 8;
const SPAN_S = 600;
const NEVER = Number.POSITIVE_INFINITY;

interface TestJob {
  readonly submitS: number;
  readonly runS: number;
  /** NEVER: none. */
  readonly limitS: number;
  readonly size: number;
  readonly user: "anna" | "ben";
  readonly queue: string;
}

interface TestWindow extends Pick<WindowBody, "name" | "users" | "queues"> {
  readonly atS: number;
  readonly fromS: number;
  readonly untilS: number;
  /** NEVER: it is not. */
  readonly removedS: number;
}

const QUEUES = ["day", "night"];

/**
 * Times in quarters of a second are exact. The first job comes at 0: workload files count from there. No two
 * come at the same time, since requests of two users are not served in the order in which they come.
 */
function drawJobs(random: Random, count: number, unlimitedShare: number): TestJob[] {
  const ticks = new Set([0]);
  while (ticks.size < count) ticks.add(random.below(4 * SPAN_S));
  const submitS = [...ticks].sort((a, b) => a - b).map((tick) => tick / 4);
  return submitS.map((atS): TestJob => {
    const runS = 1 + random.below(240) / 4;
    return {
      submitS: atS,
      runS,
      limitS: random.below(100) < 100 * unlimitedShare ? NEVER : runS + random.below(120) / 4,
      size: 1 + random.below(CPUS),
      user: random.below(3) === 0 ? "ben" : "anna",
      queue: QUEUES[random.below(2)],
    };
  });
}

function drawWindows(random: Random, count: number): TestWindow[] {
  return Array.from({ length: count }, (_, i): TestWindow => {
    const atS = 0.25 + random.below(4 * SPAN_S) / 4;
    const fromS = atS + random.below(800) / 4;
    const untilS = fromS + 1 + random.below(400) / 4;
    return {
      name: `w${i}`,
      atS,
      fromS,
      untilS,
      removedS: random.below(4) > 0 ? NEVER : atS + 0.25 + random.below(Math.ceil(4 * (untilS - atS))) / 4,
      ...(random.below(3) === 0 && { users: ["ben"] }),
      ...(random.below(4) === 0 && { queues: ["night"] }),
    };
  });
}

function makeRun(policy: string, jobs: readonly TestJob[], windows: readonly TestWindow[], sharing: string) {
  const queueClass = { processors: CPUS, processes: CPUS, threads: CPUS };
  const options: BenchOptions = {
    cpus: CPUS,
    config: {
      policy,
      slotMs: 1000,
      // The estimate of jobs without a limit. If they ran longer, the simulator would know it from the start.
      queues: QUEUES.map((name) => ({ queueClass: { name, ...queueClass }, defaultLimitMs: 100_000 })),
    },
    slotted: sharing === "time",
    runMs: (job) => jobs[job - 1].runS * 1000,
  };
  const bench = makeBench(options);
  const { clock, frontEnd } = bench;
  for (const { submitS, limitS, size, user, queue } of jobs) {
    const limit = limitS === NEVER ? {} : { limitMs: limitS * 1000 };
    clock.at(
      submitS * 1000,
      () => void frontEnd.submit(user === "ben" ? BEN : ANNA, [request({ tasks: size, queue, ...limit })]),
    );
  }
  for (const { atS, fromS, untilS, removedS, ...named } of windows) {
    const body = { ...named, fromMs: fromS * 1000, untilMs: untilS * 1000 };
    clock.at(atS * 1000, () => void frontEnd.reserve(ROOT, body));
    if (removedS < NEVER) clock.at(removedS * 1000, () => void frontEnd.unreserve(ROOT, named.name));
  }
  return bench;
}

/** Whether the job may start at the instant, by all windows as they were announced then. */
function mayStart(job: TestJob, atS: number, windows: readonly TestWindow[]): boolean {
  return windows.every((window) => {
    if (atS < window.atS || atS >= window.removedS || atS >= window.untilS) return true;
    if (window.users?.includes(job.user) || window.queues?.includes(job.queue)) return true;
    // At the last start itself, it is too late: an instant has no length.
    return atS + job.limitS < window.fromS;
  });
}

/** With an unlimited matrix, no job waits. */
function waitingChoice(definition: PolicyDefinition) {
  const hasLimit = definition.parameters.some(({ name }) => name === "rows");
  return makeChoice(definition, hasLimit ? ["rows=2"] : []);
}

/** When jobs were started: the decisions. Under time sharing, their first slot may come later. */
function decisionsS({ store }: Bench): Map<number, number> {
  const starts = store
    .eventsAfter(0, 100_000)
    .map(({ event }) => event)
    .filter(({ kind }) => kind === "starting");
  return new Map(starts.map(({ job, atMs }) => [job!, atMs / 1000]));
}

describe("the naive twin allows every start", () => {
  test.each(POLICIES.map(waitingChoice))("under $label", ({ label, definition }) => {
    let delayed = 0;
    for (let seed = 0; seed < 6; seed++) {
      const random = new Random(seed, label);
      const jobs = drawJobs(random, 40, 0.2);
      const windows = drawWindows(random, 1 + random.below(8));
      const bench = makeRun(label, jobs, windows, definition.sharing);
      runToEnd(bench.clock);
      const starts = decisionsS(bench);
      expect(starts.size).toBe(jobs.length);
      for (const [i, job] of jobs.entries()) {
        const atS = starts.get(i + 1)!;
        if (!mayStart(job, atS, windows))
          expect({ seed, i, job, atS, windows }).toBe("a start that is allowed");
        if (!mayStart(job, job.submitS, windows)) delayed++;
      }
      expect(bench.frontEnd.windows()).toEqual([]);
    }
    expect(delayed).toBeGreaterThan(20);
  });
});

test("under first-fit, no job waits that the twin allows and for which processors are idle", () => {
  let waited = 0;
  for (let seed = 0; seed < 6; seed++) {
    const random = new Random(seed, "idle");
    const jobs = drawJobs(random, 40, 0.2);
    const windows = drawWindows(random, 1 + random.below(8));
    const bench = makeRun("first-fit", jobs, windows, "space");
    const { clock, frontEnd } = bench;
    clock.settle();
    for (let nextMs = clock.nextMs(); nextMs < NEVER; nextMs = clock.nextMs()) {
      clock.advanceTo(nextMs);
      const listed = frontEnd.jobs(ROOT, {});
      const running = listed.filter(({ state }) => state === "running" || state === "starting");
      const idle = CPUS - running.reduce((sum, { tasks }) => sum + tasks, 0);
      for (const { job } of listed.filter(({ state }) => state === "queued")) {
        waited++;
        const isIdle = jobs[job - 1].size <= idle && mayStart(jobs[job - 1], nextMs / 1000, windows);
        if (isIdle) expect({ seed, nextMs, job, idle, windows }).toBe("a job that waits for a reason");
      }
    }
  }
  expect(waited).toBeGreaterThan(500);
});

describe("a workload file of a run with windows, simulated, has the same starts and ends", () => {
  const taking = POLICIES.filter(({ capabilities }) => capabilities?.withdraw);

  test.each(taking.map(waitingChoice))("under $label", (choice) => {
    for (let seed = 0; seed < 6; seed++) {
      const random = new Random(seed, choice.label);
      const jobs = drawJobs(random, 40, seed % 3 === 0 ? 0.2 : 0);
      const windows = drawWindows(random, 1 + random.below(8));
      const bench = makeRun(choice.label, jobs, windows, choice.definition.sharing);
      runToEnd(bench.clock);
      const reader = new JsonlReader("export");
      reader.push(new TextEncoder().encode([...bench.frontEnd.exportJsonl(ROOT)].join("")));
      const workload = reader.end();
      expect(workload.diagnostics.filter(({ action }) => action === "dropped")).toEqual([]);
      expect(workload.interruptions!.withdrawals!.length).toBeGreaterThan(0);
      const again = prepare(workload, CPUS, DEFAULT_RULES);
      const { startS, endS } = simulate(again, choice, { slotS: 1, switchS: 0 });
      const simulated = Array.from(again.id, (job, row) => ({ job, startS: startS[row], endS: endS[row] }));
      const live = bench.frontEnd.jobs(ROOT, {}).map(({ job, startedAtMs, endedAtMs }) => ({
        job,
        startS: startedAtMs! / 1000,
        endS: endedAtMs! / 1000,
      }));
      expect(simulated, `seed ${seed}`).toEqual(live);
    }
  });
});
