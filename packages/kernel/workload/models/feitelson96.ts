/**
 * Implements the workload model of Feitelson 1996, "Packing schemes for gang scheduling" (JSSPP'96), as far
 * as we know it: sizes by a harmonic distribution, run times that vary more than exponential ones and are
 * longer for larger jobs, and jobs that run repeatedly.
 *
 * The archive's page on the model confirms these three properties, and also that the probability of size n is
 * proportional to n^−1.5. It adds that the sizes were then "hand-tailored" towards small ones and powers of
 * two; those weights are not available and are left out. The two-stage form of the run times, its numbers and
 * the law of repetitions are from memory and could not be confirmed: they are parameters or stated rules.
 */
import { power } from "../../core/elementary.ts";
import type { Workload } from "../../core/jobs.ts";
import { integer, number } from "../../core/parameters.ts";
import type { ParameterValues } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import { ESTIMATE_PARAMETERS, ESTIMATE_RULE_TEXT } from "../estimates/estimates.ts";
import { type ModelDefinition, withRequestedEstimates, workloadOf } from "./model.ts";

/** Order of the harmonic distribution of sizes. Confirmed. */
const SIZE_ORDER = 1.5;
/**
 * Unconfirmed: order of the distribution of repetitions, mean of the long run times ÷ mean of the short ones,
 * and share of short ones.
 */
const REPETITION_ORDER = 2.5;
const LONG_TO_SHORT = 7;
const SHORT_SHARE = 0.95;
const SHORT_SHARE_FALL = 0.2;
/** Numbers of repetitions above this have a total probability below 10^−4. */
const MAX_REPETITIONS = 1000;

/** The model as `tutti workload generate feitelson96` offers it. */
export const feitelson96: ModelDefinition = {
  name: "feitelson96",
  title: "Feitelson 1996, confirmed parts",
  summary: "Harmonic sizes, hyper-exponential run times that grow with the size, repeated runs.",
  rules: [
    "confirmed: the probability of size n, 1 to processors, is proportional to n^−1.5",
    "left out, since its weights are not available: the hand-tailoring of sizes towards small ones and powers of two",
    "confirmed in kind only: run times vary more than exponential ones, and larger jobs tend to run longer",
    "unconfirmed: a run time is exponential with mean shortS with probability 0.95 − 0.20 × size ÷ processors, else with mean 7 × shortS",
    "confirmed in kind only: the same job is run repeatedly; unconfirmed: n times with a probability proportional to n^−2.5, here up to 1000 times",
    "our assumption: all runs of a job have the same size and run time, and each run is submitted when the previous one would end if it had not waited",
    "unconfirmed: first runs arrive as a Poisson process; its rate gives the offered load, by the exact means",
    ESTIMATE_RULE_TEXT,
    "arrivals, sizes, run times, repetitions and estimates have their own random streams",
  ],
  source:
    "D. G. Feitelson 1996, Packing schemes for gang scheduling, as described by the Parallel Workloads Archive's page on the model; what the page does not say is unconfirmed",
  parameters: [
    integer("jobs", { min: 1, max: 10_000_000, default: 10_000 }, "number of jobs, repeated runs included"),
    integer(
      "processors",
      { min: 1, max: 1_000_000, default: 128 },
      "processors of the machine, which is also the largest size of a job",
    ),
    number(
      "load",
      { min: 0.001, max: 100, default: 0.7 },
      "offered load: work that arrives per second ÷ processors",
    ),
    number(
      "shortS",
      { min: 0.001, max: 1e6, default: 600, unit: "s" },
      "mean of the short run times; the model has no unit of time, so the default is our choice",
    ),
    ...ESTIMATE_PARAMETERS,
  ],
  generate: generateFeitelson96,
};

/** Mean work of a run in processor seconds: Σ P(n) · n · E[run time | n]. */
export function feitelson96MeanWork(processors: number, shortS: number): number {
  let weight = 0;
  let work = 0;
  for (let n = 1; n <= processors; n++) {
    const probability = power(n, -SIZE_ORDER);
    const short = shortShare(n, processors);
    weight += probability;
    work += probability * n * shortS * (short + (1 - short) * LONG_TO_SHORT);
  }
  return work / weight;
}

function generateFeitelson96(parameters: ParameterValues, seed: number): Workload {
  const count = Number(parameters.jobs);
  const processors = Number(parameters.processors);
  const shortS = Number(parameters.shortS);
  const runs = drawRuns(count, processors, shortS, Number(parameters.load), seed);
  const order = Uint32Array.from({ length: count }, (_, run) => run);
  order.sort((a, b) => runs.submitS[a] - runs.submitS[b] || a - b);
  const runS = Float64Array.from(order, (run) => runs.runS[run]);
  const workload = workloadOf(feitelson96, parameters, seed, processors, {
    submitS: Float64Array.from(order, (run) => runs.submitS[run]),
    runS,
    size: Int32Array.from(order, (run) => runs.size[run]),
    estimateS: runS,
  });
  return withRequestedEstimates(workload, parameters, seed);
}

/** The runs, job by job: the submits of one job ascend, but those of different jobs interleave. */
function drawRuns(count: number, processors: number, shortS: number, load: number, seed: number) {
  const submitS = new Float64Array(count);
  const runS = new Float64Array(count);
  const size = new Int32Array(count);
  const arrivals = new Random(seed, "arrivals");
  const sizes = new Random(seed, "sizes");
  const times = new Random(seed, "runs");
  const repeats = new Random(seed, "repetitions");
  const sizeTable = harmonicTable(processors, SIZE_ORDER);
  const repetitionTable = harmonicTable(MAX_REPETITIONS, REPETITION_ORDER);
  const meanRepetitions = repetitionTable.reduce((sum, upTo) => sum + (1 - upTo), 1);
  const meanGapS = (meanRepetitions * feitelson96MeanWork(processors, shortS)) / (load * processors);
  let firstS = 0;
  let run = 0;
  while (run < count) {
    firstS += arrivals.exponential(meanGapS);
    const n = drawFrom(sizeTable, sizes);
    const short = times.uniform() < shortShare(n, processors);
    const jobS = times.exponential(short ? shortS : LONG_TO_SHORT * shortS);
    const end = Math.min(count, run + drawFrom(repetitionTable, repeats));
    for (let nowS = firstS; run < end; nowS += jobS) {
      submitS[run] = nowS;
      runS[run] = jobS;
      size[run++] = n;
    }
  }
  return { submitS, runS, size };
}

function shortShare(size: number, processors: number): number {
  return SHORT_SHARE - (SHORT_SHARE_FALL * size) / processors;
}

/** P(N ≤ n) at index n − 1, for P(N = n) proportional to n^−order and n from 1 to `max`. */
function harmonicTable(max: number, order: number): Float64Array {
  const table = new Float64Array(max);
  let sum = 0;
  for (let n = 1; n <= max; n++) {
    sum += power(n, -order);
    table[n - 1] = sum;
  }
  return table.map((upTo) => upTo / sum);
}

/** The number into whose part of the table the uniform number falls. */
function drawFrom(table: Float64Array, random: Random): number {
  const u = random.uniform();
  let low = 0;
  let high = table.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (table[middle] < u) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}
