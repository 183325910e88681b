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
import { overrunMs } from "../scheduling/overrun.ts";
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

/** What earlier jobs took. */
export interface History {
  /** Running time ÷ estimate, ascending. */
  readonly ratios: Float64Array;
  /** From the decision to start a job until its process runs. */
  readonly launchMs: Float64Array;
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
  /** 1: the job is ended when its estimate is used up. */
  readonly isLimited: Uint8Array;
  readonly history: History;
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
const MAX_REPLICATIONS = 40;
const MIN_REPLICATIONS = 3;
/** Maximum of jobs × replications. */
const MAX_JOB_RUNS = 20_000;

/** Times of one replication, by job. A running job has the times that are left. */
interface Draw {
  readonly runS: Float64Array;
  readonly launchS: Float64Array;
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
        startsOf[row].push(fromNow(startS[j], isShared) + launchedAfterS(task, draw, row, isShared));
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
function drawTimes(
  { running, job, estimateMs, ranMs, isLimited, history: { ratios, launchMs } }: ForecastTask,
  random: Random,
): Draw {
  const count = job.length;
  const launchS = new Float64Array(count);
  const runS = new Float64Array(count);
  const estimateS = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    runS[row] =
      row < running
        ? drawRemainingMs(estimateMs[row], ranMs[row], isLimited[row] > 0, ratios, random) / 1000
        : (estimateMs[row] / 1000) * draw(ratios, 1, random);
    if (row >= running) launchS[row] = draw(launchMs, 0, random) / 1000;
    const estimated =
      row < running ? remainingMs(estimateMs[row], ranMs[row], isLimited[row] > 0) : estimateMs[row];
    estimateS[row] = Math.max(estimated / 1000, runS[row]);
  }
  return { runS, launchS, estimateS };
}

/**
 * Time from the start of a job in the simulation until its process runs. Under time sharing, a process that
 * is made in one slot runs from the job's next slot on, so nothing is added.
 */
function launchedAfterS(
  { running }: ForecastTask,
  { launchS }: Draw,
  row: number,
  isShared: boolean,
): number {
  return row < running || isShared ? 0 : launchS[row];
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
  const moreS = (row: number) => {
    if (isShared) return 0;
    return isRunning(row) ? ARRIVAL_DELAY_S : draw.launchS[row];
  };
  const runS = Float64Array.from(rows, (row) => draw.runS[row] + moreS(row));
  const columns = {
    id: rows.map((row) => task.job[row]),
    submitS,
    runS,
    size: rows.map((row) => size[row]),
    // The policy does not know how long a launch takes, but it knows how long a job has run.
    estimateS: Float64Array.from(rows, (row, i) =>
      Math.max(runS[i], draw.estimateS[row] + (isRunning(row) ? moreS(row) : 0)),
    ),
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

/**
 * Draws one of the earlier running times that are longer than that so far, and returns the rest.
 * @param ratios ascending
 */
function drawRemainingMs(
  estimateMs: number,
  ranMs: number,
  isLimited: boolean,
  ratios: Float64Array,
  random: Random,
): number {
  const shorter = countUpTo(ratios, ranMs / estimateMs);
  const drawn = random.below(Math.max(1, ratios.length - shorter));
  const runMs = shorter < ratios.length ? estimateMs * ratios[shorter + drawn] : 0;
  return runMs > ranMs ? runMs - ranMs : remainingMs(estimateMs, ranMs, isLimited);
}

/** Number of values up to a value; binary search in an ascending list. */
function countUpTo(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function draw(values: Float64Array, without: number, random: Random): number {
  return values.length === 0 ? without : values[random.below(values.length)];
}

function remainingMs(estimateMs: number, ranMs: number, isLimited: boolean): number {
  return estimateMs > ranMs ? estimateMs - ranMs : overrunMs(ranMs, isLimited);
}
