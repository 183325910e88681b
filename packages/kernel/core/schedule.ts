/** Defines the result of a simulation: when each job ran, and how the machine's state changed over time. */
import type { Instance, JobIndex } from "./jobs.ts";
import type { RowId, StartRule } from "./policy.ts";

export interface Schedule {
  /** First instant at which the job ran; NaN for a job that never started. */
  readonly startS: Float64Array;
  /** Instant at which the job ended; NaN for a job that never did. */
  readonly endS: Float64Array;
  /** Instants decided, and jobs started by each start rule (index: StartRule). */
  readonly instants: number;
  readonly startsByRule: readonly number[];
  /**
   * Sizes that the jobs got and their run times at these sizes; undefined if no job could get another size.
   */
  readonly given?: Pick<Instance, "size" | "runS"> | undefined;
  /**
   * Times during which started jobs were stopped, in order of their beginning; undefined if there are none.
   */
  readonly pauses?: readonly Pause[] | undefined;
  /** Only time sharing has rows. */
  readonly gang: GangRecord | undefined;
}

/** The instance with the sizes that its jobs got and their run times at these sizes. */
export function asGiven(instance: Instance, { given }: Schedule): Instance {
  return given === undefined ? instance : { ...instance, ...given };
}

export interface Pause {
  readonly job: JobIndex;
  readonly fromS: number;
  /** NaN for a job that never continued. */
  untilS: number;
}

export interface GangRecord {
  readonly slotS: number;
  readonly switchS: number;
  /** Times at which the number of rows changed, ascending. The record begins at the first submit. */
  readonly rowsAtS: Float64Array;
  /** Number of rows from each of these times on. */
  readonly rows: Int32Array;
  /** Largest number of rows at any time (n_l of zhou2000). */
  readonly maxRows: number;
  /** Sum over jobs of slots received × processors. */
  readonly activeProcessorSlots: number;
  /** Slots between the first submit and the last end, empty ones included. */
  readonly slots: number;
  /** How often a job was given one more slot per round (unification counts of zhou1999, section 2). */
  readonly unifications: number;
  /** How often a job changed its row in an exchange, both rows' jobs counted. */
  readonly moves: number;
  /** How often a gang moved to other processors. */
  readonly migrations: number;
  /** Seconds of service that all migrations cost together. */
  readonly migrationS: number;
}

/**
 * Listens to a simulation: the checker, the explanation and the decision log are observers. All times in
 * seconds.
 */
export interface Observer {
  arrived?(timeS: number, job: JobIndex): void;
  departed?(timeS: number, job: JobIndex): void;
  /** The job that starts or is placed next gets a size other than the one it asks for. */
  molded?(timeS: number, job: JobIndex, size: number): void;
  started?(timeS: number, job: JobIndex, rule: StartRule): void;
  /** The job has been stopped and its processors are free; it keeps the work that it has done. */
  suspended?(timeS: number, job: JobIndex): void;
  /** The job is waiting again. */
  resumed?(timeS: number, job: JobIndex): void;
  promised?(timeS: number, job: JobIndex, startS: number): void;
  /** After each `decide`. */
  decided?(timeS: number): void;
  /**
   * @param stretches only if the processors are not consecutive: first processor and end of each stretch in
   *   turn
   */
  placed?(timeS: number, job: JobIndex, row: RowId, first: number, stretches?: readonly number[]): void;
  released?(timeS: number, job: JobIndex, row: RowId): void;
  rowAdded?(timeS: number, row: RowId): void;
  rowDeleted?(timeS: number, row: RowId): void;
  exchanged?(timeS: number, a: RowId, b: RowId, first: number, end: number): void;
  /**
   * The job has moved to the processors from `first` on, in the row, and needs `costS` more seconds of
   * service.
   */
  migrated?(timeS: number, job: JobIndex, row: RowId, first: number, costS: number): void;
}
