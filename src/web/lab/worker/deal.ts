/** Assigns processors to the jobs of a space-sharing schedule, for a Gantt chart. */
import type { Instance } from "../../../core/jobs.ts";
import type { Schedule } from "../../../core/schedule.ts";
import { dealProcessors } from "../../../metrics/processors.ts";

/** Boxes of a Gantt chart as columns: a job has one for each run of consecutive processors. */
export interface Boxes {
  /** Row of the job in the instance. */
  readonly job: Int32Array;
  readonly first: Int32Array;
  readonly size: Int32Array;
  readonly startS: Float64Array;
  readonly endS: Float64Array;
}

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
