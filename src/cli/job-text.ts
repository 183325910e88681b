/** Jobs in words and tables for a terminal. What users named is shown with `visible`. */
import type { Job, JobState } from "../api/contract.ts";
import { formatDuration, NO_VALUE } from "../report/format.ts";
import { renderTable, type TableColumn } from "../report/table.ts";
import { isColourful, tableWidth } from "./text.ts";
import { visibleLine } from "./visible.ts";

/** A sign and a word, so that neither colour nor the font has to be right. */
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

interface JobColumn extends TableColumn {
  readonly of: (job: Job) => string;
}

const column = (
  title: string,
  align: "left" | "right",
  dispensable: number,
  of: (job: Job) => string,
): JobColumn => ({ title, align, dispensable, of });

const NUMBER = column("job", "right", 0, ({ job }) => String(job));
const NAME = column("name", "left", 0, ({ name, arrayIndex }) =>
  visibleLine(arrayIndex === undefined ? name : `${name}[${arrayIndex}]`),
);
const STATE = column("state", "left", 0, ({ state }) => stateText(state));
const USER = column("user", "left", 3, ({ user }) => visibleLine(user));
const QUEUE = column("queue", "left", 5, ({ queue }) => visibleLine(queue));
const CPUS = column("CPUs", "right", 1, ({ tasks }) => String(tasks));
const RAN = column("ran", "right", 2, ({ ranMs, startedAtMs }) =>
  startedAtMs === undefined ? NO_VALUE : formatDuration(ranMs / 1000),
);
const LIMIT = column("limit", "right", 6, ({ limitMs }) =>
  limitMs === undefined ? NO_VALUE : formatDuration(limitMs / 1000),
);
const REASON = column("remark", "left", 4, (job) => remark(job));
const SUBMITTED = column("submitted", "left", 4, ({ submittedAtMs }) => clockText(submittedAtMs));
const WAITED = column("waited", "right", 3, ({ submittedAtMs, startedAtMs }) =>
  startedAtMs === undefined ? NO_VALUE : formatDuration((startedAtMs - submittedAtMs) / 1000),
);
const ENDED = column("ended", "left", 5, ({ endedAtMs }) =>
  endedAtMs === undefined ? NO_VALUE : clockText(endedAtMs),
);

/** Jobs as `tutti jobs` lists them; the user only where there are several. */
export function jobsTable(jobs: readonly Job[]): string {
  const isShared = new Set(jobs.map(({ user }) => user)).size > 1;
  return table([NUMBER, NAME, STATE, ...(isShared ? [USER] : []), QUEUE, CPUS, RAN, LIMIT, REASON], jobs);
}

/** Ended jobs. */
export function historyTable(jobs: readonly Job[]): string {
  const isShared = new Set(jobs.map(({ user }) => user)).size > 1;
  return table(
    [NUMBER, NAME, STATE, ...(isShared ? [USER] : []), CPUS, SUBMITTED, WAITED, RAN, ENDED, REASON],
    jobs,
  );
}

export function stateText(state: JobState): string {
  return `${SIGNS[state]} ${state}`;
}

/** One job in a sentence: `job 7 (sim) failed with exit code 3 after 5 s`. */
export function outcomeText(job: Job): string {
  const after = job.startedAtMs === undefined ? "" : ` after ${formatDuration(job.ranMs / 1000)}`;
  return `job ${job.job} (${visibleLine(job.name)}) ${endingText(job)}${after}`;
}

/** Time of day of today, else the date with it; local time. */
export function clockText(unixMs: number, nowMs = Date.now()): string {
  const date = new Date(unixMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return date.toDateString() === new Date(nowMs).toDateString()
    ? time
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** Unix time as ISO 8601 with the zone of this machine left to UTC. */
export function isoText(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** CPU numbers as runs: 0-3,6. */
export function cpusText(cpus: readonly number[]): string {
  const sorted = [...cpus].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const cpu of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] + 1 === cpu) last[1] = cpu;
    else runs.push([cpu, cpu]);
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(",");
}

function table(columns: readonly JobColumn[], jobs: readonly Job[]): string {
  const rows = jobs.map((job) => columns.map(({ of }) => of(job)));
  return renderTable(columns, rows, { width: tableWidth(), colour: isColourful() });
}

/** Whether the reason says more than the exit code or the signal does. */
export function saysMore({ reason, code, signal }: Job): boolean {
  return reason !== undefined && reason !== `exit code ${code}` && reason !== signal;
}

function remark(job: Job): string {
  if (saysMore(job)) return visibleLine(job.reason ?? "");
  if (job.state === "running") return job.cpus.length === 0 ? "" : `on CPUs ${cpusText(job.cpus)}`;
  return job.state === "failed" ? endingText(job) : "";
}

function endingText(job: Job): string {
  const { state, code, signal } = job;
  const why = saysMore(job) ? ` (${visibleLine(job.reason ?? "")})` : "";
  if (state === "failed" && signal !== undefined) return `was ended by ${visibleLine(signal)}${why}`;
  if (state === "failed" && code !== undefined) return `failed with exit code ${code}${why}`;
  return `${state === "done" ? "ended well" : state === "cancelled" ? "was cancelled" : state}${why}`;
}
