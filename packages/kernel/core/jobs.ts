/**
 * Defines the job table, a struct of arrays with one column per property and one row per job.
 *
 * The table has three stages, each with its own type:
 *
 *   Workload  what a reader or a generator returns, with the values of the source
 *   Instance  a workload prepared for one machine under stated rules; the simulator's input
 *   JobsView  what a policy may see: no run times
 */
import type { Diagnostics } from "./diagnostics.ts";
import type { WorkloadShares } from "./fair-share.ts";
import type { Interruptions } from "./interruptions.ts";
import type { WorkloadLimits } from "./limits/job-limits.ts";
import type { Molding } from "./molding.ts";
import type { Demand, ResourceKind } from "./resources.ts";
import type { Rules } from "./rules.ts";
import type { WorkloadEvent } from "./workload-events.ts";

/** Row of a job in the table: 0 … count − 1, in order of submission. */
export type JobIndex = number;

/** Stands for "no job" wherever a JobIndex is expected. */
export const NO_JOB: JobIndex = -1;

/** Stands for a value that the source does not give, in every column in which −1 is not a legal value. */
export const UNKNOWN = -1;

/** The largest value of columns of whole numbers. */
export const MAX_INT32 = 2147483647;

/** A column that may be read but not written. */
export interface ReadonlyColumn {
  readonly length: number;
  readonly [row: number]: number;
}

/** Columns that every source has. All of them have `count` rows. */
export interface JobColumns {
  /** Number of the job in its source, as printed in tables and accepted by `--explain`. */
  readonly id: Int32Array;
  /** Submit time in seconds since the start of the log; ascending. */
  readonly submitS: Float64Array;
  /** Run time in seconds on a dedicated machine, 0 or more. */
  readonly runS: Float64Array;
  /** Processors, 1 or more. */
  readonly size: Int32Array;
  /** The user's estimate of the run time in seconds; UNKNOWN if there is none. */
  readonly estimateS: Float64Array;
}

/**
 * Further columns of a trace, kept so that a schedule can be written in the trace's own format. The names
 * follow SWF 2.2; a value that the source does not have is UNKNOWN (−1).
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

/** How jobs divide their processors, and which queue their users chose. Few sources have these columns. */
export interface ShapeColumns {
  /** Processes, 1 or more. */
  readonly processes: Int32Array;
  /** Threads of each process, 1 or more. */
  readonly threads: Int32Array;
  /**
   * The queue that the user chose, as an index into the list of queue classes; UNKNOWN if the user chose
   * none.
   */
  readonly queue: Int32Array;
}

/** Members of a job that the simulator does not use; a file in a format that has them keeps them. */
export type JobNotes = Readonly<Record<string, unknown>>;

/** A workload as given by its source: jobs sorted by submit time (ties: order in the source). */
export interface Workload {
  /** File name without folder, or the generator with its parameters. */
  readonly name: string;
  readonly count: number;
  readonly jobs: JobColumns;
  /** Number of processors of the machine according to the source; undefined if it does not say. */
  readonly processors: number | undefined;
  /** Only traces have them. */
  readonly trace: TraceColumns | undefined;
  /** Where the sizes of jobs are from, in words, if not where the format of the trace has them. */
  readonly sizeRule?: string | undefined;
  readonly shape?: ShapeColumns | undefined;
  /** The sizes on which jobs can run; left out if each job can run only on its own size. */
  readonly molding?: Molding | undefined;
  /** Countable resources of the machine according to the source. */
  readonly resources?: readonly ResourceKind[] | undefined;
  /** What jobs need besides processors. */
  readonly demand?: readonly Demand[] | undefined;
  /** Left out: all users have equal shares. */
  readonly shares?: WorkloadShares | undefined;
  /** Left out: any number of jobs of a user, a group and a queue may run at once. */
  readonly limits?: WorkloadLimits | undefined;
  /** Outages of the machine and stops of jobs; jobs are given by their rows in this workload. */
  readonly interruptions?: Interruptions | undefined;
  /** What happened besides submits and ends, in order of time; `interruptions` follow from it. */
  readonly events?: readonly WorkloadEvent[] | undefined;
  /** What the source says about each job that has no column, by row, such as names of users. */
  readonly notes?: readonly JobNotes[] | undefined;
  /** Header comment lines of a trace, as they are in the file, without newlines. */
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
  /** Countable resources of the machine; left out if it has none. */
  readonly resources?: readonly ResourceKind[] | undefined;
  /** What each job needs of them, one column per kind, in the same order. */
  readonly demand?: readonly Int32Array[] | undefined;
  /** Jobs with a higher priority are served first; left out: that of all jobs is the same and stays so. */
  readonly priority?: Int32Array | undefined;
  readonly interruptions?: Interruptions | undefined;
  /** Memory of each job per processor in KB, or UNKNOWN. Undefined if the source gives it for no job. */
  readonly memoryKB?: Float64Array | undefined;
  /** Row of each job in the workload's columns; undefined if the rows are the same. */
  readonly workloadRow: Int32Array | undefined;
  /** What the rules changed or left out, on top of the workload's own. */
  readonly diagnostics: Diagnostics;
}

