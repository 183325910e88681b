/** Workload models: generators of jobs from parameters and a seed. This list is the only one. */
import type { Workload } from "../../core/jobs.ts";
import type { ParameterSpec, ParameterValues } from "../../core/policy.ts";
import { downey } from "./downey.ts";
import { feitelson96 } from "./feitelson96.ts";
import { hpc2500 } from "./hpc2500.ts";
import { jann } from "./jann.ts";
import { lublin } from "./lublin.ts";

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

export const MODELS: readonly ModelDefinition[] = [downey, lublin, jann, feitelson96, hpc2500];
