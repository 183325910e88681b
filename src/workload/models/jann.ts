/**
 * The workload model of Jann et al. 1997, "Modeling of workload in MPPs" (JSSPP'97): jobs by ranges of size, each range with its own
 * hyper-Erlang interarrival and service times, superposed. The form is the paper's; the numbers are our own fits to the same
 * machine's log, since the published table is not available (see jann-ranges.ts).
 *
 *   range 1      ─┬────┬──────────────┬───────       next gap of a range: hyper-Erlang
 *   range 2      ─────────┬───────────────┬───       the earliest next arrival of all ranges is the next job
 *   range 3–4    ───┬──────────┬──────────────       size within a range: as often as the log has it
 */
import type { Workload } from "../../core/jobs.ts";
import { parameterSuffix } from "../../core/parameters.ts";
import type { ParameterValues } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import {
  ESTIMATE_PARAMETERS,
  ESTIMATE_RULE_TEXT,
  estimateRule,
  withEstimates,
} from "../estimates/estimates.ts";
import { scaleToLoad } from "../scale.ts";
import { drawHyperErlang } from "./hyper-erlang.ts";
import { JANN_RANGES, type SizeRange } from "./jann-ranges.ts";
import { JANN_WHOLE_LOG_RANGES } from "./jann-ranges-whole-log.ts";
import type { ModelDefinition } from "./model.ts";

const FITS = { window: JANN_RANGES, log: JANN_WHOLE_LOG_RANGES } as const;

/** The model as `tutti workload generate jann` offers it. */
export const jann: ModelDefinition = {
  name: "jann",
  title: "Jann et al., by ranges of size",
  summary: "Hyper-Erlang interarrival and service times for each range of size, fitted to the CTC SP2.",
  rules: [
    "NOT the published parameters, which are not available: our own fits of the paper's form, by its three moments, to the CTC SP2's log",
    "fit=window: the paper's time, 25 June to 11 September 1996, 17,542 jobs (the paper has 17,440), 322 processors, ten ranges of size",
    "fit=log: the whole cleaned log, 26 June 1996 to 31 May 1997, 77,222 jobs, 338 processors, eleven ranges",
    "every range has a clock of its own, starting with one gap at time 0; the earliest arrival goes next, the smaller range when two are equal",
    "within a range the size is drawn as often as the log has it in that range; how the original program draws it is not known",
    "times are as drawn, not rounded; there is no daily cycle",
    "with a load above 0, submit times are scaled by one factor",
    ESTIMATE_RULE_TEXT,
    "arrivals, sizes and service times of each range come from random streams of their own",
  ],
  source:
    "form: J. Jann, P. Pattnaik, H. Franke, F. Wang, J. Skovira and J. Riodan 1997, Modeling of workload in MPPs; parameters: our own fits",
  parameters: [
    {
      name: "jobs",
      kind: "integer",
      min: 1,
      max: 100_000_000,
      default: 10_000,
      description: "number of jobs",
    },
    {
      name: "fit",
      kind: "choice",
      choices: ["window", "log"],
      default: "window",
      description: "data of the fit: the paper's eleven weeks, or the whole log",
    },
    {
      name: "load",
      kind: "number",
      min: 0,
      max: 100,
      default: 0,
      description: "offered load that the submit times are scaled to; 0 for the times of the model",
    },
    ...ESTIMATE_PARAMETERS,
  ],
  generate: generateJann,
};

function generateJann(parameters: ParameterValues, seed: number): Workload {
  const count = Number(parameters.jobs);
  const ranges = FITS[parameters.fit as "window" | "log"];
  const jobs = {
    id: Int32Array.from({ length: count }, (_, row) => row + 1),
    submitS: new Float64Array(count),
    runS: new Float64Array(count),
    size: new Int32Array(count),
  };
  const sources = ranges.map((range) => new RangeSource(range, seed));
  for (let row = 0; row < count; row++) {
    let next = sources[0];
    for (const source of sources) if (source.nextS < next.nextS) next = source;
    jobs.submitS[row] = next.nextS;
    jobs.runS[row] = next.drawRun();
    jobs.size[row] = next.drawSize();
    next.advance();
  }
  const processors = ranges[ranges.length - 1].maxSize;
  const name = `jann${parameterSuffix(jann.parameters, parameters)}, seed ${seed}`;
  const exact: Workload = {
    name,
    count,
    jobs: { ...jobs, estimateS: jobs.runS },
    processors,
    trace: undefined,
    header: [],
    diagnostics: [],
  };
  const load = Number(parameters.load);
  const scaled = load === 0 ? exact : scaleToLoad(exact, load, processors);
  return { ...withEstimates(scaled, estimateRule(parameters), seed), name };
}

/** The jobs of one range. */
class RangeSource {
  nextS = 0;
  readonly #range: SizeRange;
  readonly #arrivals: Random;
  readonly #runs: Random;
  readonly #sizes: Random;
  readonly #total: number;

  constructor(range: SizeRange, seed: number) {
    this.#range = range;
    this.#arrivals = new Random(seed, `arrivals from size ${range.minSize}`);
    this.#runs = new Random(seed, `runs from size ${range.minSize}`);
    this.#sizes = new Random(seed, `sizes from size ${range.minSize}`);
    this.#total = range.sizes.reduce((sum, [, jobs]) => sum + jobs, 0);
    this.advance();
  }

  advance(): void {
    this.nextS += drawHyperErlang(this.#range.interarrivalS, this.#arrivals);
  }

  drawRun(): number {
    return drawHyperErlang(this.#range.serviceS, this.#runs);
  }

  drawSize(): number {
    let rest = this.#sizes.below(this.#total);
    for (const [size, jobs] of this.#range.sizes) {
      if (rest < jobs) return size;
      rest -= jobs;
    }
    return this.#range.maxSize; // not reached: rest is below the sum of the jobs
  }
}
