/**
 * The columns of tables of jobs, and the option that chooses them. A column's name is its heading in small
 * letters, with _ for blanks. Texts that users chose go through `visibleLine`.
 */

import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { formatCount, NO_VALUE } from "@tutti/kernel/core/format.ts";
import type { TableColumn } from "@tutti/lab/report/text/table.ts";
import {
  type FieldsWith,
  fieldsWith,
  JOB_FIELDS,
  type JobField,
  type Kind,
} from "@tutti/protocol/job-fields.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { fieldText } from "@tutti/words/job-fields.ts";
import { jobName, neverRan, remarkText, stateText } from "@tutti/words/jobs.ts";
import { bytesText, clockText, elapsedText, limitCell } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../errors.ts";

/** A line of a table: a job, or waiting jobs of an array with consecutive numbers. */
export interface JobLine extends Job {
  /** The last job of the line, if it shows several. */
  readonly upTo?: Job;
}

export interface JobColumn extends TableColumn {
  readonly textOf: (job: JobLine) => string;
}

const column = (
  title: string,
  align: "left" | "right",
  dropOrder: number,
  textOf: (job: JobLine) => string,
): JobColumn => ({ title, align, dropOrder, textOf });

/** Applies a function unless the job does not have the value. */
const known = <Value>(value: Value | undefined, textOf: (value: Value) => string): string =>
  value === undefined ? NO_VALUE : textOf(value);

export const NUMBER = column("job", "right", 0, ({ job, upTo }) =>
  upTo === undefined ? String(job) : `${job}-${upTo.job}`,
);
export const NAME: JobColumn = { ...column("name", "left", 0, nameText), shrinksFirst: true };
export const STATE = column("state", "left", 0, ({ state }) => stateText(state));
export const USER = column("user", "left", 3, ({ user }) => visibleLine(user));
export const QUEUE = column("queue", "left", 5, ({ queue }) => visibleLine(queue));
export const CPUS = column("CPUs", "right", 1, (job) => String(processorsOf(job)));
export const RAN = column("ran", "right", 2, (job) =>
  job.startedAtMs === undefined || neverRan(job) ? NO_VALUE : elapsedText(job.ranMs),
);
export const LIMIT = column("limit", "right", 6, ({ limitMs }) => limitCell(limitMs));
export const REMARK: JobColumn = { ...column("remark", "left", 4, remark), leastWidth: 12 };
export const SUBMITTED = column("submitted", "left", 4, ({ submittedAtMs }) => clockText(submittedAtMs));
export const WAITED = column("waited", "right", 3, ({ submittedAtMs, startedAtMs }) =>
  known(startedAtMs, (ms) => elapsedText(ms - submittedAtMs)),
);
export const ENDED = column("ended", "left", 5, ({ endedAtMs }) => known(endedAtMs, clockText));

/** Kinds of fields whose columns are aligned to the right. */
const NUMBERS: readonly Kind[] = ["count", "bytes", "job", "code"];

/** The column of a field whose text is its value. */
function fieldColumn(field: keyof Job & FieldsWith<{ readonly column: string }>): JobColumn {
  const {
    column: title,
    kind,
    answerKind = kind,
  }: JobField & { readonly column: string } = JOB_FIELDS[field];
  return column(title, NUMBERS.includes(answerKind) ? "right" : "left", 0, ({ [field]: value }) =>
    value === undefined || (Array.isArray(value) && value.length === 0)
      ? NO_VALUE
      : visibleLine(fieldText(field, value)),
  );
}

/** All columns that users can choose. Such columns are never left out, so they need no order. */
const COLUMNS: readonly JobColumn[] = [
  ...[NUMBER, NAME, STATE, USER, QUEUE, CPUS, RAN, LIMIT, REMARK, SUBMITTED, WAITED, ENDED],
  ...fieldsWith("column").map(fieldColumn),
  column("threads", "right", 0, ({ threads = 1 }) => String(threads)),
  column("CPU time", "right", 0, ({ usage }) => known(usage?.cpuMs, elapsedText)),
  column("peak memory", "right", 0, ({ usage }) => known(usage?.peakMemoryBytes, bytesText)),
  column("GPU use", "right", 0, ({ usage }) =>
    known(usage?.gpuShare, (share) => `${Math.round(100 * share)} %`),
  ),
  column("GPU memory", "right", 0, ({ usage }) => known(usage?.peakGpuMemoryBytes, bytesText)),
];

const nameOf = (title: string) => title.trim().toLowerCase().replaceAll(" ", "_");

export const COLUMN_NAMES: readonly string[] = COLUMNS.map(({ title }) => nameOf(title));

/** Columns that the user chose, in the user's order. */
export interface ChosenColumns {
  readonly names: readonly string[];
  /** Whether the table has a heading. */
  readonly hasHeading: boolean;
}

/**
 * The chosen columns of a table. All are shown at any width: long texts are shortened first, and if that is
 * not enough, lines are longer than the terminal.
 */
export function chosenColumns({ names, hasHeading }: ChosenColumns): readonly JobColumn[] {
  return names.map((name) => {
    const { title, align, textOf } = COLUMNS[COLUMN_NAMES.indexOf(name)];
    // Without a heading, its width does not count either.
    return {
      ...{ title: hasHeading ? title : "", align, textOf },
      ...{ dropOrder: 0, shrinksFirst: align === "left" },
    };
  });
}

/** The options of a verb that lists jobs, as the command line has them. */
export interface ColumnOptions {
  readonly columns?: readonly string[];
  readonly header: boolean;
}

/** Adds `--json`, `--columns` and `--no-header` to a verb that lists jobs. */
export function addColumnOptions(command: Command, json: string): Command {
  const columns = new Option("--columns <names>", "these columns, in this order, such as job,name,state")
    .choices(COLUMN_NAMES)
    .argParser(parseColumns);
  return command
    .addOption(columns)
    .option("--no-header", "without the heading, only with --columns")
    .addOption(new Option("--json", json).conflicts("columns"));
}

/** @throws UsageError if the heading is left out of a table whose columns depend on the jobs */
export function columnsOf({ columns, header }: ColumnOptions): ChosenColumns | undefined {
  if (columns !== undefined) return { names: columns, hasHeading: header };
  if (header) return undefined;
  throw new UsageError(
    "Cannot leave out the heading: without --columns, the columns depend on the jobs, expected such as --columns job,name,state --no-header",
  );
}

function parseColumns(text: string): readonly string[] {
  const names = text.split(",").map(nameOf);
  for (const name of names) {
    if (COLUMN_NAMES.includes(name)) continue;
    throw new InvalidArgumentError(
      `there is no column "${visibleLine(name)}"${closest(name, COLUMN_NAMES)}, expected names of ${COLUMN_NAMES.join(", ")}`,
    );
  }
  return names;
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
