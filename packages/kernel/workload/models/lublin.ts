/**
 * Implements the workload model of Lublin and Feitelson 2003, "The workload on parallel supercomputers:
 * modeling the characteristics of rigid jobs" (J. Parallel Distrib. Comput. 63(11)), after its authors'
 * program (m_lublin99), which also has the values.
 *
 *   size      1, or 2^u with u from two joined uniform distributions; u is rounded for jobs of a power of two
 *   run time  e^x with x from one of two gamma distributions; the first is less likely for larger sizes
 *   arrivals  gaps are e^g "points" with g gamma distributed; a half hour costs its weight in the day
 *
 *      points  ├───gap 1───┼──────gap 2───────┼─gap 3─┤   each job pays its gap in full; a gap may end in
 *      weights │ 0.2 │ 0.3 │   0.9    │      1.6      │   a half hour, whose other points are not lost
 *
 * Two details are easy to miss. One random number decides both "serial" and "power of two", so the latter is
 * a share of all jobs. And points left over in a half hour count for the next job.
 *
 * We differ in two ways. The program cuts each arrival to whole seconds before it adds the next gap, and we
 * cut only the result. Our model takes machines of any size, not only of 128 processors.
 */
import { exp, ln } from "../../core/elementary.ts";
import { type TraceColumns, UNKNOWN, type Workload } from "../../core/jobs.ts";
import { choice, integer } from "../../core/parameters.ts";
import type { ParameterValues } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import { ESTIMATE_PARAMETERS, ESTIMATE_RULE_TEXT } from "../estimates/estimates.ts";
import { makeColumns } from "../traces/swf-table.ts";
import { drawGamma, gammaCdf } from "./gamma.ts";
import {
  LOAD_PARAMETER,
  type ModelDefinition,
  withRequestedEstimates,
  withRequestedLoad,
  workloadOf,
} from "./model.ts";

/** The values of one class of jobs, with the names of the program. */
export interface LublinClass {
  readonly serial: number;
  readonly powerOfTwo: number;
  /** Log₂ of sizes, for a machine of 128 processors. */
  readonly uLow: number;
  readonly uMed: number;
  readonly uHi: number;
  readonly uProb: number;
  /** Shapes a and scales b of the logarithm of the run time. */
  readonly a1: number;
  readonly b1: number;
  readonly a2: number;
  readonly b2: number;
  /** Probability of the first distribution: pa · size + pb. */
  readonly pa: number;
  readonly pb: number;
  /** Logarithm of the gap in the rush hours: shape and scale. */
  readonly aarr: number;
  readonly barr: number;
  /** Half hour of the day: shape and scale. */
  readonly anum: number;
  readonly bnum: number;
  /** Factor of `aarr` that turns rush hours into all hours. */
  readonly arar: number;
}

/** The published values: for all jobs as one class, and for batch and interactive jobs separately. */
// biome-ignore format: a table
export const LUBLIN_CLASSES: Readonly<Record<"one" | "batch" | "interactive", LublinClass>> = {
  one: {
    serial: 0.244, powerOfTwo: 0.576, uLow: 0.8, uMed: 4.5, uHi: 7, uProb: 0.86,
    a1: 4.2, b1: 0.94, a2: 312, b2: 0.03, pa: -0.0054, pb: 0.78,
    aarr: 10.2303, barr: 0.4871, anum: 8.1737, bnum: 3.9631, arar: 1.0225,
  },
  batch: {
    serial: 0.2927, powerOfTwo: 0.6686, uLow: 1.2, uMed: 5, uHi: 7, uProb: 0.875,
    a1: 6.57, b1: 0.823, a2: 639.1, b2: 0.0156, pa: -0.003, pb: 0.6986,
    aarr: 6.0415, barr: 0.8531, anum: 6.1271, bnum: 5.2740, arar: 1.0519,
  },
  interactive: {
    serial: 0.1541, powerOfTwo: 0.625, uLow: 1, uMed: 3, uHi: 5.5, uProb: 0.705,
    a1: 3.8351, b1: 0.6605, a2: 7.073, b2: 0.6856, pa: -0.0118, pb: 0.9156,
    aarr: 6.5510, barr: 0.6621, anum: 8.9186, bnum: 3.6680, arar: 0.9797,
  },
};

