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
export type MissingEstimateRule =
  /** The run time, as a perfect estimate. */
  | "run"
  /** A fixed number of seconds, then subject to the overrun rule. */
  | { readonly seconds: number };

/** What becomes of a job that is larger than the machine. */
export type OversizeRule =
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

/**
 * What the simulator of time sharing does that no policy decides, one sentence each. Simulators of gangs differ most in these; every
 * result of a gang policy names them beside the policy's own rules.
 */
export const ROUNDS_RULES: readonly string[] = [
  "simulated rounds: a job's work is its run time rounded up to whole slots, at least one",
  "simulated rounds: jobs end, arrivals are noticed and decisions are taken at the beginnings of slots only; slots are counted from time 0, also while the machine is empty",
  "simulated rounds: while there is more than one row, the switch comes before the service of every slot, so a job ends with its last slot; a lone row pays no switch",
  "simulated rounds: a new row is last in the round; when a round has taken in as many rows as it began with, a further one has its first slot in the next round, so that no row waits without end",
];

/** What the simulator of sites does that no scheduler of sites decides, one sentence each. */
export const SITES_RULES: readonly string[] = [
  "simulated sites: a local job has one task and stays at the site where it arrives; a gang arrives at the grid scheduler, and all of its tasks start and end together on distinct processors",
  "simulated sites: each processor has a queue of its own, a job in service is never interrupted, and at most one gang waits at the head of a queue",
  "simulated sites: a gang runs at the pace of the slowest of its sites; on more than one its service time grows by the overhead, 10 % in the paper",
  "simulated sites: a processor tells how long its job in service still needs, exactly; one study of the paper's reproduction has it by prediction",
];

/** What the simulator of tasks does that no local scheduler decides, one sentence each. */
export const TASKS_RULES: readonly string[] = [
  "simulated tasks: at every clock signal each processor goes to its task in the row whose turn it is, if that can run; the gang policy in front changes rows between two passes over all of them only",
  "simulated tasks: the task whose turn it is takes the processor back as soon as it can run again; one study of the paper's reproduction has it wait until the processor is left",
  "simulated tasks: a processor that turns to another task than it had last loses the cost of a switch first",
  "simulated tasks: of one instant, I/O ends and messages arrive first, then statements end, then comes the clock signal, then idle processors are given tasks",
];

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
