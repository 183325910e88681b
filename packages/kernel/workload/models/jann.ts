/**
 * Implements the workload model of Jann et al. 1997, "Modeling of workload in MPPs" (JSSPP'97). Jobs are in
 * ranges of size. Each range has its own hyper-Erlang interarrival and service times, and the ranges are
 * superposed. The form is the paper's. The numbers are our own fits to the same machine's log, since the
 * published table is not available (see jann-ranges.ts).
 *
 *   range 1      ─┬────┬──────────────┬───────       next gap of a range: hyper-Erlang
 *   range 2      ─────────┬───────────────┬───       the earliest next arrival of all ranges is the next job
 *   range 3–4    ───┬──────────┬──────────────       size within a range: as often as the log has it
 */
import type { Workload } from "../../core/jobs.ts";
import { choice, integer } from "../../core/parameters.ts";
import type { ParameterValues } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import { ESTIMATE_PARAMETERS, ESTIMATE_RULE_TEXT } from "../estimates/estimates.ts";
import { drawHyperErlang } from "./hyper-erlang.ts";
import { drawSize, JANN_RANGES, JANN_WHOLE_LOG_RANGES, type SizeRange } from "./jann-ranges.ts";
import {
  LOAD_PARAMETER,
  type ModelDefinition,
  withRequestedEstimates,
  withRequestedLoad,
  workloadOf,
} from "./model.ts";

const FITS = { window: JANN_RANGES, log: JANN_WHOLE_LOG_RANGES } as const;

/** The model as `tutti workload generate jann` offers it. */
export const jann: ModelDefinition = {
  name: "jann",
  title: "Jann et al., by ranges of size",
  summary: "Hyper-Erlang interarrival and service times for each range of size, fitted to the CTC SP2.",
  rules: [
    "NOT the published parameters, which are not available: these are our own fits of the paper's form to the log of the CTC SP2, by the paper's three moments",
    "fit=window: the period of the paper, 25 June to 11 September 1996, 17,542 jobs (the paper has 17,440), 322 processors, ten ranges of size",
    "fit=log: the whole cleaned log, 26 June 1996 to 31 May 1997, 77,222 jobs, 338 processors, eleven ranges",
    "every range has its own arrival clock, which begins with one gap at time 0; the next job is the earliest arrival of all ranges (ties: the range of smaller sizes)",
    "within a range, each size is drawn as often as it occurs in the log; how the original program draws it is unknown",
    "times are not rounded; there is no daily cycle",
    "with a load above 0, submit times are scaled by one factor",
    ESTIMATE_RULE_TEXT,
    "arrivals, sizes and service times of each range have their own random streams",
  ],
  source:
    "form: J. Jann, P. Pattnaik, H. Franke, F. Wang, J. Skovira and J. Riodan 1997, Modeling of workload in MPPs; parameters: our own fits",
  parameters: [
    integer("jobs", { min: 1, max: 100_000_000, default: 10_000 }, "number of jobs"),
    choice("fit", ["window", "log"], "data of the fit: the paper's eleven weeks, or the whole log"),
    LOAD_PARAMETER,
    ...ESTIMATE_PARAMETERS,
  ],
  generate: generateJann,
};

function generateJann(parameters: ParameterValues, seed: number): Workload {
  const count = Number(parameters.jobs);
  const ranges = FITS[parameters.fit as "window" | "log"];
  const jobs = {
    submitS: new Float64Array(count),
    runS: new Float64Array(count),
    size: new Int32Array(count),
  };
  const sources = ranges.map((range) => sourceOf(range, seed));
  for (let row = 0; row < count; row++) {
    let next = sources[0];
    for (const source of sources) if (source.nextS < next.nextS) next = source;
    jobs.submitS[row] = next.nextS;
    jobs.runS[row] = drawHyperErlang(next.range.serviceS, next.runs);
    jobs.size[row] = drawSize(next.range, next.sizes);
    next.nextS += drawHyperErlang(next.range.interarrivalS, next.arrivals);
  }
  const processors = ranges[ranges.length - 1].maxSize;
  const exact = workloadOf(jann, parameters, seed, processors, { ...jobs, estimateS: jobs.runS });
  return withRequestedEstimates(withRequestedLoad(exact, parameters), parameters, seed);
}

/** The jobs of one range: its next arrival and its random streams. */
function sourceOf(range: SizeRange, seed: number) {
  const stream = (what: string) => new Random(seed, `${what} from size ${range.minSize}`);
  const arrivals = stream("arrivals");
  const nextS = drawHyperErlang(range.interarrivalS, arrivals);
  return { range, nextS, arrivals, runs: stream("runs"), sizes: stream("sizes") };
}
