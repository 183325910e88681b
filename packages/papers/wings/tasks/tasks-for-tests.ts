/** Reads programs from text, lets fast-check generate them, and shows runs of tasks as text. */

import { gang } from "@tutti/kernel/policies/gangs/gang.ts";
import fc from "fast-check";
import { TaskChecker } from "./checker.ts";
import {
  type LocalSchedulerDefinition,
  Op,
  type TaskObserver,
  type TaskPrograms,
  type TasksOptions,
} from "./contract.ts";
import { grades, idle } from "./local-task-scheduler.ts";
import { ProgramBuilder } from "./program-builder.ts";
import { simulateTasks } from "./simulate.ts";

/**
 * Programs by hand: per job the submit time and one text per task. Statements: `c5` computes 5 ms, `i5` I/O
 * of 5 ms, `s1:3` sends message 1, 3 ms on the way, `r1` receives it, `b` is a barrier, `n2` creates the
 * job's task of rank 2. Message numbers are over all jobs. `size`: tasks with which the job arrives, default
 * all; `home`: processor of a local task.
 */
export function programsOf(
  jobs: readonly { at: number; tasks: readonly string[]; size?: number; home?: number; isGang?: boolean }[],
): TaskPrograms {
  const op: number[] = [];
  const operand: number[] = [];
  const firstStatement = [0];
  const firstTask = [0];
  const jobOfTask: number[] = [];
  const receiver: number[] = [];
  const latencyMs: number[] = [];
  for (const [job, { tasks }] of jobs.entries()) {
    for (const text of tasks) {
      for (const word of text.split(" ").filter((w) => w !== "")) {
        const [first, second] = word.slice(1).split(":").map(Number);
        const ops = { c: Op.compute, i: Op.io, s: Op.send, r: Op.receive, b: Op.barrier, n: Op.create };
        op.push(ops[word[0] as keyof typeof ops] ?? 99);
        operand.push(word === "b" ? 0 : word[0] === "n" ? firstTask[job] + first : first);
        if (word[0] === "s") latencyMs[first] = second;
        if (word[0] === "r") receiver[first] = jobOfTask.length;
      }
      jobOfTask.push(job);
      firstStatement.push(op.length);
    }
    firstTask.push(jobOfTask.length);
  }
  return {
    name: "by hand",
    jobCount: jobs.length,
    submitMs: Float64Array.from(jobs, ({ at }) => at),
    size: Int32Array.from(jobs, ({ tasks, size }) => size ?? tasks.length),
    isGang: Uint8Array.from(jobs, ({ isGang }) => (isGang ? 1 : 0)),
    home: Int32Array.from(jobs, ({ home }) => home ?? -1),
    dedicatedMs: new Float64Array(jobs.length).fill(Number.NaN),
    taskCount: jobOfTask.length,
    firstTask: Int32Array.from(firstTask),
    jobOfTask: Int32Array.from(jobOfTask),
    firstStatement: Int32Array.from(firstStatement),
    op: Uint8Array.from(op),
    operand: Int32Array.from(operand),
    messageCount: receiver.length,
    receiver: Int32Array.from(receiver),
    latencyMs: Int32Array.from(latencyMs),
  };
}

export const TWO_JOBS = programsOf([
  { at: 0, tasks: ["c2 i1 c3 i9 c1"] },
  { at: 0, tasks: ["c9"] },
]);

export const ALPHA = 2;

export interface Settings {
  readonly processors: number;
  readonly slotMs: number;
  readonly switchMs?: number;
  readonly ownReturns?: boolean;
  readonly local?: LocalSchedulerDefinition;
  readonly untilMs?: number;
  readonly gang?: TasksOptions["gang"];
  readonly moldable?: boolean;
  readonly classes?: "none" | "user" | "grade";
}

const FIRST_FIT: TasksOptions["gang"] = { definition: gang, parameters: { fit: "first" } };

export function optionsOf(settings: Settings): Omit<TasksOptions, "observer"> {
  const { processors, slotMs, switchMs = 0, ownReturns = true, local = idle, untilMs } = settings;
  const front = settings.gang ?? FIRST_FIT;
  return {
    processors,
    slotMs,
    switchMs,
    ownReturns,
    moldable: settings.moldable ?? false,
    gang: front,
    local: { definition: local, parameters: { alpha: ALPHA, slots: 5, classes: settings.classes ?? "none" } },
    recordAtMs: untilMs === undefined ? [] : [untilMs],
  };
}

/**
 * Runs under the checker; one string per processor, a letter per ms: the job that computes, `~` switch, `.`
 * idle.
 */
