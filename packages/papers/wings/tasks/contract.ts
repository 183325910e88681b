/**
 * Describes jobs from inside: each task of a job is a sequence of statements, some of which block it (Silva
 * and Scherson 1999). The rigid jobs of the rest of Tutti have only a run time, which is too coarse for this.
 *
 * Times are whole milliseconds, so that durations add up exactly.
 */
import type { JobIndex, ReadonlyColumn } from "@tutti/kernel/core/jobs.ts";
import type {
  GangPolicyDefinition,
  ParameterValues,
  PolicyDescription,
  RowId,
} from "@tutti/kernel/core/policy.ts";

/** Row of a task in the tables of its programs: 0 … taskCount − 1, job by job, in the order of ranks. */
export type TaskIndex = number;

/** Stands for "no task" wherever a TaskIndex is expected. */
export const NO_TASK: TaskIndex = -1;

/** Kinds of statement. Compute needs the processor; the others take no processor time, but may block. */
export const Op = {
  /** Operand: duration in ms, 1 or more. */
  compute: 0,
  /** Blocks for as long as the device takes. Operand: duration in ms, 1 or more. */
  io: 1,
  /** Sends a message and continues. Operand: message. */
  send: 2,
  /** Blocks until the message has arrived. Operand: message. */
  receive: 3,
  /** Blocks until all tasks of the job that exist have reached it. Operand: 0. */
  barrier: 4,
  /** Creates a task of the job and continues. Operand: task. */
  create: 5,
} as const;
export type Op = (typeof Op)[keyof typeof Op];

/**
 * A workload of jobs with programs. The tasks of job j are firstTask[j] … firstTask[j + 1] − 1; statements of
 * tasks are indexed in the same way.
 */
export interface TaskPrograms {
  readonly name: string;
  readonly jobCount: number;
  /** Ascending. */
  readonly submitMs: Float64Array;
  /**
   * Tasks with which the job arrives: its first ones. Each of its other tasks is created by one statement of
   * an earlier one. Created tasks beyond the number of processors wait until tasks of the job end. So
   * a job never ends if more of its tasks than there are processors need each other.
   */
  readonly size: Int32Array;
  /** Time that the job takes on processors of its own. */
  readonly dedicatedMs: Float64Array;
  /** By job: 1 if its user declares that its tasks must run as a gang. */
  readonly isGang: Uint8Array;
  /**
   * By job: processor of a local task, or −1 for a parallel job. A local task has no slot and bypasses the
   * front end; its processor's local task scheduler runs it.
   */
  readonly home: Int32Array;
  readonly taskCount: number;
  readonly firstTask: Int32Array;
  readonly jobOfTask: Int32Array;
  readonly firstStatement: Int32Array;
  readonly op: Uint8Array;
  readonly operand: Int32Array;
  /** Each message has one sender and one receiver, and takes `latencyMs` (0 or more) to arrive. */
  readonly messageCount: number;
  readonly receiver: Int32Array;
  readonly latencyMs: Int32Array;
}

/**
 * Chooses what a processor does when the task that owns the current slot cannot run. One object serves all
 * processors; all that it knows about tasks is what its calls report.
 */
export interface LocalTaskScheduler {
  /**
   * A slot that belonged to the task has ended. Shares of the slot, 0 … 1 each, together at most 1:
   * computing, blocked for I/O, blocked for a message, blocked at a barrier.
   */
  slotEnded(task: TaskIndex, compute: number, io: number, message: number, barrier: number): void;
  /**
   * One of the first `count` (1 or more) entries of `ready`, which is in order of placement on the processor;
   * or NO_TASK to leave the processor idle.
   */
  pick(ready: ReadonlyColumn, count: number): TaskIndex;
}

/** What a local scheduling policy promises; the checker enforces it. */
interface TaskGuarantees {
  /**
   * Which tasks run outside their own slots, on a processor that would be idle. `none`: no task. `all`: no
   * processor is idle while one of its tasks is ready. `undeclared`: like `all`, but not tasks whose user
   * declares that they must run as a gang. `some`: those that the scheduler chooses.
   */
  readonly outsideSlots: "none" | "all" | "undeclared" | "some";
}

/** A local scheduling policy. */
export interface LocalSchedulerDefinition extends PolicyDescription<TaskGuarantees> {
  /** @param isGang by task: 1 if its user declares that it must run as a gang */
  make(taskCount: number, parameters: ParameterValues, isGang: ReadonlyColumn): LocalTaskScheduler;
}

