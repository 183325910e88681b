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
 * The live state is a workload like those of files: `prepare` reads it, and the simulator runs it.
 */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { processesOf } from "@tutti/protocol/job-size.ts";
import { choosePolicyFor } from "../scheduling/policy-choice.ts";
import { type Draw, KeptOutcomes, type Outcome } from "./kept-outcomes.ts";
import { draw, RunningTimes, remainingMs } from "./running-times.ts";
import type { ForecastTask, Scenario } from "./task.ts";

/** Numbers of a job in the result: p10, p50 and p90 of its start, then of its end. */
export const NUMBERS_OF_JOB = 6;
const SHARES = [0.1, 0.5, 0.9];

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

/**
 * For each scenario and job, in the order of the columns: p10, p50 and p90 of the start, then of the end, in
 * s from now. Infinity: the job never starts, or does not take part.
 * @param mayGoOn whether there is time for another replication
 * @param ownPolicy the user's own policy, if a scenario names its file
 * @param kept what earlier forecasts simulated
 */
export function forecast(
  task: ForecastTask,
  mayGoOn: () => boolean = () => true,
  ownPolicy?: PolicyDefinition,
  kept = new KeptOutcomes(),
): Float64Array[] {
  const { count } = task.world;
  const replications = Math.max(
    MIN_REPLICATIONS,
    Math.min(MAX_REPLICATIONS, Math.floor(MAX_JOB_RUNS / count)),
  );
  const random = new Random(SEED, "forecast");
  const runningTimes = new RunningTimes(task, random);
  kept.begin(task);
  const plans = task.scenarios.map((scenario) => {
    const { parameters } = scenario;
    const choice = { ...choosePolicyFor(scenario.policy, task, ownPolicy), parameters };
    // A user's file may say something else the next time.
    const outcomes = choice.definition === ownPolicy ? [] : kept.of(scenario);
    let instance: Instance | undefined;
    const simulated = (draw: Draw) => {
      instance ??= instanceOf(task, scenario, choice);
      return outcomeOf(task, instance, choice, draw);
    };
    return { hasMachine: scenario.processors > 0, outcomes, simulated };
  });
  let done = 0;
  while (done === 0 || (done < replications && mayGoOn())) {
    const draw = drawTimes(task, runningTimes.next(), random);
    kept.drawn(done, draw);
    for (const { hasMachine, outcomes, simulated } of plans)
      if (hasMachine) outcomes[done] ??= simulated(draw);
    done++;
  }
  return plans.map(({ outcomes }) => quantilesOf(outcomes.slice(0, done), count));
}

/** Simulates one replication. */
function outcomeOf(task: ForecastTask, instance: Instance, choice: PolicyChoice, draw: Draw): Outcome {
  const { count } = task.world;
  const isShared = choice.definition.sharing === "time";
  const drawn = withTimes(instance, task.running, draw, isShared);
  const schedule = simulate(drawn, choice, { slotS: task.slotS, switchS: 0 });
  const startS = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const endS = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  rowsOf(instance).forEach((row, j) => {
    startS[row] = fromNow(schedule.startS[j], isShared) + launchedAfterS(task, draw, row, isShared);
    endS[row] = fromNow(schedule.endS[j], isShared);
  });
  return { startS, endS };
}

/** The numbers of `count` jobs, of which the last ones may be in no outcome. */
function quantilesOf(outcomes: readonly Outcome[], count: number): Float64Array {
  const answer = new Float64Array(NUMBERS_OF_JOB * count).fill(Number.POSITIVE_INFINITY);
  const known = outcomes.length === 0 ? 0 : Math.min(count, outcomes[0].startS.length);
  const times = outcomes.map(() => 0);
  for (const [k, column] of (["startS", "endS"] as const).entries()) {
    const columns = outcomes.map((outcome) => outcome[column]);
    for (let row = 0; row < known; row++) {
      for (let i = 0; i < columns.length; i++) times[i] = columns[i][row];
      times.sort((a, b) => a - b);
      for (let i = 0; i < SHARES.length; i++)
        answer[NUMBERS_OF_JOB * row + 3 * k + i] = rank(times, SHARES[i]);
    }
  }
  return answer;
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
 * limits that the policy knows.
 */
function instanceOf(
  { world, running }: ForecastTask,
  { processors, size, waiting }: Scenario,
  { definition, parameters }: PolicyChoice,
): Instance {
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
