/**
 * Models the jobs of Kyoto University's HPC2500 for Kawanami, Yoshihisa and Kanazawa 2008, whose log is not
 * public. From the paper: the degrees of parallelism and the median CPU time of each (its table 1), the
 * limits of the queue classes (its table 2), that most jobs by far are small, that elapsed times vary widely,
 * and that users choose "at random" among the queues open to them (section 2.2). Everything else is our
 * choice, since the paper does not print it.
 *
 *   processors      1     4     8    16     32     64    128     512    table 1; only the paper's examples
 *   CPU time (s) 12.6   517   362  14.1k   238k   163k  1.86M   19.9M    its medians, converted from ms
 *   elapsed (s)  12.6   129    45    881  7,438  2,547  14.5k   38.9k    CPU time ÷ processors: medians
 *   share (%)      45    25    20      5    2.5    1.5    0.8     0.2    our choice
 *
 * Users submit batches of similar jobs. Without batches, half of the jobs would start at once and the median
 * wait would be 0 in most queues under every scheduler, which is not the machine that the paper describes.
 *
 * A job's processors are processes × threads: one process with as many threads as a class allows, one thread
 * per process, or a power of two between them. At least one class of the HPC2500 admits every shape.
 */
import { exp, ln } from "../../core/elementary.ts";
import type { ShapeColumns, Workload } from "../../core/jobs.ts";
import { integer, number } from "../../core/parameters.ts";
import type { ParameterValues } from "../../core/policy.ts";
import { exceededLimit, HPC2500_CLASSES, type JobShape } from "../../core/queue-classes.ts";
import { Random } from "../../core/random.ts";
import { estimatesUpTo } from "../estimates/estimates.ts";
import { type ModelDefinition, workloadOf } from "./model.ts";

/** One degree of parallelism: table 1 of the paper, and our share of the jobs. */
interface ParallelismClass {
  readonly processors: number;
  /** Median CPU time over all processors in ms, as printed. */
  readonly medianCpuMs: number;
  /** Of all jobs; the shares sum to 1. */
  readonly share: number;
}

export const HPC2500_JOBS: readonly ParallelismClass[] = [
  { processors: 1, medianCpuMs: 1.26e4, share: 0.45 },
  { processors: 4, medianCpuMs: 5.17e5, share: 0.25 },
  { processors: 8, medianCpuMs: 3.62e5, share: 0.2 },
  { processors: 16, medianCpuMs: 1.41e7, share: 0.05 },
  { processors: 32, medianCpuMs: 2.38e8, share: 0.025 },
  { processors: 64, medianCpuMs: 1.63e8, share: 0.015 },
  { processors: 128, medianCpuMs: 1.86e9, share: 0.008 },
  { processors: 512, medianCpuMs: 1.99e10, share: 0.002 },
];

/**
 * Shares of jobs with one process of threads, and with processes of one thread; the rest have some of both.
 */
const THREADS_ONLY = 0.35;
const PROCESSES_ONLY = 0.45;
/** Maximum threads that a class allows with up to 128 processors, and with more. */
const MAX_THREADS = 128;
const MAX_THREADS_LARGE = 32;
/** Estimates are up to five times the run time, in steps of ten minutes. */
const ESTIMATE_FACTOR = 5;
const ESTIMATE_STEP_S = 600;

/** The model as `tutti workload generate hpc2500` offers it. */
export const hpc2500: ModelDefinition = {
  name: "hpc2500",
  title: "Kyoto University HPC2500",
  summary:
    "Jobs with processes, threads and a queue that the user chose, modelled on the CPU times and queue classes of one site.",
  rules: [
    "jobs come in batches that have `batch` processors on average (the number of jobs is geometrically distributed and at least one); the jobs of a batch are submitted together; they have the same numbers of processors, processes and threads, and their user chooses the queue for all of them in the same way",
    "the degree of parallelism is drawn from the eight degrees of table 1 with shares of 45, 25, 20, 5, 2.5, 1.5, 0.8 and 0.2 % of the jobs",
    "the elapsed time is log-normal with the median CPU time of table 1 ÷ processors as its median and sigma as the standard deviation of its logarithm; it is in whole seconds, at least 1 s, and drawn again if it is above longest",
    "35 % of the jobs have one process with all threads (with more than 128 processors: processes of 32 threads), 45 % have processes of one thread each, and 20 % have a number of threads per process in between, a power of two",
    "an estimate is drawn uniformly between the run time and five times the run time, and rounded up to ten minutes",
    "the user of a batch is careful with the given probability; a careful user takes the first of the classes with the fewest processors that admit the job, and other users take any class that admits it, with equal probability",
    "batches arrive as a Poisson process; the mean gap is the mean work of a drawn batch (processors × run time) ÷ (load × processors of the machine)",
  ],
  source:
    "after tables 1 and 2 and section 2.2 of Kawanami, Yoshihisa and Kanazawa 2008; shares, shapes, batches and estimates are our own",
  parameters: [
    integer("jobs", { min: 1, max: 10_000_000, default: 20_000 }, "number of jobs"),
    integer(
      "processors",
      { min: 512, max: 10_000_000, default: 1408 },
      "processors of the machine; the default is 11 nodes of 128; the paper prints no number",
    ),
    number(
      "load",
      { min: 0.001, max: 100, default: 1.1 },
      "offered load: work that arrives per second ÷ processors",
    ),
    number(
      "careful",
      { min: 0, max: 1, default: 0.5 },
      "probability that a user chooses the smallest queue that admits the job",
    ),
    number(
      "batch",
      { min: 1, max: 1e6, default: 512 },
      "mean number of processors of the jobs that a user submits together",
    ),
    number(
      "sigma",
      { min: 0, max: 4, default: 1.5 },
      "standard deviation of the natural logarithm of the elapsed time",
    ),
    number("longest", { min: 86_400, max: 1e9, default: 604_800, unit: "s" }, "longest elapsed time"),
  ],
  generate: generateHpc2500,
};