/** Why a task cannot run. */
export type BlockReason = typeof Op.io | typeof Op.receive | typeof Op.barrier;

/** Receives the events of a simulation of tasks, in the order in which they happen. Times in ms. */
export interface TaskObserver {
  /** A clock signal: the slot of this row begins, or of no row (−1). */
  signalled?(timeMs: number, row: RowId): void;
  /**
   * The job gets a slot per round. There is one call for each of its rows. `processorOf` has the processor of
   * each of its tasks.
   */
  placed?(timeMs: number, job: JobIndex, row: RowId, processorOf: ReadonlyColumn): void;
  released?(timeMs: number, job: JobIndex, row: RowId): void;
  /**
   * The front end has adapted the job to the number of its tasks: created tasks have got processors, and the
   * processors of ended tasks are taken back. `processorOf` is −1 for tasks without a processor.
   */
  resized?(timeMs: number, job: JobIndex, processorOf: ReadonlyColumn): void;
  /** The front end has done its work at the end of a period. */
  acted?(timeMs: number): void;
  /** A local task has arrived at its processor. */
  cameHome?(timeMs: number, processor: number, task: TaskIndex): void;
  exchanged?(timeMs: number, a: RowId, b: RowId, first: number, end: number): void;
  /** The front end has noticed the end of the job. */
  departed?(timeMs: number, job: JobIndex): void;
  /** The task gets the processor; after the switch, if there is one, its statements continue. */
  dispatched?(timeMs: number, processor: number, task: TaskIndex): void;
  /** Statements that take no time have been executed and the processor begins to compute for the task. */
  computes?(timeMs: number, processor: number, task: TaskIndex): void;
  /** The task stops computing, because the statement or the slot has ended. */
  pauses?(timeMs: number, processor: number, task: TaskIndex): void;
  /** The task loses the processor to a clock signal, or to the slot's own task, which can run again. */
  preempted?(timeMs: number, processor: number, task: TaskIndex): void;
  blocked?(timeMs: number, processor: number, task: TaskIndex, reason: BlockReason): void;
  ended?(timeMs: number, processor: number, task: TaskIndex): void;
  /** Everything of this instant is done. */
  settled?(timeMs: number): void;
}

/** The parameters of a run of tasks. */
export interface TasksOptions {
  readonly processors: number;
  /** Time between clock signals, whole ms, 1 or more. */
  readonly slotMs: number;
  /** Whole ms from 0 to slotMs − 1, lost whenever a processor changes to a task other than its last one. */
  readonly switchMs: number;
  /**
   * Whether the row's own task, when it becomes ready again within its slot, takes the processor back at
   * once; otherwise it waits until the processor is free.
   */
  readonly ownReturns: boolean;
  /**
   * Whether jobs are moldable: if the number of a job's tasks changes, the front end adapts the job at the
   * end of the period. Otherwise a job keeps its processors until it ends and cannot create tasks. Moldable
   * jobs need a gang policy that copes with `resizing`.
   */
  readonly moldable: boolean;
  /** The gang policy of the front end. */
  readonly gang: { readonly definition: GangPolicyDefinition; readonly parameters: ParameterValues };
  readonly local: { readonly definition: LocalSchedulerDefinition; readonly parameters: ParameterValues };
  /**
   * Times at which the totals are recorded, whole ms, ascending. The run ends at the last of them; without
   * any, when all jobs have ended.
   */
  readonly recordAtMs: readonly number[];
  readonly observer?: TaskObserver | undefined;
}

/** What the processors have done until a time. The processor times add up exactly to processors × timeMs. */
export interface TaskTotals {
  readonly timeMs: number;
  readonly jobsCompleted: number;
  readonly busyMs: number;
  readonly switchMs: number;
  /** Idle in a slot whose own task waits for I/O, for a message, or at a barrier. */
  readonly ioMs: number;
  readonly messageMs: number;
  readonly barrierMs: number;
  /** Idle in a slot without an own task, or after that task's end. */
  readonly emptyMs: number;
}

export interface TasksResult {
  /** End of each job; NaN for a job that had not ended. */
  readonly endMs: Float64Array;
  /** One entry per time of `recordAtMs`, or one at the end of the last job. */
  readonly totals: readonly TaskTotals[];
  /** Mean number of rows over all signals. */
  readonly meanRows: number;
  readonly maxRows: number;
  readonly instants: number;
}
