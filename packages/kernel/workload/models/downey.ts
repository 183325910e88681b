/**
 * Implements the log-uniform workload model of zhou2000 section 4.2, after Downey 1997: run times and sizes
 * are uniform in log space and independent of each other, and arrivals are Poisson. Downey draws the total
 * work, and the run time follows from the processors given; here, as in zhou2000, jobs are rigid and the run
 * time itself is log-uniform.
 *
 *   λ = load · processors / (mean size · mean run time)     with the exact means of the rounded distributions
 *
 * The defaults are the paper's machine and jobs: 128 processors, run times of 1 … 120 slots of 5 s (mean
 * 24.85 slots; 24.86 without rounding), sizes 1 … 128 (mean 26.17).
 */
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { integer, number } from "../../core/parameters.ts";
import type { ParameterValues } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import { estimatesUpTo } from "../estimates/estimates.ts";
import { fillLogUniform, type LogUniform, logUniformMean } from "./log-uniform.ts";
import { type ModelDefinition, workloadOf } from "./model.ts";

/** Maximum multiples of the unit: the mean of the rounded distribution sums over all of them. */
const MAX_UNITS = 10_000_000;

/** What follows from the parameters: the two distributions and the mean time between arrivals. */
interface DowneyMoments {
  readonly size: LogUniform;
  readonly runS: LogUniform;
  readonly meanSize: number;
  readonly meanRunS: number;
  readonly meanInterarrivalS: number;
}

/**
 * Distributions and exact means for the parameters of the model.
 * @throws InputError if a largest value is below the smallest one, or if the rounding unit does not fit the
 * run times
 */
export function downeyMoments(parameters: ParameterValues): DowneyMoments {
  const value = (name: string) => Number(parameters[name]);
  const size = {
    min: value("minSize"),
    max: value("maxSize") === 0 ? value("processors") : value("maxSize"),
    unit: 1,
  };
  const runS = { min: value("minRunS"), max: value("maxRunS"), unit: value("unitS") };
  if (size.min > size.max) {
    throw new InputError(
      `Cannot draw sizes from ${size.min} to ${size.max}: expected minSize to be at most maxSize`,
    );
  }
  if (runS.min > runS.max) {
    throw new InputError(
      `Cannot draw run times from ${runS.min} s to ${runS.max} s: expected minRunS to be at most maxRunS`,
    );
  }
  if (runS.unit > runS.max || (runS.unit > 0 && runS.max / runS.unit > MAX_UNITS)) {
    throw new InputError(
      `Cannot round run times up to ${runS.max} s to multiples of ${runS.unit} s: expected unitS from ${runS.max / MAX_UNITS} to ${runS.max}, or 0 for no rounding`,
    );
  }
  const meanSize = logUniformMean(size);
  const meanRunS = logUniformMean(runS);
  const meanInterarrivalS = (meanSize * meanRunS) / (value("load") * value("processors"));
  return { size, runS, meanSize, meanRunS, meanInterarrivalS };
}

/** The model as `tutti workload generate downey` offers it. */
export const downey: ModelDefinition = {
  name: "downey",
  title: "Log-uniform (Downey)",
  summary: "Run times and sizes uniform in log space, independent, Poisson arrivals.",
  rules: [
    "a run time is e^x with x drawn uniformly between ln minRunS and ln maxRunS, rounded to the nearest multiple of unitS, at least unitS",
    "a size is e^x with x drawn uniformly between ln minSize and ln maxSize, rounded to the nearest whole number",
    "times between arrivals are exponential with mean (mean size × mean run time) / (load × processors); the means are the exact means of the rounded distributions",
    "an estimate is drawn uniformly between the run time and estimateFactor times the run time, and rounded up to a multiple of unitS",
    "arrivals, sizes, run times and estimates have their own random streams, so a change of one leaves the others unchanged",
  ],
  source:
    "B. B. Zhou, D. Walsh and R. P. Brent 2000, section 4.2, after A. B. Downey 1997, A parallel workload model and its implications for processor allocation",
  parameters: [
    integer("jobs", { min: 1, max: 100_000_000, default: 10_000 }, "number of jobs"),
    integer(
      "processors",
      { min: 1, max: 10_000_000, default: 128 },
      "processors of the machine for which the load is computed",
    ),
    number(
      "load",
      { min: 0.001, max: 100, default: 0.7 },
      "offered load: work that arrives per second ÷ processors",
    ),
    number("minRunS", { min: 0.001, max: 1e9, default: 5, unit: "s" }, "shortest run time"),
    number("maxRunS", { min: 0.001, max: 1e9, default: 600, unit: "s" }, "longest run time"),
    number(
      "unitS",
      { min: 0, max: 1e9, default: 5, unit: "s" },
      "run times are rounded to whole multiples of this; 0: not rounded",
    ),
    integer("minSize", { min: 1, max: 10_000_000, default: 1 }, "smallest size"),
    integer(
      "maxSize",
      { min: 0, max: 10_000_000, default: 0 },
      "largest size; 0 for all processors of the machine",
    ),
    number(
      "estimateFactor",
      { min: 1, max: 1000, default: 1 },
      "largest estimate ÷ run time; 1 for exact estimates",
    ),
  ],
  generate: generateDowney,
};

function generateDowney(parameters: ParameterValues, seed: number): Workload {
  const { size, runS, meanInterarrivalS } = downeyMoments(parameters);
  const count = Number(parameters.jobs);
  const jobs = {
    submitS: new Float64Array(count),
    runS: new Float64Array(count),
    size: new Int32Array(count),
  };
  const arrivals = new Random(seed, "arrivals");
  let nowS = 0;
  for (let row = 0; row < count; row++) {
    nowS += arrivals.exponential(meanInterarrivalS);
    jobs.submitS[row] = nowS;
  }
  fillLogUniform(jobs.size, size, new Random(seed, "sizes"));
  fillLogUniform(jobs.runS, runS, new Random(seed, "runs"));
  // Exact estimates share the array of the run times.
  const factor = Number(parameters.estimateFactor);
  const estimateS = factor === 1 ? jobs.runS : estimatesUpTo(factor, jobs.runS, runS.unit, seed);
  return workloadOf(downey, parameters, seed, Number(parameters.processors), { ...jobs, estimateS });
}
