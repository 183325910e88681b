/**
 * What is simulated for Kawanami, Yoshihisa and Kanazawa 2008: the same jobs under each scheduler, once per seed (common
 * random numbers), and what is measured of each run.
 */
import type { Instance } from "../../../core/jobs.ts";
import { parseParameters } from "../../../core/parameters.ts";
import type { SpacePolicyDefinition } from "../../../core/policy.ts";
import { HPC2500_CLASSES } from "../../../core/queue-classes.ts";
import { DEFAULT_RULES } from "../../../core/rules.ts";
import type { Schedule } from "../../../core/schedule.ts";
import { quantilesInPlace } from "../../../metrics/order.ts";
import { makeChoice } from "../../../policies/choose.ts";
import { ConnectedReservation, connectedReservation } from "../../../policies/space/connected-reservation.ts";
import { selectQueue } from "../../../policies/space/queue-selection.ts";
import { simulatePool } from "../../../simulator/pool.ts";
import { HPC2500_JOBS, hpc2500 } from "../../../workload/models/hpc2500.ts";
import { prepare } from "../../../workload/prepare.ts";

/** The schedulers of section 4, and the conventional one without the limit on passing, whose value the paper does not print. */
export const SCHEDULERS = {
  conventional: {
    title: "conventional",
    meaning:
      "queues chosen by hand, first fit; running jobs that passed others have at most one node of 128 processors together",
    settings: ["selection=user", "reservations=none", `passing=${128 / 1408}`],
  },
  unlimited: {
    title: "conventional, free passing",
    meaning: "the same without the limit on jobs that passed others",
    settings: ["selection=user", "reservations=none"],
  },
  proposal1: {
    title: "proposal 1",
    meaning: "automatic queue selection, first fit, no reservations",
    settings: ["selection=automatic", "reservations=none"],
  },
  proposal2: {
    title: "proposal 2",
    meaning: "automatic queue selection, first fit, connected reservations within the limits of table 4",
    settings: ["selection=automatic", "reservations=limited"],
  },
} as const;

export type SchedulerKey = keyof typeof SCHEDULERS;
export const SCHEDULER_KEYS = Object.keys(SCHEDULERS) as SchedulerKey[];

/** The queues of table 2, and all jobs together behind them. */
export const QUEUE_NAMES: readonly string[] = [...HPC2500_CLASSES.map((one) => one.name), "all"];

export interface SeedCell {
  readonly seed: number;
}

/** One run: values by queue, the last one over all jobs. */
export interface RunNumbers {
  readonly jobs: readonly number[];
  readonly medianWaitS: readonly number[];
  readonly maxWaitS: readonly number[];
  /** Median wait of the jobs that automatic selection puts into the queue, wherever they waited. */
  readonly medianByShapeS: readonly number[];
  /** Connected reservations made. */
  readonly reservations: readonly number[];
  /** Share of the machine's time, up to the last submit, that was held back for requesters; one value. */
  readonly heldShare: readonly number[];
}

export interface SeedNumbers {
  readonly runs: Readonly<Record<SchedulerKey, RunNumbers>>;
  /** Median CPU time in ms of the drawn jobs, by the degrees of parallelism of table 1. */
  readonly medianCpuMs: readonly number[];
}

/** All schedulers on the jobs of one seed. */
export function runSeed({ seed }: SeedCell): SeedNumbers {
  const workload = hpc2500.generate(parseParameters('model "hpc2500"', hpc2500.parameters, []), seed);
  const instance = prepare(workload, workload.processors!, DEFAULT_RULES);
  const automatic = automaticQueues(instance);
  const runs = Object.fromEntries(SCHEDULER_KEYS.map((key) => [key, runScheduler(instance, key, automatic)]));
  return { runs: runs as Record<SchedulerKey, RunNumbers>, medianCpuMs: cpuTimes(instance) };
}

function runScheduler(instance: Instance, key: SchedulerKey, automatic: Int32Array): RunNumbers {
  const { parameters } = makeChoice(connectedReservation, SCHEDULERS[key].settings);
  const queueOf = parameters.selection === "user" ? instance.shape!.queue : automatic;
  const reservations = new Array<number>(QUEUE_NAMES.length).fill(0);
  const lastSubmitS = instance.submitS[instance.count - 1];
  let policy: ConnectedReservation | undefined;
  let heldArea = 0;
  let held = 0;
  let heldFromS = instance.submitS[0];
  const watched: SpacePolicyDefinition = {
    ...connectedReservation,
    make(pool, jobs, values) {
      policy = new ConnectedReservation(pool, jobs, values, HPC2500_CLASSES);
      return policy;
    },
  };
  const schedule = simulatePool(instance, watched, parameters, {
    observer: {
      promised(_timeS, job) {
        reservations[queueOf[job]]++;
        reservations[QUEUE_NAMES.length - 1]++;
      },
      decided(timeS) {
        if (timeS > lastSubmitS) return;
        heldArea += held * (timeS - heldFromS);
        held = policy!.book.held;
        heldFromS = timeS;
      },
    },
  });
  const byQueue = waitsBy(queueOf, instance, schedule);
  return {
    jobs: byQueue.map((one) => one.length),
    medianWaitS: byQueue.map(median),
    maxWaitS: byQueue.map((one) => one.reduce((most, waitS) => Math.max(most, waitS), 0)),
    medianByShapeS: waitsBy(automatic, instance, schedule).map(median),
    reservations,
    heldShare: [heldArea / (instance.processors * (lastSubmitS - instance.submitS[0]))],
  };
}

/** Waits by queue, the last list with all of them. */
function waitsBy(queueOf: Int32Array, instance: Instance, schedule: Schedule): number[][] {
  const waits: number[][] = QUEUE_NAMES.map(() => []);
  for (let job = 0; job < instance.count; job++) {
    const waitS = schedule.startS[job] - instance.submitS[job];
    waits[queueOf[job]].push(waitS);
    waits[QUEUE_NAMES.length - 1].push(waitS);
  }
  return waits;
}

function automaticQueues(instance: Instance): Int32Array {
  const { processes, threads } = instance.shape!;
  return Int32Array.from({ length: instance.count }, (_, job) =>
    selectQueue(HPC2500_CLASSES, {
      processors: instance.size[job],
      processes: processes[job],
      threads: threads[job],
      estimateS: instance.estimateS[job],
    }),
  );
}

function cpuTimes(instance: Instance): number[] {
  return HPC2500_JOBS.map(({ processors }) => {
    const cpuMs: number[] = [];
    for (let job = 0; job < instance.count; job++) {
      if (instance.size[job] === processors) cpuMs.push(instance.runS[job] * processors * 1000);
    }
    return median(cpuMs);
  });
}

function median(values: readonly number[]): number {
  const [cut] = quantilesInPlace(Float64Array.from(values), 0, values.length, [0.5]);
  return cut ?? Number.NaN;
}
