import type { JobIndex, JobsView, ReadonlyColumn } from "../core/jobs.ts";
import type { ResourceKind } from "../core/resources.ts";
import type { JobLimits } from "./job-limits.ts";

/** Features of a machine besides processors, and of jobs besides a fixed size. */
export interface MachineFeatures {
  readonly resources?: readonly ResourceKind[] | undefined;
  /** What each job needs of the resources, one column per kind. */
  readonly demand?: readonly ReadonlyColumn[] | undefined;
  readonly molding?: JobsView["molding"];
  /** Left out: none, or the caller keeps the jobs back. */
  readonly limits?: JobLimits | undefined;
  /** Of each job. Left out: that of all jobs is the same, or the caller puts them in order. */
  readonly priority?: ReadonlyColumn | undefined;
}

/** The free resources of a machine. */
export class Stock {
  readonly kinds: readonly ResourceKind[];
  readonly #demand: readonly ReadonlyColumn[];
  readonly #free: number[];

  /** @param demand one column per kind, in the same order, by job */
  constructor(kinds: readonly ResourceKind[], demand: readonly ReadonlyColumn[]) {
    this.kinds = kinds;
    this.#demand = demand;
    this.#free = kinds.map(({ amount }) => amount);
  }

  /** The first kind of which the job needs more than is free; undefined if the job fits. */
  lacking(job: JobIndex): ResourceKind | undefined {
    return this.kinds.find((_, k) => this.#demand[k][job] > this.#free[k]);
  }

  take(job: JobIndex): void {
    for (let k = 0; k < this.#free.length; k++) this.#free[k] -= this.#demand[k][job];
  }

  give(job: JobIndex): void {
    for (let k = 0; k < this.#free.length; k++) this.#free[k] += this.#demand[k][job];
  }
}