/** Run times stay below e^12 s, gaps below e^13 s at a weight of 1. */
const MAX_LN_RUN = 12;
const MAX_LN_GAP = 13;
const HALF_HOURS = 48;
const HALF_HOUR_S = 1800;
/** The half hour at which the gamma distribution of the day begins. */
const DAY_START = 11;
/** Log₂ of the machine to which the sizes above apply. */
const LOG_PROCESSORS = 7;
const LN_2 = ln(2);

/** Queue numbers in a workload with both classes, as the program writes them. */
const INTERACTIVE_QUEUE = 0;
const BATCH_QUEUE = 1;

/** The model as `tutti workload generate lublin` offers it. */
export const lublin: ModelDefinition = {
  name: "lublin",
  title: "Lublin–Feitelson",
  summary: "Sizes with many powers of two, longer runs of larger jobs, and a daily cycle of arrivals.",
  rules: [
    "classes=one: all jobs together; classes=batch or classes=interactive: only jobs of that class; classes=both: each class has its own arrival clock, and the earlier arrival comes next",
    "a job is serial if a uniform number is at most the serial share; if the same number is at most the sum of the serial and the power-of-two share, the job's u is rounded",
    "other sizes are 2^u, rounded, with u uniform between uLow and uMed with probability uProb, else between uMed and uHi",
    "uMed and uHi are shifted by log₂(processors) − 7 from their values for 128 processors, but not below uLow; a rounded u is at most the whole part of log₂(processors)",
    "a run time is the whole part of e^x s; x is from Gamma(a1, b1) with probability pa × size + pb, else from Gamma(a2, b2), and is drawn again if it is above 12",
    "a gap between arrivals is e^g s with g from Gamma(aarr × ARAR, barr), drawn again if it is above 13; it passes at a speed of 1 ÷ the weight of the half hour",
    "the weight of a half hour is its probability under Gamma(anum, bnum) counted from half hour 11, scaled to a mean of 1; the first job arrives one gap after midnight",
    "submit times are whole seconds; with a load above 0 they are scaled by one factor, which also stretches the day, and are no longer whole",
    "with classes=both, interactive jobs are in queue 0 and batch jobs are in queue 1",
    ESTIMATE_RULE_TEXT,
    "arrivals, sizes, run times and estimates have their own random streams",
  ],
  source:
    "U. Lublin and D. G. Feitelson 2003, The workload on parallel supercomputers; values and procedure as in two public copies of the authors' program m_lublin99",
  parameters: [
    integer("jobs", { min: 1, max: 100_000_000, default: 10_000 }, "number of jobs"),
    integer(
      "processors",
      { min: 4, max: 10_000_000, default: 128 },
      "processors of the machine, for which the sizes are adjusted",
    ),
    choice(
      "classes",
      ["one", "batch", "interactive", "both"],
      "all jobs as one class, one of the two classes, or both together",
    ),
    LOAD_PARAMETER,
    ...ESTIMATE_PARAMETERS,
  ],
  generate: generateLublin,
};

/** Weights of the 48 half hours from midnight; their mean is 1. */
export function dailyWeights({ anum, bnum }: Pick<LublinClass, "anum" | "bnum">): Float64Array {
  const weights = new Float64Array(HALF_HOURS);
  let sum = 0;
  for (let i = DAY_START; i < DAY_START + HALF_HOURS; i++) {
    const weight = gammaCdf(i + 0.5, anum, bnum) - gammaCdf(i - 0.5, anum, bnum);
    weights[(i - 1) % HALF_HOURS] = weight;
    sum += weight;
  }
  return weights.map((weight) => (weight * HALF_HOURS) / sum);
}

