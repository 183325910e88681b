/**
 * Computes the result of a cell of the kind `queues`: waits by queue class under connected reservation, with
 * the classes of the HPC2500.
 */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { SpacePolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { HPC2500_CLASSES } from "@tutti/kernel/core/queue-classes.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { quantilesInPlace } from "@tutti/kernel/core/selection.ts";
import {
  ConnectedReservation,
  connectedReservation,
} from "@tutti/kernel/policies/space/connected-reservation.ts";
import { selectQueue } from "@tutti/kernel/policies/space/queue-selection.ts";
import { simulatePool } from "@tutti/kernel/simulator/pool.ts";
import { HPC2500_JOBS } from "@tutti/kernel/workload/models/hpc2500.ts";
import type { CellInputs, MachineCell } from "@tutti/lab/experiments/cell.ts";

/** The queues of table 2, then all jobs together. */
export const QUEUE_NAMES: readonly string[] = [...HPC2500_CLASSES.map((queue) => queue.name), "all"];

/** Results of one run: values by queue; the last value covers all jobs. */
export interface QueuesResult {
  readonly jobs: readonly number[];
  readonly medianWaitS: readonly number[];
  readonly maxWaitS: readonly number[];
  /** Median wait of the jobs that automatic selection puts into the queue, whichever queue they waited in. */
  readonly medianByShapeS: readonly number[];
  /** Connected reservations made. */
  readonly reservations: readonly number[];
  /**
   * Share of the machine's time, up to the last submit, for which processors were held for requesters; one
   * value.
   */
  readonly heldShare: readonly number[];
  /** Median CPU time in ms of the drawn jobs, by the degrees of parallelism of table 1. */
  readonly medianCpuMs: readonly number[];
}

/** Uses only the parameters of the cell's policy, which is connected reservation. */
export async function runQueues(cell: MachineCell, inputs: CellInputs): Promise<QueuesResult> {
  const { instance, choice } = await inputs.ready(cell);
  const { parameters } = choice;
  const automatic = automaticQueues(instance);
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
    jobs: byQueue.map((waits) => waits.length),
    medianWaitS: byQueue.map(median),
    maxWaitS: byQueue.map((waits) => waits.reduce((max, waitS) => Math.max(max, waitS), 0)),
    medianByShapeS: waitsBy(automatic, instance, schedule).map(median),
    reservations,
    heldShare: [heldArea / (instance.processors * (lastSubmitS - instance.submitS[0]))],
    medianCpuMs: cpuTimes(instance),
  };
}

/** Waits by queue; the last list has all of them. */
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
