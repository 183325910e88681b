/**
 * Forecasts when jobs will start and end, by simulating the live state into the future. Running times come
 * from history (running-times.ts). The simulation is replicated with new running times, all from one seed.
 * The forecast is the 10th, 50th and 90th percentile over the replications. A simulation begins with:
 *
 *   time 0        jobs with processes, with their remaining running times
 *   just after    waiting jobs, in service order
 *   later         jobs that wait for their begin, or for their next attempt
 *
 * Several scenarios, such as with and without another job, get the same running times in each replication, so
 * that they differ only by what the scenario changes (common random numbers).
 *
 * The input is plain data, so it can be sent to another thread.
 */
import type { WorkloadShares } from "../../core/fair-share.ts";
import type { Withdrawal } from "../../core/interruptions.ts";
import type { Instance } from "../../core/jobs.ts";
import type { WorkloadLimits } from "../../core/limits/job-limits.ts";
import type { PolicyChoice, PolicyDefinition } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import type { ResourceKind } from "../../core/resources.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { processesOf } from "../../protocol/job-size.ts";
import { simulate } from "../../simulator/simulate.ts";
import type { Config } from "../config/config.ts";
import { choosePolicyFor } from "../scheduling/policy-choice.ts";
import { draw, type JobTimes, RunningTimes, remainingMs } from "./running-times.ts";

/** What the scheduler may do, and with which jobs. */
export interface Scenario {
  /** Text of the policy for `choosePolicyFor`. */
  readonly policy: string;
  readonly parameters: PolicyChoice["parameters"];
  readonly processors: number;
  /** Processors that each job of the task gets. */
  readonly size: Int32Array;
  /** What is counted besides processors: units of countable resources and, under time sharing, memory. */
  readonly resources: readonly ResourceKind[];
  /** How much of them each job of the task needs, one column per kind. */
  readonly demand: readonly Int32Array[];
  /** Rows of the waiting jobs that take part, in service order; last those that arrive later, by arrival. */
  readonly waiting: Int32Array;
}

/** By row, for how many processors a job counts, and whether it has been let through. */
interface LiveLimits extends WorkloadLimits {
  readonly cpus: Int32Array;
  readonly isThrough: Uint8Array;
}

export interface ForecastTask extends JobTimes {
  readonly queues: Config["queues"];
  readonly slotS: number;
  readonly job: Int32Array;
  /** How long from now a waiting job joins the queue, because it waits for its begin; else 0. */
  readonly arrivesInMs: Float64Array;
  /** When waiting jobs may not start because of windows, from now. */
  readonly closed: readonly { readonly row: number; readonly fromMs: number; readonly untilMs: number }[];
  /** Index of the job's queue in `queues`, or −1. */
  readonly queue: Int32Array;
  /** CPUs of each task. */
  readonly threads: Int32Array;
  /** Name of each job's user. */
  readonly users: readonly string[];
  /** With the usage that counts now. */
  readonly shares: WorkloadShares;
  /** Limits on the jobs of these users; left out: none. Only policies that can withdraw jobs know them. */
  readonly limits?: LiveLimits | undefined;
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
  const runningTimes = new RunningTimes(task, random);
  const plans = task.scenarios.map((scenario) => ({
    scenario,
    choice: { ...choosePolicyFor(scenario.policy, task, ownPolicy), parameters: scenario.parameters },
    rows: rowsOf(task, scenario),
    startsOf: Array.from({ length: count }, (): number[] => []),
    endsOf: Array.from({ length: count }, (): number[] => []),
  }));
  for (let i = 0; i === 0 || (i < replications && mayGoOn()); i++) {
    const draw = drawTimes(task, runningTimes.next(), random);
    for (const { scenario, choice, rows, startsOf, endsOf } of plans) {
      const isShared = choice.definition.sharing === "time";
      const instance = instanceOf(task, scenario, draw, rows, choice.definition);
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
function rowsOf({ running }: ForecastTask, scenario: Scenario): Int32Array {
  const { size, waiting, processors, resources, demand } = scenario;
  const all = [...Array.from({ length: running }, (_, row) => row), ...waiting];
  const fits = (row: number) =>
    size[row] <= processors && resources.every(({ amount }, k) => demand[k][row] <= amount);
  return Int32Array.from(all.filter(fits));
}

/** Quantile of a sorted list by nearest rank. */
export function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/** Times of one replication. Each job draws in its turn, whatever the scenarios do with it. */
function drawTimes(
  { running, job, estimateMs, ranMs, isLimited, history: { launchMs } }: ForecastTask,
  remainingTimeMs: (row: number) => number,
  random: Random,
): Draw {
  const count = job.length;
  const launchS = new Float64Array(count);
  const runS = new Float64Array(count);
  const estimateS = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    runS[row] = remainingTimeMs(row) / 1000;
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

function instanceOf(
  task: ForecastTask,
  { size, processors, resources, demand }: Scenario,
  draw: Draw,
  rows: Int32Array,
  { sharing, capabilities }: PolicyDefinition,
): Instance {
  const count = rows.length;
  const { limits } = task;
  // Then work counts in whole slots.
  const isShared = sharing === "time";
  const isRunning = (row: number) => row < task.running;
  const submitS = Float64Array.from(rows, (row) =>
    isRunning(row) ? 0 : ARRIVAL_DELAY_S + task.arrivesInMs[row] / 1000,
  );
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
      shares: task.shares,
      ...(limits !== undefined &&
        capabilities?.withdraw && {
          limits: {
            ...limits,
            cpus: rows.map((row) => limits.cpus[row]),
            isThrough: Uint8Array.from(rows, (row) => limits.isThrough[row]),
          },
        }),
      notes: Array.from(rows, (row) => ({
        user: task.users[row],
        queue: task.queues[task.queue[row]]?.queueClass.name,
      })),
      trace: undefined,
      header: [],
      diagnostics: [],
    },
    processors,
    rules: DEFAULT_RULES,
    count,
    ...columns,
    shape: {
      processes: rows.map((row) => processesOf(size[row], task.threads[row])),
      threads: rows.map((row) => task.threads[row]),
      queue: rows.map((row) => task.queue[row]),
    },
    ...(resources.length > 0 && {
      resources,
      demand: demand.map((column) => rows.map((row) => column[row])),
    }),
    ...(task.closed.length > 0 && {
      interruptions: { outages: [], stops: [], withdrawals: withdrawalsOf(task.closed, rows) },
    }),
    workloadRow: undefined,
    diagnostics: [],
  };
}

/** @param rows of the jobs that take part */
function withdrawalsOf(closed: ForecastTask["closed"], rows: Int32Array): Withdrawal[] {
  const jobOf = new Map(Array.from(rows, (row, job) => [row, job]));
  const timeS = (ms: number) => ARRIVAL_DELAY_S + Math.max(0, ms) / 1000;
  return closed.flatMap(({ row, fromMs, untilMs }) => {
    const job = jobOf.get(row);
    return job === undefined ? [] : [{ job, fromS: timeS(fromMs), untilS: timeS(untilMs) }];
  });
}
