/**
 * Rules that decide results and that simulators leave unsaid. Every result names the ones it was made with.
 */

/** What becomes of a job whose run time is above its estimate. */
export type OverrunRule =
  /** The estimate is raised to the run time before the simulation: no job is killed. */
  | "raise"
  /** The job is killed at its estimate, as a resource manager would. */
  | "kill";

/** What a policy is told of a job that has no estimate. */
type MissingEstimateRule =
  /** The run time, as a perfect estimate. */
  | "run"
  /** A fixed number of seconds, then subject to the overrun rule. */
  | { readonly seconds: number };

/** What becomes of a job that is larger than the machine. */
type OversizeRule =
  /** Left out, counted and listed in the diagnostics. */
  | "drop"
  /** Given the whole machine instead, run time unchanged. */
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
      ? "overrun=raise: an estimate below the run time is raised to the run time; no job is killed"
      : "overrun=kill: a job that runs past its estimate is killed at its estimate",
    rules.missingEstimate === "run"
      ? "missing-estimate=run: a job without an estimate is given its run time as estimate"
      : `missing-estimate=${rules.missingEstimate.seconds}: a job without an estimate is given ${rules.missingEstimate.seconds} s, then the overrun rule applies`,
    rules.oversize === "drop"
      ? "oversize=drop: a job larger than the machine is left out and listed"
      : "oversize=clip: a job larger than the machine is given the whole machine, its run time unchanged",
  ];
}
