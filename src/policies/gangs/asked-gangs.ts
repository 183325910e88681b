/** A gang policy that can be asked whether a job fits, as admission in front of it needs. */
import type { JobIndex } from "../../core/jobs.ts";
import type { Policy, RunId } from "../../core/policy.ts";

/** Whether a job may begin at a processor. */
export type MayBegin = (first: number) => boolean;

/** How a gang policy uses the matrix. */
export interface MatrixUse {
  /**
   * A job needs idle processors within one row; or idle slots of different rows are gathered (re-packing), so that a
   * processor has room while fewer than m of its slots are taken.
   */
  readonly lines: "rows" | "columns";
  /** Where a job may begin; `whole`: nobody else uses what it leaves of its block. */
  readonly blocks: "side by side" | "buddy" | "whole buddy";
  /** Whether the policy asks `mayBegin`. */
  readonly asks: boolean;
}

/** A gang policy that can be asked. */
export interface AskedGangs extends Policy {
  readonly use: MatrixUse;
  /** Whether the job can be placed now in a matrix of at most so many rows. @param mayBegin left out: anywhere */
  fits(job: JobIndex, maxRows: number, mayBegin?: MayBegin): boolean;
  /** Whether a job has the slot for good; no: it is an extra one that goes when somebody needs it. */
  isTaken(run: RunId): boolean;
  decide(arrived: readonly JobIndex[], mayBegin?: MayBegin): void;
}
