/** What a run of tasks is made with, and what it gives. */
import type { GangPolicyDefinition, ParameterValues } from "../../core/policy.ts";
import type { LocalSchedulerDefinition, TaskObserver } from "./contract.ts";

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
