/** Formats jobs as tables for a terminal. Names that users chose go through `visibleLine`. */
import type { Job } from "../../protocol/schema.ts";
import { hasProcess, isEnded } from "../../protocol/states.ts";
import { Table } from "../../report/text/table.ts";
import {
  type ChosenColumns,
  CPUS,
  chosenColumns,
  ENDED,
  type JobColumn,
  type JobLine,
  LIMIT,
  NAME,
  NUMBER,
  QUEUE,
  RAN,
  REMARK,
  remarkUnlessStopped,
  STATE,
  SUBMITTED,
  USER,
  WAITED,
} from "./job-columns.ts";
import { tableOptions } from "./text.ts";

/**
 * The table of `tutti jobs`.
 * @param stopped running jobs for which the matrix has no room
 * @param chosen default: the columns that the jobs need
 */
export function jobsTable(
  jobs: readonly JobLine[],
  caller: string,
  stopped: ReadonlySet<number> = new Set(),
  chosen?: ChosenColumns,
): string {
  const columns = chosen === undefined ? jobColumns(jobs, caller, stopped) : chosenColumns(chosen, stopped);
  const rows = rowsOf(columns, jobs);
  const table = new Table(columns, rows, tableOptions());
  return `${chosen?.hasHeading === false ? "" : table.heading()}${table.lines(rows)}${table.foot()}`;
}

/** The same table for a part of the jobs, so that its columns do not depend on the part. */
export class JobsTable {
  readonly #columns: readonly JobColumn[];
  readonly #table: Table;

  /** @param sample jobs that decide the columns and their widths */
  constructor(
    sample: readonly JobLine[],
    caller: string,
    stopped: ReadonlySet<number>,
    options: { readonly width: number; readonly colour: boolean },
  ) {
    this.#columns = jobColumns(sample, caller, stopped);
    this.#table = new Table(this.#columns, rowsOf(this.#columns, sample), options);
  }

  heading(): string {
    return this.#table.heading().trimEnd();
  }

  line(job: JobLine): string {
    return this.#table.lines(rowsOf(this.#columns, [job])).trimEnd();
  }
}

/**
 * The columns of waiting and running jobs: queues only if there are several, and users unless all jobs are
 * the caller's.
 */
function jobColumns(
  jobs: readonly JobLine[],
  caller: string,
  stopped: ReadonlySet<number>,
): readonly JobColumn[] {
  const differ = (keyOf: (job: Job) => string) => new Set(jobs.map(keyOf)).size > 1;
  return [
    ...[NUMBER, NAME, STATE],
    ...(jobs.some(({ user }) => user !== caller) ? [USER] : []),
    ...(differ(({ queue }) => queue) ? [QUEUE] : []),
    ...[CPUS, RAN, LIMIT, remarkUnlessStopped(stopped)],
  ];
}

/**
 * Jobs as lines: running jobs, then waiting ones, then ended ones, each in the order in which they are added.
 * Jobs must be added by rising number. No more lines are kept than can be shown.
 */
export class JobLines {
  readonly #maxLines: number;
  readonly #joinsArrays: boolean;
  readonly #lines: readonly [JobLine[], JobLine[], JobLine[]] = [[], [], []];
  #count = 0;

  /**
   * @param maxLines maximum number of lines to show
   * @param joinsArrays whether consecutive waiting jobs of an array are one line; their texts may differ in
   *   columns that only users choose
   */
  constructor(maxLines: number, joinsArrays = true) {
    this.#maxLines = maxLines;
    this.#joinsArrays = joinsArrays;
  }

  /** Number of jobs added, shown or not. */
  get count(): number {
    return this.#count;
  }

  add(job: Job): void {
    this.#count++;
    const group = rank(job);
    const lines = this.#lines[group];
    const line = lines.at(-1);
    const last = line?.upTo ?? line;
    const continuesLine =
      this.#joinsArrays &&
      last !== undefined &&
      job.array !== undefined &&
      job.array === last.array &&
      job.job === last.job + 1 &&
      job.state === last.state &&
      group === 1;
    if (continuesLine) lines[lines.length - 1] = { ...line!, upTo: job };
    else if (lines.length <= this.#maxLines) lines.push(job);
  }

  /** The lines to show, and the number of jobs that they leave out. */
  shown(): { readonly lines: readonly JobLine[]; readonly more: number } {
    const lines = this.#lines.flat().slice(0, this.#maxLines);
    const shownJobs = lines.reduce((sum, { job, upTo }) => sum + (upTo?.job ?? job) - job + 1, 0);
    return { lines, more: this.#count - shownJobs };
  }
}

/** A table of ended jobs that is printed page by page. */
export class HistoryTable {
  readonly #columns: readonly JobColumn[];
  readonly #hasHeading: boolean;
  readonly #table: Table;

  /**
   * @param first the first page, which decides the widths of the columns
   * @param latest the highest job number that will come
   * @param isShared whether the jobs may be of several users
   * @param chosen default: the columns that matter for jobs that have ended
   */
  constructor(first: readonly Job[], latest: number, isShared: boolean, chosen?: ChosenColumns) {
    this.#hasHeading = chosen?.hasHeading !== false;
    this.#columns =
      chosen === undefined
        ? [
            ...[NUMBER, NAME, STATE],
            ...(isShared ? [USER] : []),
            ...[CPUS, SUBMITTED, WAITED, RAN, ENDED, REMARK],
          ]
        : chosenColumns(chosen, new Set());
    const widest = this.#columns.map(({ textOf }) => (textOf === NUMBER.textOf ? String(latest) : ""));
    this.#table = new Table(this.#columns, [...rowsOf(this.#columns, first), widest], tableOptions());
  }

  heading(): string {
    return this.#hasHeading ? this.#table.heading() : "";
  }

  lines(jobs: readonly Job[]): string {
    return this.#table.lines(rowsOf(this.#columns, jobs));
  }

  foot(): string {
    return this.#table.foot();
  }
}

function rowsOf(columns: readonly JobColumn[], jobs: readonly JobLine[]): string[][] {
  return jobs.map((job) => columns.map(({ textOf }) => textOf(job)));
}

function rank({ state }: Job): 0 | 1 | 2 {
  if (hasProcess(state)) return 0;
  return isEnded(state) ? 2 : 1;
}
