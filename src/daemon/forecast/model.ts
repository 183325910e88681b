/**
 * Forecasts when jobs will start and end, by simulating the live state into the future. Running times are
 * sampled from history: the job's estimate × (running time ÷ estimate) of a random earlier job. The
 * simulation is replicated with new running times, all from one seed. The forecast is the 10th, 50th and 90th
 * percentile over the replications. A simulation begins with:
 *
 *   time 0        jobs with processes, with their remaining running times
 *   just after    waiting jobs, in service order
 *
 * Several scenarios, such as with and without another job, get the same running times in each replication, so
 * that they differ only by what the scenario changes (common random numbers).
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

/** What the scheduler may do, and with which jobs. */
export interface Scenario {
  /** Text of the policy for `choosePolicyFor`. */
  readonly policy: string;
  readonly parameters: PolicyChoice["parameters"];
  readonly processors: number;
  /** Processors that each job of the task gets. */
  readonly size: Int32Array;
  /** Rows of the waiting jobs that take part, in service order. */
  readonly waiting: Int32Array;
}

export interface ForecastTask {
  readonly queues: Config["queues"];
  readonly slotS: number;
  /** Number of jobs with a process. They come first in the columns; the other jobs wait. */
  readonly running: number;
  readonly job: Int32Array;
  readonly estimateMs: Float64Array;
  /** Running time so far. */
  readonly ranMs: Float64Array;
  /** Index of the job's queue in `queues`, or −1. */
  readonly queue: Int32Array;
  /** Running time ÷ estimate of earlier jobs. */
  readonly ratios: Float64Array;
  readonly scenarios: readonly Scenario[];
}

/** Numbers of a job in the result: p10, p50 and p90 of its start, then of its end. */
export const NUMBERS_OF_JOB = 6;

const SEED = 20_000;
/**
 * Delay of the waiting jobs, so that the running ones start first. A power of two, so that adding and
 * subtracting it is exact.
 */
const ARRIVAL_DELAY_S = 2 ** -10;
/** A job beyond its estimate is expected to run on for this share of its running time so far. */
const OVERRUN_SHARE = 0.25;
const MAX_REPLICATIONS = 40;
const MIN_REPLICATIONS = 3;
/** Maximum of jobs × replications. */
const MAX_JOB_RUNS = 20_000;

/** Running times of one replication, by job. A running job has the times that are left. */
interface Draw {
  readonly runS: Float64Array;
  readonly estimateS: Float64Array;
}

/**
 * For each scenario and job, in the order of the columns: p10, p50 and p90 of the start, then of the end, in
 * s from now. Infinity: the job never starts, or does not take part.
 * @param mayGoOn whether there is time for another replication
 * @param ownPolicy the user's own policy, if a scenario names its file
 */
export function forecast(
  task: ForecastTask,
  mayGoOn: () => boolean = () => true,
  ownPolicy?: PolicyDefinition,
): Float64Array[] {
  const count = task.job.length;
  const replications = Math.max(
    MIN_REPLICATIONS,
    Math.min(MAX_REPLICATIONS, Math.floor(MAX_JOB_RUNS / count)),
  );
  const random = new Random(SEED, "forecast");
  const plans = task.scenarios.map((scenario) => ({
    scenario,
    choice: { ...choosePolicyFor(scenario.policy, task, ownPolicy), parameters: scenario.parameters },
    rows: rowsOf(task, scenario),
    startsOf: Array.from({ length: count }, (): number[] => []),
    endsOf: Array.from({ length: count }, (): number[] => []),
  }));
  for (let i = 0; i === 0 || (i < replications && mayGoOn()); i++) {
    const draw = drawTimes(task, random);
    for (const { scenario, choice, rows, startsOf, endsOf } of plans) {
      const isShared = choice.definition.sharing === "time";
      const instance = instanceOf(task, scenario, draw, rows, isShared);
      const { startS, endS } = simulate(instance, choice, { slotS: task.slotS, switchS: 0 });
      rows.forEach((row, j) => {
        startsOf[row].push(fromNow(startS[j], isShared));
        endsOf[row].push(fromNow(endS[j], isShared));
      });
    }
  }
  return plans.map(({ startsOf, endsOf }) => {
    const answer = new Float64Array(NUMBERS_OF_JOB * count).fill(Number.POSITIVE_INFINITY);
    for (let row = 0; row < count; row++) {
      if (startsOf[row].length === 0) continue;
      [startsOf[row], endsOf[row]].forEach((times, k) => {
        times.sort((a, b) => a - b);
        [0.1, 0.5, 0.9].forEach((share, i) => {
          answer[NUMBERS_OF_JOB * row + 3 * k + i] = rank(times, share);
        });
      });
    }
    return answer;
  });
}

/**
 * Simulated time as time from now; Infinity for what never happens. Now is when the waiting jobs arrive, but
 * under time sharing it is the beginning of a slot, since nothing happens between slots.
 */
function fromNow(timeS: number, isShared: boolean): number {
  if (Number.isNaN(timeS)) return Number.POSITIVE_INFINITY;
  return isShared ? timeS : Math.max(0, timeS - ARRIVAL_DELAY_S);
}

/** Rows of the jobs that take part, in the order in which they arrive. A job must fit the machine. */
function rowsOf({ running }: ForecastTask, { size, waiting, processors }: Scenario): Int32Array {
  const all = [...Array.from({ length: running }, (_, row) => row), ...waiting];
  return Int32Array.from(all.filter((row) => size[row] <= processors));
}

/** Quantile of a sorted list by nearest rank. */
export function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/** Running times for one replication. Each job draws in its turn, whatever the scenarios do with it. */
function drawTimes({ running, job, estimateMs, ranMs, ratios }: ForecastTask, random: Random): Draw {
  const count = job.length;
  const runS = new Float64Array(count);
  const estimateS = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    runS[row] =
      row < running
        ? drawRemainingMs(estimateMs[row], ranMs[row], ratios, random) / 1000
        : (estimateMs[row] / 1000) * draw(ratios, random);
    const estimated = row < running ? remainingMs(estimateMs[row], ranMs[row]) : estimateMs[row];
    estimateS[row] = Math.max(estimated / 1000, runS[row]);
  }
  return { runS, estimateS };
}

/** @param isShared whether the machine shares its time, so that work counts in whole slots */
function instanceOf(
  task: ForecastTask,
  { size, processors }: Scenario,
  draw: Draw,
  rows: Int32Array,
  isShared: boolean,
): Instance {
  const count = rows.length;
  const isRunning = (row: number) => row < task.running;
  const submitS = Float64Array.from(rows, (row) => (isRunning(row) ? 0 : ARRIVAL_DELAY_S));
  // Work in whole slots cannot be delayed by less than a slot.
  const passedS = (row: number) => (isRunning(row) && !isShared ? ARRIVAL_DELAY_S : 0);
  const columns = {
    id: rows.map((row) => task.job[row]),
    submitS,
    runS: Float64Array.from(rows, (row) => draw.runS[row] + passedS(row)),
    size: rows.map((row) => size[row]),
    estimateS: Float64Array.from(rows, (row) => draw.estimateS[row] + passedS(row)),
  };
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
    shape: {
      processes: columns.size,
      threads: new Int32Array(count).fill(1),
      queue: rows.map((row) => task.queue[row]),
    },
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
