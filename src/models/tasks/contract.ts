/**
 * Jobs seen from inside: each task of a job is a sequence of statements, some of which block it. For the model of
 * processors on which tasks block (Silva and Scherson 1999), where a rigid job with a run time is too coarse.
 *
 * Times are whole milliseconds, so that durations add up exactly.
 */
import type { JobIndex, ReadonlyColumn } from "../../core/jobs.ts";
import type { GangPolicyDefinition, ParameterValues, PolicyDescription, RowId } from "../../core/policy.ts";

/** Row of a task in the tables of its programs: 0 … taskCount − 1, job by job, in order of rank. */
export type TaskIndex = number;

/** Stands for "no task" wherever a TaskIndex is expected. */
export const NO_TASK: TaskIndex = -1;

/** Kinds of statement. Compute needs the processor; the others take no processor time, but may block. */
export const Op = {
  /** Operand: duration in ms, 1 or more. */
  compute: 0,
  /** Blocks for as long as the device takes. Operand: duration in ms, 1 or more. */
  io: 1,
  /** Sends a message and goes on. Operand: message. */
  send: 2,
  /** Blocks until the message is there. Operand: message. */
  receive: 3,
  /** Blocks until all tasks of the job have come to it. Operand: 0. */
  barrier: 4,
} as const;
export type Op = (typeof Op)[keyof typeof Op];

/** A workload of jobs with programs. Tasks of job j: firstTask[j] … firstTask[j + 1] − 1; a task's statements likewise. */
export interface TaskPrograms {
  readonly name: string;
  readonly jobCount: number;
  /** Ascending. */
  readonly submitMs: Float64Array;
  readonly size: Int32Array;
  /** Time that the job takes with its processors to itself. */
  readonly dedicatedMs: Float64Array;
  readonly taskCount: number;
  readonly firstTask: Int32Array;
  readonly jobOfTask: Int32Array;
  readonly firstStatement: Int32Array;
  readonly op: Uint8Array;
  readonly operand: Int32Array;
  /** One sender, one receiver; on the way for `latencyMs` (0 or more). */
  readonly messageCount: number;
  readonly receiver: Int32Array;
  readonly latencyMs: Int32Array;
}

/**
 * Chooses what a processor does when the task whose turn it is cannot run. One object serves all processors; it knows of
 * tasks only what it is told.
 */
export interface LocalTaskScheduler {
  /**
   * A slot that belonged to the task is over. Shares of the slot, 0 … 1 each, together at most 1: computing, blocked for
   * I/O, blocked for a message, blocked at a barrier.
   */
  slotEnded(task: TaskIndex, compute: number, io: number, message: number, barrier: number): void;
  /** One of the first `count` entries of `ready` (in order of placement on the processor), or NO_TASK to leave it idle. Count: 1 or more. */
  pick(ready: ReadonlyColumn, count: number): TaskIndex;
}

/** What a local scheduling policy promises; the checker holds it to that. */
interface TaskGuarantees {
  /** A processor is never idle while one of its tasks is ready. Otherwise no task runs but in its own slot. */
  readonly workConserving: boolean;
}

/** A local scheduling policy. */
export interface LocalSchedulerDefinition extends PolicyDescription<TaskGuarantees> {
  make(taskCount: number, parameters: ParameterValues): LocalTaskScheduler;
}

/** Why a task cannot run. */
export type BlockReason = typeof Op.io | typeof Op.receive | typeof Op.barrier;

/** Listens to a simulation of tasks, in the order in which things happen. Times in ms. */
export interface TaskObserver {
  /** A clock signal: from now on it is the turn of this row, or of none (−1). */
  signalled?(timeMs: number, row: RowId): void;
  /** The job gets a slot per round; told once for each of its rows. `processorOf` has the processor of each of its tasks. */
  placed?(timeMs: number, job: JobIndex, row: RowId, processorOf: ReadonlyColumn): void;
  released?(timeMs: number, job: JobIndex, row: RowId): void;
  exchanged?(timeMs: number, a: RowId, b: RowId, first: number, end: number): void;
  /** The front end has noticed the end of the job. */
  departed?(timeMs: number, job: JobIndex): void;
  /** The task is given the processor; after the switch, if there is one, its statements go on. */
  dispatched?(timeMs: number, processor: number, task: TaskIndex): void;
  /** Statements that take no time have been executed and the processor begins to compute for the task. */
  computes?(timeMs: number, processor: number, task: TaskIndex): void;
  /** The stretch of computing is over, by its own end or by a clock signal. */
  pauses?(timeMs: number, processor: number, task: TaskIndex): void;
  /** The clock signal, or the return of the task whose turn it is, takes the processor away. */
  preempted?(timeMs: number, processor: number, task: TaskIndex): void;
  blocked?(timeMs: number, processor: number, task: TaskIndex, reason: BlockReason): void;
  ended?(timeMs: number, processor: number, task: TaskIndex): void;
  /** Everything of this instant has been done. */
  settled?(timeMs: number): void;
}

/** What a run of tasks is made with. */
export interface TasksOptions {
  readonly processors: number;
  /** Time between clock signals, whole ms, 1 or more. */
  readonly slotMs: number;
  /** Whole ms from 0 to slotMs − 1, lost whenever a processor turns to another task than it had last. */
  readonly switchMs: number;
  /** Whether the row's own task, ready again within its slot, takes the processor back at once; else it waits until the processor is left. */
  readonly ownReturns: boolean;
  /** The front end's policy. */
  readonly gang: { readonly definition: GangPolicyDefinition; readonly parameters: ParameterValues };
  readonly local: { readonly definition: LocalSchedulerDefinition; readonly parameters: ParameterValues };
  /** Times at which the totals are recorded, whole ms, ascending. The run ends at the last one; without any, when all jobs have ended. */
  readonly recordAtMs: readonly number[];
  readonly observer?: TaskObserver | undefined;
}

/** What the processors have done until a time; the processor times add up to processors × timeMs exactly. */
export interface TaskTotals {
  readonly timeMs: number;
  readonly jobsCompleted: number;
  readonly busyMs: number;
  readonly switchMs: number;
  /** Idle in a slot whose own task waits for I/O, for a message, at a barrier. */
  readonly ioMs: number;
  readonly messageMs: number;
  readonly barrierMs: number;
  /** Idle in a slot without a task of its own, or after that task's end. */
  readonly emptyMs: number;
}

export interface TasksResult {
  /** End of each job; NaN for one that had not ended. */
  readonly endMs: Float64Array;
  /** One per time of `recordAtMs`, or one at the end of the last job. */
  readonly totals: readonly TaskTotals[];
  /** Mean number of rows over all signals. */
  readonly meanRows: number;
  readonly maxRows: number;
  readonly instants: number;
}