function generateHpc2500(parameters: ParameterValues, seed: number): Workload {
  const count = Number(parameters.jobs);
  const processors = Number(parameters.processors);
  const submitS = new Float64Array(count);
  const runS = new Float64Array(count);
  const size = new Int32Array(count);
  const shape = {
    processes: new Int32Array(count),
    threads: new Int32Array(count),
    queue: new Int32Array(count),
  };
  const batches = drawBatches(size, shape, Number(parameters.batch), seed);
  const area = drawRuns(size, runS, parameters, seed);
  const estimateS = estimatesUpTo(ESTIMATE_FACTOR, runS, ESTIMATE_STEP_S, seed);
  drawQueues(size, estimateS, shape, batches, Number(parameters.careful), seed);
  const arrivals = new Random(seed, "arrivals");
  const meanGapS = area / batches.length / (Number(parameters.load) * processors);
  let nowS = 0;
  for (let b = 0; b < batches.length; b++) {
    nowS += arrivals.exponential(meanGapS);
    submitS.fill(nowS, batches[b], batches[b + 1] ?? count);
  }
  const jobs = { submitS, runS, size, estimateS };
  return { ...workloadOf(hpc2500, parameters, seed, processors, jobs), shape };
}

/**
 * Draws batches of jobs with the same processors, processes and threads; returns the first row of each batch.
 */
function drawBatches(size: Int32Array, shape: ShapeColumns, batch: number, seed: number): number[] {
  const random = new Random(seed, "batches");
  const lengths = HPC2500_JOBS.map((kind) => Math.max(1, batch / kind.processors));
  const weights = HPC2500_JOBS.map((kind, i) => kind.share / lengths[i]);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const firsts: number[] = [];
  for (let row = 0; row < size.length; ) {
    firsts.push(row);
    const drawn = pick(weights, random.uniform() * total);
    const { processors } = HPC2500_JOBS[drawn];
    const threads = drawThreads(processors, random);
    const end = Math.min(size.length, row + geometric(lengths[drawn], random));
    size.fill(processors, row, end);
    shape.threads.fill(threads, row, end);
    shape.processes.fill(processors / threads, row, end);
    row = end;
  }
  return firsts;
}

function pick(weights: readonly number[], at: number): number {
  let upTo = 0;
  for (let i = 0; i < weights.length; i++) {
    upTo += weights[i];
    if (at < upTo) return i;
  }
  return 0; // reached by rounding only
}

/** 1, 2, ... with the given mean. */
function geometric(mean: number, random: Random): number {
  return mean <= 1 ? 1 : 1 + Math.floor(ln(random.uniform()) / ln(1 - 1 / mean));
}

/** The result is a power of two, as all sizes are. */
function drawThreads(processors: number, random: Random): number {
  const maxThreads = processors <= MAX_THREADS ? processors : MAX_THREADS_LARGE;
  const kind = random.uniform();
  if (kind < THREADS_ONLY) return maxThreads;
  if (kind < THREADS_ONLY + PROCESSES_ONLY || maxThreads <= 2) return 1;
  return 2 << random.below(30 - Math.clz32(maxThreads)); // 2 … maxThreads / 2
}

/** Draws run times; returns the sum of processors × run time. */
function drawRuns(size: Int32Array, runS: Float64Array, parameters: ParameterValues, seed: number): number {
  const runs = new Random(seed, "runs");
  const sigma = Number(parameters.sigma);
  const longestS = Number(parameters.longest);
  const medianS = new Map(
    HPC2500_JOBS.map((kind) => [kind.processors, kind.medianCpuMs / 1000 / kind.processors]),
  );
  let area = 0;
  for (let row = 0; row < size.length; row++) {
    const median = medianS.get(size[row])!;
    do {
      runS[row] = Math.max(1, Math.round(median * exp(sigma * runs.normal())));
    } while (runS[row] > longestS);
    area += size[row] * runS[row];
  }
  return area;
}

/** Draws the queue that the user chooses by hand for each job. */
function drawQueues(
  size: Int32Array,
  estimateS: Float64Array,
  shape: ShapeColumns,
  batches: readonly number[],
  careful: number,
  seed: number,
): void {
  const random = new Random(seed, "queues");
  let batch = 0;
  let isCareful = false;
  let taste = 0;
  for (let row = 0; row < size.length; row++) {
    if (row === batches[batch]) {
      batch++;
      isCareful = random.uniform() < careful;
      taste = random.uniform();
    }
    const open = queuesThatAdmit({
      processors: size[row],
      processes: shape.processes[row],
      threads: shape.threads[row],
      estimateS: estimateS[row],
    });
    shape.queue[row] = isCareful ? smallestOf(open) : open[Math.floor(taste * open.length)];
  }
}

function queuesThatAdmit(job: JobShape): number[] {
  return [...HPC2500_CLASSES.keys()].filter(
    (queue) => exceededLimit(HPC2500_CLASSES[queue], job) === undefined,
  );
}

function smallestOf(queues: readonly number[]): number {
  const processors = (queue: number) => HPC2500_CLASSES[queue].processors;
  return queues.reduce((smallest, queue) => (processors(queue) < processors(smallest) ? queue : smallest));
}