/** What a policy may know about shares. */
export interface ShareView {
  /** Counts usage up to the present instant. */
  update(): void;
  /**
   * Usage ÷ share of the job's user at the last update. Users with less go first; 1 is exactly the share.
   */
  level(job: JobIndex): number;
  /** The job's user, by name or number; undefined: unknown. All jobs of a user have the same level. */
  user(job: JobIndex): string | number | undefined;
}

/**
 * What a policy may know about the jobs. The cells of a job are filled when it arrives, and not before. When
 * a stopped job arrives again, its estimate is what is left of the old one. A job that is started on another
 * size has that size from then on, with the estimate for that size, and it keeps the size if it is stopped
 * and continued.
 *
 * Columns that grow are replaced, so read them through the view each time. For a policy's own columns that
 * grow with the number of jobs, see structures/job-column.ts.
 */
export interface JobsView {
  /** Number of rows in the columns: a power of two that grows as jobs arrive. */
  readonly capacity: number;
  readonly size: ReadonlyColumn;
  readonly submitS: ReadonlyColumn;
  readonly estimateS: ReadonlyColumn;
  /** The sizes on which jobs can run; undefined if each job can run only on its own size. */
  readonly molding?: Molding<ReadonlyColumn, ReadonlyColumn> | undefined;
  /** One column per kind of the machine's resources. */
  readonly demand: readonly ReadonlyColumn[];
  /** Undefined if it is not known how jobs divide their processors. */
  readonly shape?:
    | { readonly processes: ReadonlyColumn; readonly threads: ReadonlyColumn; readonly queue: ReadonlyColumn }
    | undefined;
  /** Memory of each job per processor in KB, or UNKNOWN. Undefined if it is known for no job. */
  readonly memoryKB?: ReadonlyColumn | undefined;
  /** How much of their shares users have used. Undefined if the machine does not count it. */
  readonly shares?: ShareView | undefined;
  /**
   * Numbers of the job's user, group, queue and application, or UNKNOWN. Undefined if they are known for no
   * job.
   */
  readonly origin?:
    | {
        readonly user: ReadonlyColumn;
        readonly group: ReadonlyColumn;
        readonly queue: ReadonlyColumn;
        readonly application: ReadonlyColumn;
      }
    | undefined;
}

/** Name of a job's user according to the source, or else the user's number; undefined: unknown. */
export function userOf({ notes, trace }: Workload, row: number): string | undefined {
  return wordOf(notes?.[row]?.user, trace?.user[row]);
}

/** Name of a job's queue according to the source, or else the queue's number; undefined: unknown. */
export function queueOf({ notes, trace }: Workload, row: number): string | undefined {
  return wordOf(notes?.[row]?.queue, trace?.queue[row]);
}

/** Priority of each job by its row; undefined: that of all jobs is the same and stays so. */
export function prioritiesOf({ count, notes, interruptions }: Workload): Int32Array | undefined {
  const isEdited = interruptions?.withdrawals?.some(({ change }) => change?.priority !== undefined) === true;
  if (notes === undefined && !isEdited) return undefined;
  const column = Int32Array.from({ length: count }, (_, row) => Number(notes?.[row]?.priority ?? 0));
  return isEdited || column.some((priority) => priority !== column[0]) ? column : undefined;
}

/**
 * Whether job a is served before job b, unless the policy orders them otherwise.
 * @param priority of each job; undefined: that of all jobs is the same
 */
export function servedBefore(priority: ReadonlyColumn | undefined, a: JobIndex, b: JobIndex): boolean {
  const ahead = priority === undefined ? 0 : priority[a] - priority[b];
  return ahead === 0 ? a < b : ahead > 0;
}

function wordOf(name: unknown, number = UNKNOWN): string | undefined {
  if (typeof name === "string") return name;
  return number === UNKNOWN ? undefined : String(number);
}
