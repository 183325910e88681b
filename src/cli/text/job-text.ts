/** Formats jobs as tables for a terminal. Names that users chose go through `visibleLine`. */
import { processorsOf } from "../../protocol/job-size.ts";
import type { Job } from "../../protocol/schema.ts";
import { hasProcess, isEnded } from "../../protocol/states.ts";
import { formatCount, NO_VALUE } from "../../report/text/format.ts";
import { Table, type TableColumn } from "../../report/text/table.ts";
import { jobName, neverRan, remarkText, stateText } from "../../words/jobs.ts";
import { clockText, elapsedText, limitCell } from "../../words/times.ts";
import { visibleLine } from "../../words/visible.ts";
import { table, tableOptions } from "./text.ts";

/** A line of a table: a job, or waiting jobs of an array with consecutive numbers. */
export interface JobLine extends Job {
  /** The last job of the line, if it shows several. */
  readonly upTo?: Job;
}

interface JobColumn extends TableColumn {
  readonly textOf: (job: JobLine) => string;
}

const column = (
  title: string,
  align: "left" | "right",
  dropOrder: number,
  textOf: (job: JobLine) => string,
): JobColumn => ({ title, align, dropOrder, textOf });

const NUMBER = column("job", "right", 0, ({ job, upTo }) =>
  upTo === undefined ? String(job) : `${job}-${upTo.job}`,
);
const NAME: JobColumn = { ...column("name", "left", 0, nameText), shrinksFirst: true };
const STATE = column("state", "left", 0, ({ state }) => stateText(state));
const USER = column("user", "left", 3, ({ user }) => visibleLine(user));
const QUEUE = column("queue", "left", 5, ({ queue }) => visibleLine(queue));
const CPUS = column("CPUs", "right", 1, (job) => String(processorsOf(job)));
const RAN = column("ran", "right", 2, (job) =>
  job.startedAtMs === undefined || neverRan(job) ? NO_VALUE : elapsedText(job.ranMs),
);
const LIMIT = column("limit", "right", 6, ({ limitMs }) => limitCell(limitMs));
const REASON = column("remark", "left", 4, remark);
const SUBMITTED = column("submitted", "left", 4, ({ submittedAtMs }) => clockText(submittedAtMs));
const WAITED = column("waited", "right", 3, ({ submittedAtMs, startedAtMs }) =>
  startedAtMs === undefined ? NO_VALUE : elapsedText(startedAtMs - submittedAtMs),
);
const ENDED = column("ended", "left", 5, ({ endedAtMs }) =>
  endedAtMs === undefined ? NO_VALUE : clockText(endedAtMs),
);

/** The table of `tutti jobs`. @param stopped running jobs for which the matrix has no room */
export function jobsTable(
  jobs: readonly JobLine[],
  caller: string,
  stopped: ReadonlySet<number> = new Set(),
): string {
  const columns = jobColumns(jobs, caller, stopped);
  return `${table(columns, rowsOf(columns, jobs))}\n`;
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
  const remarks = column("remark", "left", 4, (job) =>
    stopped.has(job.job) ? "stopped: no room now" : remark(job),
  );
  return [
    ...[NUMBER, NAME, STATE],
    ...(jobs.some(({ user }) => user !== caller) ? [USER] : []),
    ...(differ(({ queue }) => queue) ? [QUEUE] : []),
    ...[CPUS, RAN, LIMIT, remarks],
  ];
}

/**
 * Jobs as lines: running jobs, then waiting ones, then ended ones, each in the order in which they are added.
 * Consecutive waiting jobs of an array are one line. Jobs must be added by rising number. No more lines are
 * kept than can be shown.
 */
export class JobLines {
  readonly #maxLines: number;
  readonly #lines: readonly [JobLine[], JobLine[], JobLine[]] = [[], [], []];
  #count = 0;

  /** @param maxLines maximum number of lines to show */
  constructor(maxLines: number) {
    this.#maxLines = maxLines;
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
  readonly #table: Table;

  /**
   * @param first the first page, which decides the widths of the columns
   * @param latest the highest job number that will come
   * @param isShared whether the jobs may be of several users
   */
  constructor(first: readonly Job[], latest: number, isShared: boolean) {
    this.#columns = [
      ...[NUMBER, NAME, STATE],
      ...(isShared ? [USER] : []),
      ...[CPUS, SUBMITTED, WAITED, RAN, ENDED, REASON],
    ];
    const widest = this.#columns.map((column) => (column === NUMBER ? String(latest) : ""));
    this.#table = new Table(this.#columns, [...rowsOf(this.#columns, first), widest], tableOptions());
  }

  heading(): string {
    return this.#table.heading();
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

function nameText({ upTo, ...job }: JobLine): string {
  if (job.arrayIndex === undefined || upTo === undefined) return jobName(job);
  return visibleLine(`${job.name}[${job.arrayIndex}…${upTo.arrayIndex}]`);
}

function remark(job: JobLine): string {
  return job.upTo === undefined
    ? remarkText(job)
    : `${formatCount(job.upTo.job - job.job + 1)} jobs of an array`;
}