export function picture(programs: TaskPrograms, settings: Settings) {
  const options = optionsOf(settings);
  const rows = new Array<string>(settings.processors).fill("");
  const letters = new Array<string>(settings.processors).fill(".");
  const turn = (timeMs: number, p: number, letter: string) => {
    rows[p] = rows[p].padEnd(timeMs, letters[p]);
    letters[p] = letter;
  };
  const stop = (timeMs: number, p: number) => turn(timeMs, p, ".");
  const drawing: TaskObserver = {
    dispatched: (timeMs, p) => turn(timeMs, p, "~"),
    computes: (timeMs, p, task) => turn(timeMs, p, String.fromCharCode(65 + programs.jobOfTask[task])),
    pauses: stop,
    preempted: stop,
    blocked: stop,
    ended: stop,
  };
  const checker = new TaskChecker(programs, options);
  const result = simulateTasks(programs, { ...options, observer: both(checker, drawing) });
  checker.check(result);
  for (let p = 0; p < rows.length; p++) stop(result.totals[result.totals.length - 1].timeMs, p);
  return { rows, result, checker };
}

function both(a: TaskObserver, b: TaskObserver): TaskObserver {
  const pair: Record<string, (...values: never[]) => void> = {};
  for (const hook of [
    "signalled",
    "placed",
    "released",
    "exchanged",
    "departed",
    "resized",
    "acted",
    "cameHome",
    "dispatched",
    "computes",
    "pauses",
    "preempted",
    "blocked",
    "ended",
    "settled",
  ] as const) {
    pair[hook] = (...values) => {
      (a[hook] as ((...v: never[]) => void) | undefined)?.apply(a, values);
      (b[hook] as ((...v: never[]) => void) | undefined)?.apply(b, values);
    };
  }
  return pair as unknown as TaskObserver;
}

/**
 * Job programs with tiny durations, messages, barriers and zero latencies; sizes up to the machine. @param
 * also `everything`: also tasks that are created or end early, local tasks, and jobs that users declare
 *   as gangs; a job may then have more tasks than the machine has processors, and never end
 */
export function arbitraryPrograms(
  processors: number,
  maxJobs: number,
  also: "nothing else" | "everything" = "nothing else",
): fc.Arbitrary<TaskPrograms> {
  const isAll = also === "everything";
  const step = fc.record({
    kind: fc.nat(isAll ? 9 : 4),
    rank: fc.nat(9),
    other: fc.nat(9),
    ms: fc.integer({ min: 1, max: 6 }),
    latency: fc.nat(3),
    late: fc.boolean(),
  });
  const job = fc.record({
    gap: fc.nat(12),
    size: fc.integer({ min: 1, max: processors }),
    isLocal: isAll ? fc.nat(3).map((n) => n === 0) : fc.constant(false),
    isGang: fc.boolean(),
    steps: fc.array(step, { maxLength: 14 }),
  });
  return fc.array(job, { minLength: 1, maxLength: maxJobs }).map((jobs) => {
    const builder = new ProgramBuilder();
    let submitMs = 0;
    for (const { gap, size: wanted, isLocal, isGang, steps } of jobs) {
      submitMs += gap;
      const size = isLocal ? 1 : wanted;
      builder.beginJob(submitMs, size, { isGang, home: isLocal ? wanted - 1 : -1 });
      let tasks = size;
      const late: [message: number, receiver: number][] = [];
      for (const { kind, rank, other, ms, latency, late: isLate } of steps) {
        const one = builder.living[rank % builder.living.length];
        const two = builder.living[other % builder.living.length];
        if (kind === 0 || kind === 5) builder.compute(one, ms);
        else if (kind === 1) builder.io(one, ms);
        else if (kind === 2) builder.barrier();
        else if (kind === 6 || kind === 7) {
          if (!isLocal && tasks++ < 3 * processors) builder.create(one);
        } else if (kind === 8 || kind === 9) {
          if (builder.living.length > 1) builder.endTask(one);
        } else {
          const message = builder.messages;
          builder.send(one, two, latency);
          if (isLate) late.push([message, two]);
          else builder.receive(message);
        }
      }
      for (const [message, receiver] of late) if (builder.living.includes(receiver)) builder.receive(message);
      builder.endJob();
    }
    return builder.build("drawn");
  });
}

export const arbitrarySettings = fc.record({
  // Powers of two: shares and their sums are exact, so that twins break ties alike.
  slotMs: fc.constantFrom(4, 8, 16),
  switchMs: fc.nat(3),
  ownReturns: fc.boolean(),
  local: fc.constantFrom(idle, grades),
});
