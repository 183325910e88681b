/** Defines the contract between admission and a gang policy that can answer whether a job fits. */
import type { JobIndex } from "../../core/jobs.ts";
import type { Policy, RunId } from "../../core/policy.ts";

/** Whether a job may begin at a processor. */
export type MayBegin = (first: number) => boolean;

/** How a gang policy uses the matrix. */
export interface MatrixUse {
  /**
   * `rows`: a job needs idle processors within one row. `columns`: idle slots of different rows can be
   * gathered (re-packing), so a processor has room as long as fewer than m of its slots are taken.
   */
  readonly lines: "rows" | "columns";
  /**
   * Where a job may begin. `whole buddy`: no other job uses the rest of its block. `any`: its processors need
   * not be consecutive; such a policy uses lines `rows` and does not ask.
   */
  readonly blocks: "side by side" | "buddy" | "whole buddy" | "any";
  /** Whether the policy asks `mayBegin`. */
  readonly asks: boolean;
}

/** A gang policy that can be asked. */
export interface QueryableGangs extends Policy {
  readonly use: MatrixUse;
  /**
   * Whether the job can be placed now in a matrix of at most `maxRows` rows.
   * @param mayBegin default: anywhere
   */
  fits(job: JobIndex, maxRows: number, mayBegin?: MayBegin): boolean;
  /**
   * Whether the job keeps this slot until it ends. False for an extra slot that is given back when it is
   * needed.
   */
  isTaken(run: RunId): boolean;
  decide(arrived: readonly JobIndex[], mayBegin?: MayBegin): void;
}
