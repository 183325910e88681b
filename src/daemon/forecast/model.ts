/**
 * Forecasts when waiting jobs will start, by simulating the live state into the future. Running times are
 * sampled from history: the job's estimate × (running time ÷ estimate) of a random earlier job. The
 * simulation is replicated with new running times, all from one seed. The forecast is the 10th, 50th and 90th
 * percentile over the replications. A simulation begins with:
 *
 *   time 0        jobs with processes, with their remaining running times
 *   just after    waiting jobs, in service order
 *
 * The input is plain data, so it can be sent to another thread.
 */
import type { Instance } from "../../core/jobs.ts";
import type { PolicyChoice, PolicyDefinition } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { simulate } from "../../simulator/simulate.ts";
import type { Config } from "../config/config.ts";
import { choosePolicyFor } from "../scheduling/policy-choice.ts";

export interface ForecastTask {
  /** Text of the policy for `choosePolicyFor`. */
  readonly policy: string;
  readonly parameters: PolicyChoice["parameters"];
  readonly queues: Config["queues"];
  readonly slotS: number;
  readonly processors: number;
  /** Number of jobs with a process. They come first in the columns; the other jobs wait. */
  readonly running: number;
  readonly job: Int32Array;
  readonly size: Int32Array;
  readonly estimateMs: Float64Array;
  /** Running time so far. */
  readonly ranMs: Float64Array;
  /** Running time ÷ estimate of earlier jobs. */
  readonly ratios: Float64Array;
}

const SEED = 20_000;
/** Delay of the waiting jobs, so that the running ones start first. */
const ARRIVAL_DELAY_S = 0.001;
/** A job beyond its estimate is expected to run on for this share of its running time so far. */
const OVERRUN_SHARE = 0.25;
const MAX_REPLICATIONS = 40;
const MIN_REPLICATIONS = 3;
/** Maximum of jobs × replications. */
const MAX_JOB_RUNS = 20_000;

/**
 * Starts of the waiting jobs in s from now: p10, p50, p90 of the first job, then of the second, and so on;
 * Infinity if the job never starts.
 * @param mayGoOn whether there is time for another replication
 * @param ownPolicy the user's own policy, if the task names its file
 */
export function forecastStarts(
  task: ForecastTask,
  mayGoOn: () => boolean = () => true,
  ownPolicy?: PolicyDefinition,
): Float64Array {
  const count = task.job.length;
  const waiting = count - task.running;
  const choice = { ...choosePolicyFor(task.policy, task, ownPolicy), parameters: task.parameters };
  const replications = Math.max(
    MIN_REPLICATIONS,
    Math.min(MAX_REPLICATIONS, Math.floor(MAX_JOB_RUNS / count)),
  );
  const random = new Random(SEED, "forecast");
  const startsOfJob = Array.from({ length: waiting }, (): number[] => []);
  for (let i = 0; i === 0 || (i < replications && mayGoOn()); i++) {
    const { startS } = simulate(instanceOf(task, random), choice, { slotS: task.slotS, switchS: 0 });
    startsOfJob.forEach((starts, j) => {
      const s = startS[task.running + j];
      starts.push(Number.isNaN(s) ? Number.POSITIVE_INFINITY : s);
    });
  }
  const answer = new Float64Array(3 * waiting);
  startsOfJob.forEach((starts, j) => {
    starts.sort((a, b) => a - b);
    [0.1, 0.5, 0.9].forEach((share, i) => {
      answer[3 * j + i] = rank(starts, share);
    });
  });
  return answer;
}

/** Quantile of a sorted list by nearest rank. */
export function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

function instanceOf(
  { running, job, size, estimateMs, ranMs, ratios, processors }: ForecastTask,
  random: Random,
): Instance {
  const count = job.length;
  const submitS = new Float64Array(count).fill(ARRIVAL_DELAY_S, running);
  const runS = new Float64Array(count);
  const estimateS = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    runS[i] =
      i < running
        ? drawRemainingMs(estimateMs[i], ranMs[i], ratios, random) / 1000
        : (estimateMs[i] / 1000) * draw(ratios, random);
    const estimated = i < running ? remainingMs(estimateMs[i], ranMs[i]) : estimateMs[i];
    estimateS[i] = Math.max(estimated / 1000, runS[i]);
  }
  const columns = { id: job, submitS, runS, size, estimateS };
  return {
    workload: {
      name: "live state",
      count,
      jobs: columns,
      processors,
      trace: undefined,
      header: [],
      diagnostics: [],
    },
    processors,
    rules: DEFAULT_RULES,
    count,
    ...columns,
    workloadRow: undefined,
    diagnostics: [],
  };
}

/** Draws a running time longer than that so far, and returns the rest. */
function drawRemainingMs(estimateMs: number, ranMs: number, ratios: Float64Array, random: Random): number {
  for (let tries = 0; tries < 20; tries++) {
    const runMs = estimateMs * draw(ratios, random);
    if (runMs > ranMs) return runMs - ranMs;
  }
  return remainingMs(estimateMs, ranMs);
}

function draw(ratios: Float64Array, random: Random): number {
  return ratios.length === 0 ? 1 : ratios[random.below(ratios.length)];
}

function remainingMs(estimateMs: number, ranMs: number): number {
  return estimateMs > ranMs ? estimateMs - ranMs : OVERRUN_SHARE * ranMs + 1000;
}
