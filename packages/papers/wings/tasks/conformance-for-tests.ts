/**
 * Tests whether a local task scheduler conforms: it runs seeded programs that block under the checker with
 * every gang policy of the registry, a second time, and with another future.
 */

import type { GangPolicyDefinition, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { Decisions, type Looked } from "@tutti/kernel/policies/decisions-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { expect } from "vitest";
import { TaskChecker } from "./checker.ts";
import { type LocalSchedulerDefinition, Op, type TaskPrograms, type TasksOptions } from "./contract.ts";
import { simulateTasks } from "./simulate.ts";
import { type JobKind, makeTaskPrograms } from "./task-programs.ts";

const PROCESSORS = 8;
const CUTS = 3;
/**
 * Settings with free switches and with costly ones in slots of odd lengths. The own task takes its processor
 * back as soon as it can continue, or waits until the processor is free.
 */
const SLOTS = [
  { slotMs: 64, switchMs: 0, ownReturns: true },
  { slotMs: 37, switchMs: 2, ownReturns: false },
] as const;

export const TASKS_WORKLOADS: readonly TaskPrograms[] = [
  drawn("all kinds", ["I/O", "computation", "communication", "synchronisation", "mixed"]),
  drawn("I/O", ["I/O"]),
];

/** Fails if a rule is broken, or if a decision depends on what the policy cannot know. */
export function checkTasksPolicy(choice: PolicyChoice<LocalSchedulerDefinition>): Looked {
  const looked = { jobs: 0, comparedAgain: 0, comparedArrivals: 0, comparedRunTimes: 0 };
  for (const programs of TASKS_WORKLOADS) {
    for (const front of POLICIES.filter((definition) => definition.sharing === "time")) {
      for (const slots of SLOTS) {
        const options = optionsOf(choice, front, slots);
        const where = `${choice.label} under ${front.name}, ${programs.name}, slots of ${slots.slotMs} ms`;
        const { decisions, endMs } = observed(programs, options);
        underChecker(programs, options, where);
        expect(observed(programs, options).decisions.before(Infinity), where).toEqual(
          decisions.before(Infinity),
        );
        looked.jobs += programs.jobCount;
        looked.comparedAgain += decisions.count;
        for (let cut = 1; cut <= CUTS; cut++) {
          const count = Math.floor((cut * programs.jobCount) / (CUTS + 1));
          const atMs = programs.submitMs[count];
          const before = decisions.before(atMs);
          const compare = (changed: TaskPrograms, what: string) =>
            expect(observed(changed, options).decisions.before(atMs), `${where}: ${what}`).toEqual(before);
          compare(firstOf(programs, count), `without the arrivals from ${atMs} ms on`);
          compare(prolonged(programs, endMs, atMs), `with later ends from ${atMs} ms on`);
          looked.comparedArrivals += before.length;
          looked.comparedRunTimes += before.length;
        }
      }
    }
  }
  return looked;
}

export function optionsOf(
  local: PolicyChoice<LocalSchedulerDefinition>,
  front: GangPolicyDefinition,
  slots: (typeof SLOTS)[number] = SLOTS[0],
): TasksOptions {
  return {
    ...slots,
    processors: PROCESSORS,
    moldable: false,
    gang: makeChoice(front),
    local,
    recordAtMs: [],
  };
}

function underChecker(programs: TaskPrograms, options: TasksOptions, where: string): void {
  const checker = new TaskChecker(programs, options);
  const result = simulateTasks(programs, { ...options, observer: checker });
  checker.check(result);
  expect(result.totals[0].jobsCompleted, where).toBe(programs.jobCount);
  expect(checker.endedTasks, where).toBe(programs.taskCount);
}

/** Which task got which processor when, and when each task ended. */
export function observed(programs: TaskPrograms, options: TasksOptions) {
  const decisions = new Decisions();
  const endMs = new Float64Array(programs.taskCount).fill(Infinity);
  const observer = {
    dispatched: (timeMs: number, p: number, task: number) => decisions.note(timeMs, p, task),
    ended: (timeMs: number, _: number, task: number) => {
      endMs[task] = timeMs;
    },
  };
  simulateTasks(programs, { ...options, observer });
  return { decisions, endMs };
}

/** The same programs without the jobs after the first ones. */
export function firstOf(programs: TaskPrograms, jobCount: number): TaskPrograms {
  const taskCount = programs.firstTask[jobCount];
  return {
    ...programs,
    jobCount,
    taskCount,
    submitMs: programs.submitMs.subarray(0, jobCount),
    size: programs.size.subarray(0, jobCount),
    dedicatedMs: programs.dedicatedMs.subarray(0, jobCount),
    isGang: programs.isGang.subarray(0, jobCount),
    home: programs.home.subarray(0, jobCount),
    firstTask: programs.firstTask.subarray(0, jobCount + 1),
    jobOfTask: programs.jobOfTask.subarray(0, taskCount),
    firstStatement: programs.firstStatement.subarray(0, taskCount + 1),
  };
}

/** The same programs with one more compute statement at the end of every task that had not ended. */
export function prolonged(programs: TaskPrograms, endMs: Float64Array, atMs: number): TaskPrograms {
  const op: number[] = [];
  const operand: number[] = [];
  const firstStatement = [0];
  for (let task = 0; task < programs.taskCount; task++) {
    for (let at = programs.firstStatement[task]; at < programs.firstStatement[task + 1]; at++) {
      op.push(programs.op[at]);
      operand.push(programs.operand[at]);
    }
    if (endMs[task] > atMs) {
      op.push(Op.compute);
      operand.push(500);
    }
    firstStatement.push(op.length);
  }
  return {
    ...programs,
    op: Uint8Array.from(op),
    operand: Int32Array.from(operand),
    firstStatement: Int32Array.from(firstStatement),
  };
}

function drawn(name: string, kinds: readonly JobKind[]): TaskPrograms {
  const duration = (meanMs: number) => ({ meanMs, spread: 0.5 });
  const round = (computeMs: number) => ({
    compute: duration(computeMs),
    io: duration(40),
    latency: duration(3),
  });
  return makeTaskPrograms(name, {
    seed: 1999,
    untilMs: 3000,
    maxSize: PROCESSORS,
    // Milliseconds instead of the paper's tens of seconds.
    interarrivalFactor: 1e-4,
    serviceFactor: 1e-4,
    kinds: kinds.map((kind) => ({ kind, weight: 1 })),
    times: { "I/O": round(20), communication: round(12), synchronisation: round(18), mixed: round(18) },
  });
}
