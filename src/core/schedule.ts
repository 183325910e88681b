/** What a simulation returns: when each job ran, and how the machine's state changed over time. */
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
  /** Sizes that the jobs were given, and their run times on them; undefined where no job could run on another size than its own. */
  readonly given?: Pick<Instance, "size" | "runS"> | undefined;
  /** Times in which jobs that had started were stopped, in order of their beginning; undefined for none. */
  readonly pauses?: readonly Pause[] | undefined;
  /** Only time sharing has rows. */
  readonly gang: GangRecord | undefined;
}

/** The instance with the sizes that its jobs were given, and their run times on them. */
export function asGiven(instance: Instance, { given }: Schedule): Instance {
  return given === undefined ? instance : { ...instance, ...given };
}

export interface Pause {
  readonly job: JobIndex;
  readonly fromS: number;
  /** NaN for a job that did not go on. */
  untilS: number;
}

export interface GangRecord {
  readonly slotS: number;
  readonly switchS: number;
  /** Times at which the number of rows changed, ascending, and the number from then on. The record begins at the first submit. */
  readonly rowsAtS: Float64Array;
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
  /** How often a gang was moved to other processors, and the seconds of its service that each time cost, summed over the gangs. */
  readonly migrations: number;
  readonly migrationS: number;
}

/** Listens to a simulation: the checker, the explanation and the decision log are observers. All times in seconds. */
export interface Observer {
  arrived?(timeS: number, job: JobIndex): void;
  departed?(timeS: number, job: JobIndex): void;
  /** The job that starts next, or is placed next, has been given another size than it asks for. */
  molded?(timeS: number, job: JobIndex, size: number): void;
  started?(timeS: number, job: JobIndex, rule: StartRule): void;
  /** The job has been stopped and has given its processors back; it keeps the work that it has done. */
  suspended?(timeS: number, job: JobIndex): void;
  /** It waits anew. */
  resumed?(timeS: number, job: JobIndex): void;
  promised?(timeS: number, job: JobIndex, startS: number): void;
  /** After each `decide`. */
  decided?(timeS: number): void;
  /** `stretches` only when the processors do not stand side by side: first processor and end of each stretch in turn. */
  placed?(timeS: number, job: JobIndex, row: RowId, first: number, stretches?: readonly number[]): void;
  released?(timeS: number, job: JobIndex, row: RowId): void;
  rowAdded?(timeS: number, row: RowId): void;
  rowDeleted?(timeS: number, row: RowId): void;
  exchanged?(timeS: number, a: RowId, b: RowId, first: number, end: number): void;
  /** The job has left its processors for those from `first` on, in the row, and needs `costS` more of service. */
  migrated?(timeS: number, job: JobIndex, row: RowId, first: number, costS: number): void;
}
