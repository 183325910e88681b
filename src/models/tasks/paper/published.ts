/** Holds tables 1 to 10 of Silva and Scherson 1999: one run of each scheduler on each of five workloads. */

export const WORKLOADS = ["I/O", "computation", "communication", "synchronisation", "mixed"] as const;
export type WorkloadName = (typeof WORKLOADS)[number];

export const SCHEDULERS = ["gang", "concurrent"] as const;
export type SchedulerName = (typeof SCHEDULERS)[number];

export interface PublishedTable {
  readonly id: string;
  readonly workload: WorkloadName;
  readonly scheduler: SchedulerName;
  /** Rows: simulation time in s, jobs completed, total idle time in %. */
  readonly rows: readonly (readonly [timeS: number, jobs: number, idlePercent: number])[];
}

function table(
  number: number,
  workload: WorkloadName,
  scheduler: SchedulerName,
  jobs: readonly number[],
  idle: readonly number[],
): PublishedTable {
  const times = timesS(workload);
  return {
    id: `Table ${number}`,
    workload,
    scheduler,
    rows: times.map((timeS, row) => [timeS, jobs[row], idle[row]]),
  };
}

/** Simulation times of the rows; the mixed workload has different ones. */
export function timesS(workload: WorkloadName): readonly number[] {
  return workload === "mixed"
    ? [10_000, 20_000, 30_000, 40_000, 50_000]
    : [5000, 10_000, 20_000, 30_000, 40_000];
}

export const PUBLISHED: readonly PublishedTable[] = [
  table(1, "I/O", "gang", [2, 6, 14, 23, 28], [72, 68, 67, 66, 66]),
  table(2, "I/O", "concurrent", [5, 10, 19, 34, 45], [43, 26, 14, 10, 7]),
  table(3, "computation", "gang", [5, 11, 23, 35, 44], [24, 17, 12, 11, 9]),
  table(4, "computation", "concurrent", [8, 12, 25, 37, 48], [10, 6, 4, 3, 2]),
  table(5, "communication", "gang", [3, 6, 17, 31, 35], [43, 39, 34, 32, 31]),
  table(6, "communication", "concurrent", [5, 15, 33, 48, 63], [27, 14, 8, 5, 4]),
  table(7, "synchronisation", "gang", [4, 14, 24, 41, 47], [46, 43, 40, 39, 39]),
  table(8, "synchronisation", "concurrent", [3, 16, 31, 54, 75], [10, 6, 4, 3, 2]),
  table(9, "mixed", "gang", [4, 8, 9, 9, 10], [68, 67, 67, 67, 67]),
  table(10, "mixed", "concurrent", [4, 10, 19, 24, 35], [33, 23, 18, 15, 13]),
];