function generateLublin(parameters: ParameterValues, seed: number): Workload {
  const count = Number(parameters.jobs);
  const processors = Number(parameters.processors);
  const wanted = parameters.classes as "one" | "batch" | "interactive" | "both";
  const queue = wanted === "both" ? new Int32Array(count) : undefined;
  const jobs = {
    submitS: new Float64Array(count),
    runS: new Float64Array(count),
    size: new Int32Array(count),
  };
  const names = wanted === "both" ? (["interactive", "batch"] as const) : [wanted];
  const classes = names.map((name) => fitToMachine(LUBLIN_CLASSES[name], processors));
  const clocks = names.map((name, i) => new ArrivalClock(classes[i], new Random(seed, `${name} arrivals`)));
  const sizes = new Random(seed, "sizes");
  const runs = new Random(seed, "runs");
  for (let row = 0; row < count; row++) {
    const next = clocks.length === 2 && clocks[1].nextS < clocks[0].nextS ? 1 : 0;
    jobs.submitS[row] = clocks[next].nextS;
    clocks[next].advance();
    jobs.size[row] = drawSize(classes[next], processors, sizes);
    jobs.runS[row] = drawRun(classes[next], jobs.size[row], runs);
    if (queue !== undefined) queue[row] = next === 0 ? INTERACTIVE_QUEUE : BATCH_QUEUE;
  }
  const exact = {
    ...workloadOf(lublin, parameters, seed, processors, { ...jobs, estimateS: jobs.runS }),
    trace: queue && traceOf(jobs.size, queue),
  };
  return withRequestedEstimates(withRequestedLoad(exact, parameters), parameters, seed);
}

/**
 * Only the requested processors and the queue are known, so that a written file has the class of each job.
 */
function traceOf(requested: Int32Array, queue: Int32Array): TraceColumns {
  const { id, submitS, runS, size, estimateS, line, ...trace } = makeColumns(queue.length);
  for (const column of Object.values(trace)) column.fill(UNKNOWN);
  return { ...trace, requested, queue };
}

/** The class with its sizes adjusted to a machine of this many processors. */
export function fitToMachine(values: LublinClass, processors: number): LublinClass {
  const by = ln(processors) / LN_2 - LOG_PROCESSORS;
  return {
    ...values,
    uMed: Math.max(values.uLow, values.uMed + by),
    uHi: Math.max(values.uLow, values.uHi + by),
  };
}

/**
 * Arrivals of one class: the position in the half hours, kept as the points already spent in the current half
 * hour.
 */
class ArrivalClock {
  /** Submit time of the next job in whole seconds. */
  nextS = 0;
  readonly #weights: Float64Array;
  readonly #shape: number;
  readonly #scale: number;
  readonly #random: Random;
  /** Half hours since midnight of the first day, and points spent in the current half hour. */
  #halfHour = 0;
  #points = 0;

  constructor(values: LublinClass, random: Random) {
    this.#weights = dailyWeights(values);
    this.#shape = values.aarr * values.arar;
    this.#scale = values.barr;
    this.#random = random;
    this.advance();
  }

  advance(): void {
    let lnGap = MAX_LN_GAP + 1;
    while (lnGap > MAX_LN_GAP) lnGap = drawGamma(this.#shape, this.#scale, this.#random);
    this.#points += exp(lnGap) / HALF_HOUR_S;
    let weight = this.#weights[this.#halfHour % HALF_HOURS];
    while (this.#points > weight) {
      this.#points -= weight;
      this.#halfHour++;
      weight = this.#weights[this.#halfHour % HALF_HOURS];
    }
    this.nextS = Math.floor((this.#halfHour + this.#points / weight) * HALF_HOUR_S);
  }
}

function drawSize(values: LublinClass, processors: number, random: Random): number {
  const kind = random.uniform();
  if (kind <= values.serial) return 1;
  const low = random.uniform() <= values.uProb;
  const from = low ? values.uLow : values.uMed;
  const u = from + random.uniform() * ((low ? values.uMed : values.uHi) - from);
  if (kind > values.serial + values.powerOfTwo) return Math.min(processors, Math.round(exp(u * LN_2)));
  return 1 << Math.min(31 - Math.clz32(processors), Math.round(u));
}

function drawRun(values: LublinClass, size: number, random: Random): number {
  const p = Math.min(1, Math.max(0, values.pa * size + values.pb));
  for (;;) {
    const first = random.uniform() <= p;
    const x = first ? drawGamma(values.a1, values.b1, random) : drawGamma(values.a2, values.b2, random);
    if (x <= MAX_LN_RUN) return Math.floor(exp(x));
  }
}
