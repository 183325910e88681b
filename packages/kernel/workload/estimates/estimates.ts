/**
 * Gives a workload its estimates, by one of three rules. They are the same for models and for `tutti workload
 * convert`.
 */
import type { Workload } from "../../core/jobs.ts";
import { choice, integer, number } from "../../core/parameters.ts";
import type { ParameterSpec, ParameterValues } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import { withTsafrirEstimates } from "./tsafrir.ts";

export type EstimateRule =
  /** The estimate is the run time. */
  | { readonly kind: "exact" }
  /** Uniform between the run time and `factor` times the run time, rounded up to whole seconds. */
  | { readonly kind: "factor"; readonly factor: number }
  /** The Tsafrir model; 0 for the longest run time rounded up to whole hours. */
  | { readonly kind: "tsafrir"; readonly maxEstimateS: number };

/** Parameters of a model whose estimates follow one of the rules. */
export const ESTIMATE_PARAMETERS: readonly ParameterSpec[] = [
  choice(
    "estimates",
    ["exact", "factor", "tsafrir"],
    "how estimates are made; exact: the run time; factor: up to a multiple of the run time; tsafrir: by the model of Tsafrir et al. 2005",
  ),
  number(
    "estimateFactor",
    { min: 1, max: 1000, default: 5 },
    "with estimates=factor: largest estimate ÷ run time",
  ),
  integer(
    "maxEstimateS",
    { min: 0, max: 2_000_000_000, default: 0, unit: "s" },
    "with estimates=tsafrir: the largest estimate, at least 3600; 0: the longest run time, rounded up to whole hours",
  ),
];

/** The rule that the parameters choose. */
export const ESTIMATE_RULE_TEXT =
  "estimates are the run times, or uniform between the run time and estimateFactor × run time in whole seconds, or drawn by the model of Tsafrir, Etsion and Feitelson 2005";

/** The rule that a model's parameters name. */
export function estimateRule(parameters: ParameterValues): EstimateRule {
  if (parameters.estimates === "factor") return { kind: "factor", factor: Number(parameters.estimateFactor) };
  if (parameters.estimates === "tsafrir") {
    return { kind: "tsafrir", maxEstimateS: Number(parameters.maxEstimateS) };
  }
  return { kind: "exact" };
}

/**
 * A copy of the workload with estimates by the rule, which its name then states.
 * @throws InputError if the Tsafrir model cannot cover the run times
 */
export function withEstimates(workload: Workload, rule: EstimateRule, seed: number): Workload {
  if (rule.kind === "tsafrir") return withTsafrirEstimates(workload, rule.maxEstimateS, seed);
  const { jobs, header } = workload;
  const note =
    rule.kind === "exact"
      ? "estimates are the run times"
      : `estimates up to ${rule.factor} times the run time, seed ${seed}`;
  return {
    ...workload,
    name: `${workload.name}, ${note}`,
    jobs: {
      ...jobs,
      estimateS: rule.kind === "exact" ? jobs.runS : estimatesUpTo(rule.factor, jobs.runS, 1, seed),
    },
    header: header.length === 0 ? [] : [...header, `; Note: ${note}`],
  };
}

/**
 * Uniform between the run time and `factor` times it, rounded up to multiples of unitS; 0: not rounded.
 */
export function estimatesUpTo(factor: number, runS: Float64Array, unitS: number, seed: number): Float64Array {
  const random = new Random(seed, "estimates");
  return runS.map((run) => {
    const drawn = run * (1 + random.uniform() * (factor - 1));
    return unitS === 0 ? drawn : Math.max(run, Math.ceil(drawn / unitS) * unitS);
  });
}
