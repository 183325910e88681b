/**
 * A wing: a machine with jobs and policies of its own, which no trace tells of and no live scheduler drives. All that serves it alone
 * stands in its folder: contract, machine, policies, workload, metrics, checker. The general rooms know wings by their list only.
 */
import type { PolicyDescription } from "../core/policy.ts";

export interface Wing<Policy extends PolicyDescription<unknown> = PolicyDescription<unknown>> {
  /** As written on the command line. */
  readonly name: string;
  readonly title: string;
  /** What its policies schedule, as the end of "it schedules …". */
  readonly machine: string;
  /** What its simulator does that no policy decides, one sentence each. */
  readonly rules: readonly string[];
  /** Key of the paper that it was made for. */
  readonly paper: string;
  readonly policies: readonly Policy[];
}
