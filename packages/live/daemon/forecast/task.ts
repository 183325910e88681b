/** What a forecast is made of: plain data, so it can be sent to another thread. */
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { Config } from "../config/config.ts";
import type { JobTimes } from "./running-times.ts";

/** What the scheduler may do, and with which jobs. */
export interface Scenario {
  /** Text of the policy for `choosePolicyFor`. */
  readonly policy: string;
  readonly parameters: PolicyChoice["parameters"];
  readonly processors: number;
  /** Processors that each job of the world gets. */
  readonly size: Int32Array;
  /** Rows of the waiting jobs that take part, in service order; last those that arrive later, by arrival. */
  readonly waiting: Int32Array;
}

export interface ForecastTask extends JobTimes {
  readonly queues: Config["queues"];
  readonly slotS: number;
  /**
   * The live state: jobs with processes arrive at 0, waiting ones at NOW_S or later. Sizes are what jobs ask
   * for, and count for limits. Running times are drawn.
   */
  readonly world: Workload;
  /** Number of jobs of the world that are not submitted. They come last; left out: 0. */
  readonly hypothetical?: number;
  readonly scenarios: readonly Scenario[];
}
