/**
 * Defines a wing: a simulated machine of a special kind, with its own jobs and policies. No trace describes
 * its jobs, and no live scheduler drives it. Everything that serves only one wing is in its folder: contract,
 * machine, policies, workload, metrics, checker. The other folders reach wings only through the list in
 * wings.ts; a wing's paper (lab/papers) reaches into the wing.
 */
import type {
  ParameterSpec,
  ParameterValues,
  PolicyChoice,
  PolicyDescription,
} from "@tutti/kernel/core/policy.ts";

export interface Wing<Policy extends PolicyDescription<unknown> = PolicyDescription<unknown>> {
  /** As written on the command line: `sites:sizes=64,64:load=0.8`. */
  readonly name: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** What its policies schedule, in words that complete "it schedules …". */
  readonly machine: string;
  /** How its jobs are made, and what its simulator does without asking a policy; one sentence each. */
  readonly rules: readonly string[];
  /** Paper and section. */
  readonly source: string;
  /** Parameters of the machine and of its jobs. */
  readonly parameters: readonly ParameterSpec[];
  readonly policies: readonly Policy[];
  /**
   * Makes the jobs and runs them under a policy. The same parameters and seed give the same jobs under every
   * policy.
   * @param parameters complete and within the specs
   * @param isAudited whether the checker, which keeps its own books, follows the run
   * @param files of the parameters of the kind `file`; default: none
   * @throws InputError if parameters contradict each other, RuleViolation if the policy breaks a rule
   */
  simulate(
    parameters: ParameterValues,
    policy: PolicyChoice<Policy>,
    seed: number,
    isAudited: boolean,
    files?: WingFiles,
  ): WingRun;
  /**
   * Sentences about when and why a job of the run was served; undefined: this wing explains nothing.
   * @throws InputError for a job that is not there
   */
  explain?(
    parameters: ParameterValues,
    policy: PolicyChoice<Policy>,
    seed: number,
    job: string,
    files?: WingFiles,
  ): readonly string[];
}

/** Texts of files by their paths. A wing reads no file itself, so that it can run in a page. */
export type WingFiles = Readonly<Record<string, string>>;

/** One policy on the jobs of one seed. */
export interface WingRun {
  readonly jobs: number;
  readonly processors: number;
  /** 16 hexadecimal digits, as for every workload and schedule. */
  readonly workloadHash: string;
  readonly scheduleHash: string;
  /** Number of jobs that could never run to their end. */
  readonly left: number;
  /** The same measures in the same order for every policy. */
  readonly measures: readonly Measure[];
  /** What the checker examined, in words; undefined without it. */
  readonly checked: string | undefined;
}

/** A number that a run gives. */
export interface Measure {
  /** Stable name for JSON and CSV. */
  readonly name: string;
  readonly title: string;
  readonly unit: "s" | "h" | "1" | "share";
  /** NaN if there is no value. */
  readonly value: number;
  /** Whether tables compare policies by this measure. */
  readonly isCompared?: boolean | undefined;
}

export function measure(
  name: string,
  title: string,
  unit: Measure["unit"],
  value: number,
  isCompared?: boolean,
): Measure {
  return { name, title, unit, value, isCompared };
}
