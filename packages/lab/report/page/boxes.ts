/** The boxes of a Gantt chart: which job ran on which processors, and when. */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { dealProcessors } from "@tutti/kernel/metrics/processors.ts";
import type { MatrixRecord } from "../../results/matrix-record.ts";

/** Boxes of a Gantt chart as columns: a job has one for each run of consecutive processors. */
export interface Boxes {
  /** Row of the job in the instance. */
  readonly job: Int32Array;
  readonly first: Int32Array;
  readonly size: Int32Array;
  readonly startS: Float64Array;
  readonly endS: Float64Array;
}

export interface TimeSpan {
  readonly fromS: number;
  readonly toS: number;
}

/** Those of gangs: where each was placed first. */
export function gangBoxes(
  { boxJob: job, boxFirst: first, boxSize: size }: MatrixRecord,
  { startS, endS }: Schedule,
): Boxes {
  return {
    ...{ job, first, size },
    startS: Float64Array.from(job, (row) => startS[row]),
    endS: Float64Array.from(job, (row) => endS[row]),
  };
}

/** Those of a space-sharing policy, whose jobs get the free processors with the lowest numbers. */
export function dealtBoxes(instance: Instance, schedule: Schedule): Boxes {
  const { stretches, offset, first, size } = dealProcessors(instance, schedule);
  const job = new Int32Array(first.length);
  const startS = new Float64Array(first.length);
  const endS = new Float64Array(first.length);
  for (let row = 0; row < stretches.size.length; row++) {
    for (let box = offset[row]; box < offset[row + 1]; box++) {
      job[box] = stretches.jobOf(row);
      startS[box] = stretches.startS[row];
      endS[box] = stretches.endS[row];
    }
  }
  return { job, first, size, startS, endS };
}

/** Those that are at least partly in the span; boxes without a start or an end are in none. */
export function boxesWithin({ job, first, size, startS, endS }: Boxes, { fromS, toS }: TimeSpan): Boxes {
  const isWithin = (_: number, box: number) => startS[box] <= toS && endS[box] >= fromS;
  return {
    job: job.filter(isWithin),
    first: first.filter(isWithin),
    size: size.filter(isWithin),
    startS: startS.filter(isWithin),
    endS: endS.filter(isWithin),
  };
}
