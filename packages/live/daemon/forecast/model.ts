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
 * The live state is a workload like those of files: `prepare` reads it, and the simulator runs it. The input
 * is plain data, so it can be sent to another thread.
 */
import type { Instance, Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { processesOf } from "@tutti/protocol/job-size.ts";
import type { Config } from "../config/config.ts";
import { choosePolicyFor } from "../scheduling/policy-choice.ts";
import { draw, type JobTimes, RunningTimes, remainingMs } from "./running-times.ts";

/** What the scheduler may do, and with which jobs. */
export interface Scenario {
  /** Text of the policy for `choosePolicyFor`. */
  readonly policy: string;
  readonly parameters: PolicyChoice["parameters"];
  readonly processors: number;
  /** Processors that each job of the world gets. */
  readonly size: Int32Array;
  /** Rows of the waiting jobs that take part, in service order; last those that arrive later, by arrival. */
  readonly waiting: Int32Array;
}

export interface ForecastTask extends JobTimes {
  readonly queues: Config["queues"];
  readonly slotS: number;
  /**
   * The live state: jobs with processes arrive at 0, waiting ones at NOW_S or later. Sizes are what jobs ask
   * for, and count for limits. Running times are drawn.
   */
  readonly world: Workload;
  readonly scenarios: readonly Scenario[];
}

/** Numbers of a job in the result: p10, p50 and p90 of its start, then of its end. */
export const NUMBERS_OF_JOB = 6;

const SEED = 20_000;
/**
 * Simulated time of the present: waiting jobs are that late, so that the running ones start first. A power of
 * two, so that adding and subtracting it is exact.
 */
export const NOW_S = 2 ** -10;
/** The resource that policies of space sharing have in their sizes. */
export const MEMORY = "memory";
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
  const { count } = task.world;
  const replications = Math.max(
    MIN_REPLICATIONS,
    Math.min(MAX_REPLICATIONS, Math.floor(MAX_JOB_RUNS / count)),
  );
  const random = new Random(SEED, "forecast");
  const runningTimes = new RunningTimes(task, random);
  const plans = task.scenarios.map((scenario) => {
    const { parameters } = scenario;
    const choice = { ...choosePolicyFor(scenario.policy, task, ownPolicy), parameters };
    return {
      choice,
      instance: instanceOf(task, scenario, choice),
      startsOf: Array.from({ length: count }, (): number[] => []),
      endsOf: Array.from({ length: count }, (): number[] => []),
    };
  });
  for (let i = 0; i === 0 || (i < replications && mayGoOn()); i++) {
    const draw = drawTimes(task, runningTimes.next(), random);
    for (const { instance, choice, startsOf, endsOf } of plans) {
      if (instance === undefined) continue;
      const isShared = choice.definition.sharing === "time";
      const drawn = withTimes(instance, task.running, draw, isShared);
      const { startS, endS } = simulate(drawn, choice, { slotS: task.slotS, switchS: 0 });
      rowsOf(instance).forEach((row, j) => {
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
  return isShared ? timeS : Math.max(0, timeS - NOW_S);
}

/** Quantile of a sorted list by nearest rank. */
export function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/** Times of one replication. Each job draws in its turn, whatever the scenarios do with it. */
function drawTimes(
  { running, estimateMs, ranMs, isLimited, history: { launchMs } }: ForecastTask,
  remainingTimeMs: (row: number) => number,
  random: Random,
): Draw {
  const count = estimateMs.length;
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

/**
 * The jobs that take part and fit the machine, in the order in which they arrive, with the resources and
 * limits that the policy knows. Undefined: there is no machine.
 */
function instanceOf(
  { world, running }: ForecastTask,
  { processors, size, waiting }: Scenario,
  { definition, parameters }: PolicyChoice,
): Instance | undefined {
  if (processors === 0) return undefined;
  const { jobs, shape, limits, resources = [] } = world;
  const { capabilities, copesWith, sharing } = definition;
  const known = copesWith?.(parameters).includes("resources")
    ? resources.filter(({ name }) => sharing === "time" || name !== MEMORY)
    : [];
  const rows = Int32Array.from([...Array.from({ length: running }, (_, row) => row), ...waiting]);
  const processes = size.map((processors, row) => processesOf(processors, shape!.threads[row]));
  const seen = {
    ...world,
    jobs: { ...jobs, size },
    shape: { ...shape!, processes },
    limits: capabilities?.withdraw && limits ? { ...limits, cpus: jobs.size } : undefined,
  };
  return prepare(seen, processors, DEFAULT_RULES, known, rows);
}

/** Rows of the instance's jobs in the world. */
function rowsOf({ id, workloadRow }: Instance): Int32Array {
  return workloadRow ?? id.map((_, row) => row);
}

/** The instance with the times of a replication. @param isShared then work counts in whole slots */
function withTimes(instance: Instance, running: number, draw: Draw, isShared: boolean): Instance {
  const rows = rowsOf(instance);
  // Work in whole slots cannot be delayed by less than a slot.
  const moreS = (row: number) => {
    if (isShared) return 0;
    return row < running ? NOW_S : draw.launchS[row];
  };
  const runS = Float64Array.from(rows, (row) => draw.runS[row] + moreS(row));
  // The policy does not know how long a launch takes, but it knows how long a job has run.
  const estimateS = Float64Array.from(rows, (row, i) =>
    Math.max(runS[i], draw.estimateS[row] + (row < running ? moreS(row) : 0)),
  );
  return { ...instance, runS, estimateS };
}
