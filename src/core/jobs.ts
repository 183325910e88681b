/**
 * The job table: a struct of arrays, one column per property, one row per job.
 *
 * Three stages, each a type of its own:
 *   Workload  what a reader or a generator returns; values as the source has them
 *   Instance  a workload made ready for one machine under stated rules; the simulator's input
 *   JobsView  what a policy may look at: no run times
 */
import type { Diagnostics } from "./diagnostics.ts";
import type { Interruptions } from "./interruptions.ts";
import type { Molding } from "./molding.ts";
import type { Demand, ResourceKind } from "./resources.ts";
import type { Rules } from "./rules.ts";

/** Row of a job in the table: 0 … count − 1, in order of submission. */
export type JobIndex = number;

/** Stands for "no job" wherever a JobIndex is expected. */
export const NO_JOB: JobIndex = -1;

/** A value that the source does not know, in every column where −1 is not a legal value. */
export const UNKNOWN = -1;

/** A column that may be read but not written. */
export interface ReadonlyColumn {
  readonly length: number;
  readonly [row: number]: number;
}

/** Columns every source has. All have the length of the workload's `count`. */
export interface JobColumns {
  /** Number of the job in its source, as printed in tables and accepted by `--explain`. */
  readonly id: Int32Array;
  /** Submit time in seconds since the start of the log; ascending. */
  readonly submitS: Float64Array;
  /** Run time in seconds on a dedicated machine, 0 or more. */
  readonly runS: Float64Array;
  /** Processors, 1 or more. */
  readonly size: Int32Array;
  /** The user's estimate of the run time in seconds; UNKNOWN where there is none. */
  readonly estimateS: Float64Array;
}

/**
 * Further columns of a trace, kept so that a schedule can be written back in the trace's own format.
 * Named after SWF 2.2; every value UNKNOWN (−1) where the source has none.
 */
export interface TraceColumns {
  readonly waitS: Float64Array;
  readonly cpuS: Float64Array;
  readonly allocated: Int32Array;
  readonly requested: Int32Array;
  readonly usedMemoryKB: Float64Array;
  readonly requestedMemoryKB: Float64Array;
  readonly status: Int32Array;
  readonly user: Int32Array;
  readonly group: Int32Array;
  readonly application: Int32Array;
  readonly queue: Int32Array;
  readonly partition: Int32Array;
  readonly precedingJob: Int32Array;
  readonly thinkTimeS: Float64Array;
}

/** How jobs divide their processors, and where their users sent them. Few sources know. */
export interface ShapeColumns {
  /** Processes, 1 or more. */
  readonly processes: Int32Array;
  /** Threads of each process, 1 or more. */
  readonly threads: Int32Array;
  /** Place of the queue that the user chose in the list of queue classes; UNKNOWN where the user chose none. */
  readonly queue: Int32Array;
}

/** A workload as its source has it: jobs sorted by submit time (ties: order in the source). */
export interface Workload {
  /** File name without folder, or the generator with its parameters. */
  readonly name: string;
  readonly count: number;
  readonly jobs: JobColumns;
  /** Processors of the machine that the source names; undefined where it names none. */
  readonly processors: number | undefined;
  /** Only traces have them. */
  readonly trace: TraceColumns | undefined;
  readonly shape?: ShapeColumns | undefined;
  /** On which sizes jobs can run; left out where each runs on its own only. */
  readonly molding?: Molding | undefined;
  /** What jobs need besides processors. */
  readonly demand?: readonly Demand[] | undefined;
  /** What happens to machine and jobs beside arrivals; jobs by their rows here. */
  readonly interruptions?: Interruptions | undefined;
  /** Header comment lines of a trace, as they stand in the file, without the line ends. */
  readonly header: readonly string[];
  /** What the reader repaired or dropped. */
  readonly diagnostics: Diagnostics;
}

/**
 * One problem for the simulator: jobs that all fit on the machine, with the rules applied.
 * `runS` ≤ `estimateS` holds for every job, so no job runs past the end that a policy expects.
 */
export interface Instance {
  readonly workload: Workload;
  readonly processors: number;
  readonly rules: Rules;
  readonly count: number;
  readonly id: Int32Array;
  readonly submitS: Float64Array;
  readonly runS: Float64Array;
  readonly size: Int32Array;
  readonly estimateS: Float64Array;
  readonly shape?: ShapeColumns | undefined;
  readonly molding?: Molding | undefined;
  /** Countable resources of the machine; left out where it has none. */
  readonly resources?: readonly ResourceKind[] | undefined;
  /** What each job needs of them, in their order. */
  readonly demand?: readonly Int32Array[] | undefined;
  readonly interruptions?: Interruptions | undefined;
  /** Memory of each job per processor in KB; UNKNOWN where the source does not tell. Undefined when it tells of no job. */
  readonly memoryKB?: Float64Array | undefined;
  /** Row of each job in the workload's columns; undefined when the rows are the same. */
  readonly workloadRow: Int32Array | undefined;
  /** What the rules changed or left out, on top of the workload's own. */
  readonly diagnostics: Diagnostics;
}

/**
 * What a policy may know of the jobs. The cells of a job are filled when it arrives and not before; of one that was stopped, with what is
 * left of its estimate when it arrives anew. A job that is started on another size has that size, and its estimate on it, from then on; one
 * that was stopped can go on on no other. Columns that grow are replaced,
 * so read them through the view each time; columns of a policy's own that grow: structures/job-column.ts.
 */
export interface JobsView {
  /** Rows that there is room for: a power of two, which grows as jobs arrive. */
  readonly capacity: number;
  readonly size: ReadonlyColumn;
  readonly submitS: ReadonlyColumn;
  readonly estimateS: ReadonlyColumn;
  /** On which sizes jobs can run; undefined where each runs on its own only. */
  readonly molding?: Molding<ReadonlyColumn, ReadonlyColumn> | undefined;
  /** By kind of the machine's resources. */
  readonly demand: readonly ReadonlyColumn[];
  /** Undefined where nobody knows how jobs divide their processors. */
  readonly shape?:
    | { readonly processes: ReadonlyColumn; readonly threads: ReadonlyColumn; readonly queue: ReadonlyColumn }
    | undefined;
  /** Memory of each job per processor in KB; UNKNOWN where nobody told. Undefined where it is told of no job. */
  readonly memoryKB?: ReadonlyColumn | undefined;
  /** Numbers of the job's user and so on; UNKNOWN where nobody told. Undefined where they are told of no job. */
  readonly origin?:
    | {
        readonly user: ReadonlyColumn;
        readonly group: ReadonlyColumn;
        readonly queue: ReadonlyColumn;
        readonly application: ReadonlyColumn;
      }
    | undefined;
}
