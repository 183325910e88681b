/**
 * Defines rules that affect results although simulators usually do not state them, such as what happens to a
 * job that runs past its estimate. Every result names the rules under which it was computed.
 */

/** What happens to a job whose run time is above its estimate. */
export type OverrunRule =
  /** The estimate is raised to the run time before the simulation: no job is killed. */
  | "raise"
  /** The job is killed at its estimate, as a resource manager would. */
  | "kill";

/** The estimate that a policy sees for a job without one. */
type MissingEstimateRule =
  /** The run time, as a perfect estimate. */
  | "run"
  /** A fixed number of seconds, to which the overrun rule then applies. */
  | { readonly seconds: number };

/** What happens to a job that is larger than the machine. */
type OversizeRule =
  /** Left out, counted and listed in the diagnostics. */
  | "drop"
  /** Gets the whole machine instead; its run time stays the same. */
  | "clip";

export interface Rules {
  readonly overrun: OverrunRule;
  readonly missingEstimate: MissingEstimateRule;
  readonly oversize: OversizeRule;
}

export const DEFAULT_RULES: Rules = { overrun: "raise", missingEstimate: "run", oversize: "drop" };

/** The rules in words, one sentence each, as printed with every result. */
export function describeRules(rules: Rules): string[] {
  return [
    rules.overrun === "raise"
      ? "overrun=raise: an estimate below the run time is raised to the run time, and no job is killed"
      : "overrun=kill: a job that runs past its estimate is killed at its estimate",
    rules.missingEstimate === "run"
      ? "missing-estimate=run: a job without an estimate gets its run time as estimate"
      : `missing-estimate=${rules.missingEstimate.seconds}: a job without an estimate gets ${rules.missingEstimate.seconds} s as estimate, and then the overrun rule applies`,
    rules.oversize === "drop"
      ? "oversize=drop: a job larger than the machine is left out and listed"
      : "oversize=clip: a job larger than the machine gets the whole machine, and its run time stays the same",
  ];
}
