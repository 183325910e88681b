/** Formats jobs as tables for a terminal. Names that users chose go through `visibleLine`. */

import { Table } from "@tutti/lab/report/text/table.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { hasProcess, isEnded } from "@tutti/protocol/states.ts";
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
  STATE,
  SUBMITTED,
  USER,
  WAITED,
} from "./job-columns.ts";
import { tableOptions } from "./text.ts";

interface JobTableOptions {
  readonly width: number;
  readonly colour: boolean;
  readonly hasHeading?: boolean | undefined;
  /** The highest job number that will come. */
  readonly latest?: number;
}

/** A table of jobs that may come in parts. */
export class JobTable {
  readonly #columns: readonly JobColumn[];
  readonly #hasHeading: boolean;
  readonly #table: Table;

  /** @param sample jobs that decide the widths of the columns */
  constructor(
    columns: readonly JobColumn[],
    sample: readonly JobLine[],
    { hasHeading = true, latest = 0, ...options }: JobTableOptions,
  ) {
    this.#columns = columns;
    this.#hasHeading = hasHeading;
    const widest = columns.map(({ textOf }) => (textOf === NUMBER.textOf ? String(latest) : ""));
    this.#table = new Table(columns, [...this.#rows(sample), widest], options);
  }

  heading(): string {
    return this.#hasHeading ? this.#table.heading() : "";
  }

  lines(jobs: readonly JobLine[]): string {
    return this.#table.lines(this.#rows(jobs));
  }

  foot(): string {
    return this.#table.foot();
  }

  #rows(jobs: readonly JobLine[]): string[][] {
    return jobs.map((job) => this.#columns.map(({ textOf }) => textOf(job)));
  }
}

/**
 * The table of `tutti jobs`.
 * @param chosen default: the columns that the jobs need
 */
export function jobsTable(jobs: readonly JobLine[], caller: string, chosen?: ChosenColumns): string {
  const columns = chosen === undefined ? jobColumns(jobs, caller) : chosenColumns(chosen);
  const table = new JobTable(columns, jobs, { ...tableOptions(), hasHeading: chosen?.hasHeading });
  return `${table.heading()}${table.lines(jobs)}${table.foot()}`;
}

/**
 * The table of `tutti jobs --ended`, which is printed page by page.
 * @param first the first page, which decides the widths of the columns
 * @param latest the highest job number that will come
 * @param isShared whether the jobs may be of several users
 * @param chosen default: the columns that matter for jobs that have ended
 */
export function historyTable(
  first: readonly Job[],
  latest: number,
  isShared: boolean,
  chosen?: ChosenColumns,
): JobTable {
  const usual = [
    ...[NUMBER, NAME, STATE],
    ...(isShared ? [USER] : []),
    ...[CPUS, SUBMITTED, WAITED, RAN, ENDED, REMARK],
  ];
  const columns = chosen === undefined ? usual : chosenColumns(chosen);
  return new JobTable(columns, first, { ...tableOptions(), latest, hasHeading: chosen?.hasHeading });
}

/**
 * The columns of waiting and running jobs: queues only if there are several, and users unless all jobs are
 * the caller's.
 */
export function jobColumns(jobs: readonly JobLine[], caller: string): readonly JobColumn[] {
  const differ = (keyOf: (job: Job) => string) => new Set(jobs.map(keyOf)).size > 1;
  return [
    ...[NUMBER, NAME, STATE],
    ...(jobs.some(({ user }) => user !== caller) ? [USER] : []),
    ...(differ(({ queue }) => queue) ? [QUEUE] : []),
    ...[CPUS, RAN, LIMIT, REMARK],
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

function rank({ state }: Job): 0 | 1 | 2 {
  if (hasProcess(state)) return 0;
  return isEnded(state) ? 2 : 1;
}
