/** Formats jobs as sentences and tables for a terminal. Names that users chose go through `visibleLine`. */
import { cpusText } from "../../core/machine.ts";
import type { Job, WhyAnswer } from "../../protocol/schema.ts";
import type { JobState } from "../../protocol/states.ts";
import { formatCount, formatDuration, NO_VALUE } from "../../report/text/format.ts";
import { Table, type TableColumn } from "../../report/text/table.ts";
import { table, tableOptions, visibleLine } from "./text.ts";

/** Signs next to the state's name, so the text needs neither colour nor a special font. */
const SIGNS: Readonly<Record<JobState, string>> = {
  queued: "·",
  held: "‖",
  starting: "▷",
  running: "▶",
  ending: "◁",
  done: "✓",
  failed: "✗",
  cancelled: "⊘",
};

/** A line of a table: a job, or waiting jobs of an array with consecutive numbers. */
interface JobLine extends Job {
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
const NAME = column("name", "left", 0, (job) => visibleLine(nameText(job)));
const STATE = column("state", "left", 0, ({ state }) => stateText(state));
const USER = column("user", "left", 3, ({ user }) => visibleLine(user));
const QUEUE = column("queue", "left", 5, ({ queue }) => visibleLine(queue));
const CPUS = column("CPUs", "right", 1, ({ tasks }) => String(tasks));
const RAN = column("ran", "right", 2, ({ ranMs, startedAtMs }) =>
  startedAtMs === undefined ? NO_VALUE : elapsedText(ranMs),
);
const LIMIT = column("limit", "right", 6, ({ limitMs }) => limitCell(limitMs));
const REASON = column("remark", "left", 4, (job) => remark(job));
const SUBMITTED = column("submitted", "left", 4, ({ submittedAtMs }) => clockText(submittedAtMs));
const WAITED = column("waited", "right", 3, ({ submittedAtMs, startedAtMs }) =>
  startedAtMs === undefined ? NO_VALUE : elapsedText(startedAtMs - submittedAtMs),
);
const ENDED = column("ended", "left", 5, ({ endedAtMs }) =>
  endedAtMs === undefined ? NO_VALUE : clockText(endedAtMs),
);

/**
 * The table of `tutti jobs`. It shows users and queues only if there are several.
 * @param stopped running jobs for which the matrix has no room
 */
export function jobsTable(jobs: readonly JobLine[], stopped: ReadonlySet<number> = new Set()): string {
  const differ = (keyOf: (job: Job) => string) => new Set(jobs.map(keyOf)).size > 1;
  const remarks = column("remark", "left", 4, (job) =>
    stopped.has(job.job) ? "stopped: no room now" : remark(job),
  );
  const columns = [
    ...[NUMBER, NAME, STATE],
    ...(differ(({ user }) => user) ? [USER] : []),
    ...(differ(({ queue }) => queue) ? [QUEUE] : []),
    ...[CPUS, RAN, LIMIT, remarks],
  ];
  return `${table(columns, rowsOf(columns, jobs))}\n`;
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

export function stateText(state: JobState): string {
  return `${SIGNS[state]} ${state}`;
}

/**
 * A duration in a column of a table, in the form that `--time` reads: `1:23:45`, and `2-03:04:05` if it is a
 * day or longer. Only full seconds count, as on a stopwatch.
 */
export function elapsedText(durationMs: number): string {
  const seconds = Math.floor(Math.max(0, durationMs) / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor((seconds % 86_400) / 3600)];
  const rest = `${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
  return days === 0 ? `${hours}:${rest}` : `${days}-${two(hours)}:${rest}`;
}

/** A time limit in a column of a table. Below a second, it is 0:00:01, because 0:00:00 looks like none. */
export function limitCell(limitMs: number | undefined): string {
  return limitMs === undefined ? NO_VALUE : elapsedText(Math.max(1000, limitMs));
}

/** A time limit without rounding: `1 d 2 h`; 90 minutes are `1 h 30 min`. */
export function limitText(limitMs: number): string {
  if (limitMs % 1000 !== 0) return formatDuration(limitMs / 1000);
  const parts: string[] = [];
  let rest = limitMs / 1000;
  for (const [unit, seconds] of [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const) {
    if (rest >= seconds) parts.push(`${Math.floor(rest / seconds)} ${unit}`);
    rest %= seconds;
  }
  return parts.join(" ");
}

/** How a job ended, as a sentence: `job 7 (sim) failed with exit code 3 after 5 s`. */
export function outcomeText(job: Job): string {
  const after = job.startedAtMs === undefined ? "" : ` after ${formatDuration(job.ranMs / 1000)}`;
  return `job ${job.job} (${visibleLine(job.name)}) ${endingText(job)}${after}`;
}

/** Local time of day, preceded by the date unless it is today. */
export function clockText(unixMs: number, nowMs = Date.now()): string {
  const date = new Date(unixMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return date.toDateString() === new Date(nowMs).toDateString()
    ? time
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** Unix time as ISO 8601 in UTC. */
export function isoText(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** The expected start, with the range of the middle 80 % of the forecast unless it is below a second. */
export function startText({
  p10Ms,
  p50Ms,
  p90Ms,
}: Omit<NonNullable<WhyAnswer["forecast"]>, "pastErrorP50Ms">): string {
  const range = p90Ms - p10Ms < 1000 ? "" : ` (${clockText(p10Ms)} to ${clockText(p90Ms)})`;
  return `${clockText(p50Ms)}${range}`;
}

/** A line about the errors of earlier forecasts; empty until the first forecast could be checked. */
export function pastErrorText({ pastErrorP50Ms }: { readonly pastErrorP50Ms?: number | undefined }): string {
  if (pastErrorP50Ms === undefined) return "";
  return `Half of the latest forecasts were off by at most ${formatDuration(pastErrorP50Ms / 1000)}.\n`;
}

function rowsOf(columns: readonly JobColumn[], jobs: readonly JobLine[]): string[][] {
  return jobs.map((job) => columns.map(({ textOf }) => textOf(job)));
}

/** Whether the reason says more than the state, the exit code or the signal. */
export function saysMore({ reason, state, code, signal }: Job): boolean {
  return reason !== undefined && ![`exit code ${code}`, signal, `ended by ${signal}`, state].includes(reason);
}

/** The reason as shown: `lost:` is dropped before a message that explains itself. */
export function reasonText({ reason = "" }: Job): string {
  return visibleLine(reason.replace(/^lost: (?=Cannot )/, ""));
}

function rank({ state }: Job): 0 | 1 | 2 {
  if (state === "running" || state === "ending" || state === "starting") return 0;
  return state === "queued" || state === "held" ? 1 : 2;
}

function nameText({ name, arrayIndex, upTo }: JobLine): string {
  if (arrayIndex === undefined) return name;
  return `${name}[${upTo === undefined ? arrayIndex : `${arrayIndex}…${upTo.arrayIndex}`}]`;
}

function remark(job: JobLine): string {
  if (job.upTo !== undefined) return `${formatCount(job.upTo.job - job.job + 1)} jobs of an array`;
  if (saysMore(job)) return reasonText(job);
  if (job.state === "running" && job.cpus.length > 0) {
    return `on ${job.cpus.length === 1 ? "CPU" : "CPUs"} ${cpusText(job.cpus, job.nodes)}`;
  }
  if (job.state === "failed") return endingText(job);
  return rank(job) === 1 && job.priority !== 0 ? `priority ${job.priority}` : "";
}

function endingText(job: Job): string {
  const { state, code, signal } = job;
  const why = saysMore(job) ? ` (${reasonText(job)})` : "";
  if (state === "failed" && signal !== undefined) return `was ended by ${visibleLine(signal)}${why}`;
  if (state === "failed" && code !== undefined) return `failed with exit code ${code}${why}`;
  return `${state === "done" ? "succeeded" : state === "cancelled" ? "was cancelled" : state}${why}`;
}
