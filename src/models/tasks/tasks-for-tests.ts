/** Programs written as text or drawn by fast-check, and runs of tasks as pictures. */
import fc from "fast-check";
import { gang } from "../../policies/gangs/gang.ts";
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
 * of 5 ms, `s1:3` sends message 1, 3 ms on the way, `r1` receives it, `b` is a barrier. Message numbers are
 * over all jobs.
 */
export function programsOf(jobs: readonly { at: number; tasks: readonly string[] }[]): TaskPrograms {
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
        op.push({ c: Op.compute, i: Op.io, s: Op.send, r: Op.receive, b: Op.barrier }[word[0]] ?? 99);
        operand.push(word === "b" ? 0 : first);
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
    size: Int32Array.from(jobs, ({ tasks }) => tasks.length),
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
    gang: front,
    local: { definition: local, parameters: { alpha: ALPHA, slots: 5 } },
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

/** Job programs with tiny durations, messages, barriers and zero latencies; sizes up to the machine. */
export function arbitraryPrograms(processors: number, maxJobs: number): fc.Arbitrary<TaskPrograms> {
  const step = fc.record({
    kind: fc.nat(4),
    rank: fc.nat(9),
    other: fc.nat(9),
    ms: fc.integer({ min: 1, max: 6 }),
    latency: fc.nat(3),
    late: fc.boolean(),
  });
  const job = fc.record({
    gap: fc.nat(12),
    size: fc.integer({ min: 1, max: processors }),
    steps: fc.array(step, { maxLength: 14 }),
  });
  return fc.array(job, { minLength: 1, maxLength: maxJobs }).map((jobs) => {
    const builder = new ProgramBuilder();
    let submitMs = 0;
    for (const { gap, size, steps } of jobs) {
      submitMs += gap;
      builder.beginJob(submitMs, size);
      const late: number[] = [];
      for (const { kind, rank, other, ms, latency, late: isLate } of steps) {
        if (kind === 0) builder.compute(rank % size, ms);
        else if (kind === 1) builder.io(rank % size, ms);
        else if (kind === 2) builder.barrier();
        else {
          const message = builder.messages;
          builder.send(rank % size, other % size, latency);
          if (isLate) late.push(message);
          else builder.receive(message);
        }
      }
      for (const message of late) builder.receive(message);
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
