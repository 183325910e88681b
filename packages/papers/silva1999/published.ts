/** Tables 1 to 10 of Silva and Scherson 1999: one run of each scheduler on each of five workloads. */

import numbers from "../../../docs/papers/silva1999.numbers.json" with { type: "json" };
import nearest from "../../../docs/studies/silva1999-nearest.json" with { type: "json" };

export const WORKLOADS = ["I/O", "computation", "communication", "synchronisation", "mixed"] as const;
export type WorkloadName = (typeof WORKLOADS)[number];

export const SCHEDULERS = ["gang", "concurrent"] as const;
export type SchedulerName = (typeof SCHEDULERS)[number];

export interface PublishedTable {
  readonly id: string;
  readonly workload: WorkloadName;
  readonly scheduler: SchedulerName;
  /** One value for each row: simulation time, jobs completed by then, and total idle time. */
  readonly timesS: readonly number[];
  readonly jobs: readonly number[];
  readonly idlePercent: readonly number[];
}

export const MEASURES = ["jobs", "idlePercent"] as const;
export type PrintedMeasure = (typeof MEASURES)[number];

export const OUR_CHOICE = "our choice";
/**
 * Written by `npm run studies -- silva1999-settings`: for each column of the paper, such as `Table 1 jobs`,
 * the setting whose column comes nearest, by the mean |ln(ours ÷ published)|, and its five values. Our
 * choice, unless another setting is nearer by a fifth.
 */
export const STUDIED: Readonly<
  Record<string, { readonly setting: string; readonly tried: number; readonly values: readonly number[] }>
> = nearest;

export const PUBLISHED = numbers.tables as readonly PublishedTable[];

/** Simulation times of the rows; the mixed workload has different ones. */
export function timesS(workload: WorkloadName): readonly number[] {
  return PUBLISHED.find((table) => table.workload === workload)!.timesS;
}
