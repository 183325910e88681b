/** What a workload model is: a generator of jobs from parameters and a seed. */
import type { Workload } from "../../core/jobs.ts";
import type { ParameterSpec, ParameterValues } from "../../core/policy.ts";

export interface ModelDefinition {
  /** As written on the command line: `downey:jobs=1000:load=0.7`. */
  readonly name: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** The exact rules, one sentence each. */
  readonly rules: readonly string[];
  /** Paper and section. */
  readonly source: string;
  readonly parameters: readonly ParameterSpec[];
  /**
   * The same parameters and seed give the same jobs to the last bit on every machine.
   * @param parameters complete and within the specs (see parseParameters)
   * @param seed an integer of at most 53 bits
   * @throws InputError when parameters contradict each other
   */
  generate(parameters: ParameterValues, seed: number): Workload;
}
