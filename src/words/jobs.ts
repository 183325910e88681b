/** States and ends of jobs in words. Texts that users chose go through `visibleLine`. */
import { cpusText } from "../core/machine.ts";
import type { Job, WhyAnswer } from "../protocol/answers.ts";
import type { JobState } from "../protocol/states.ts";
import { formatCount, formatDuration, plural } from "../report/text/format.ts";
import { quoted } from "./command-line.ts";
import { bytesText, clockText, limitText } from "./times.ts";
import { visibleLine } from "./visible.ts";

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

export function stateText(state: JobState): string {
  return `${SIGNS[state]} ${state}`;
}

/** How a job ended, as a sentence: `job 7 (sim) failed with exit code 3 after 5 s`. */
export function outcomeText(job: Job): string {
  const after = job.startedAtMs === undefined ? "" : ` after ${formatDuration(job.ranMs / 1000)}`;
  return `job ${job.job} (${visibleLine(job.name)}) ${endingText(job)}${after}`;
}

/** The expected start, with the range of the middle 80 % of the forecast unless it is below a second. */
export function startText({
  p10Ms,
  p50Ms,
  p90Ms,
}: Pick<NonNullable<WhyAnswer["forecast"]>, "p10Ms" | "p50Ms" | "p90Ms">): string {
  const range = p90Ms - p10Ms < 1000 ? "" : ` (${clockText(p10Ms)} to ${clockText(p90Ms)})`;
  return `${clockText(p50Ms)}${range}`;
}

/** How good earlier forecasts were. */
type PastForecasts = Pick<
  NonNullable<WhyAnswer["forecast"]>,
  "pastErrorP50Ms" | "pastForecasts" | "pastWithinShare"
>;

/** Words about the errors of earlier forecasts; empty until the first forecast could be checked. */
export function pastErrorWords({ pastErrorP50Ms, pastForecasts, pastWithinShare }: PastForecasts): string {
  if (pastErrorP50Ms === undefined) return "";
  const count = pastForecasts === undefined ? "latest" : `last ${formatCount(pastForecasts)}`;
  const within =
    pastWithinShare === undefined ? "" : `, and ${Math.round(100 * pastWithinShare)} % were in their range`;
  return `half of the ${count} forecasts were off by at most ${formatDuration(pastErrorP50Ms / 1000)}${within}`;
}

/** The same as a line. */
export function pastErrorText(past: PastForecasts): string {
  const words = pastErrorWords(past);
  return words === "" ? "" : `H${words.slice(1)}.\n`;
}

/** Whether the reason says more than the state, the exit code or the signal. */
export function saysMore({ reason, state, code, signal }: Job): boolean {
  return reason !== undefined && ![`exit code ${code}`, signal, `ended by ${signal}`, state].includes(reason);
}

/** The reason as shown: `lost:` is dropped before a message that explains itself. */
function reasonText({ reason = "" }: Job): string {
  return visibleLine(reason.replace(/^lost: (?=Cannot )/, ""));
}

function endingText(job: Job): string {
  const { state, code, signal } = job;
  const why = saysMore(job) ? ` (${reasonText(job)})` : "";
  if (state === "failed" && signal !== undefined) return `was ended by ${visibleLine(signal)}${why}`;
  if (state === "failed" && code !== undefined) return `failed with exit code ${code}${why}`;
  return `${state === "done" ? "succeeded" : state === "cancelled" ? "was cancelled" : state}${why}`;
}

/** The job's name, with the index of a job of an array: `sim[7]`. */
export function jobName({ name, arrayIndex }: Pick<Job, "name" | "arrayIndex">): string {
  return visibleLine(arrayIndex === undefined ? name : `${name}[${arrayIndex}]`);
}

/** What a table says about a job apart from its state: a reason, its CPUs, its end or its priority. */
export function remarkText(job: Job): string {
  if (saysMore(job)) return reasonText(job);
  if (job.state === "running" && job.cpus.length > 0) {
    return `on ${job.cpus.length === 1 ? "CPU" : "CPUs"} ${cpusText(job.cpus, job.nodes)}`;
  }
  if (job.state === "failed") return endingText(job);
  const isWaiting = job.state === "queued" || job.state === "held";
  return isWaiting && job.priority !== 0 ? `priority ${job.priority}` : "";
}

/** Such as `2,300 jobs: 2,296 cancelled, 4 ending`. */
export function jobCountsText(jobs: readonly Job[]): string {
  const counts = new Map<JobState, number>();
  for (const { state } of jobs) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${formatCount(count)} ${state}`);
  return `${plural(jobs.length, "job")}: ${states.join(", ")}`;
}

/** Everything about a job, as names and texts. */
export function jobFacts(job: Job): (readonly [name: string, text: string])[] {
  const { limitMs, memoryBytes, startedAtMs, endedAtMs, code, signal, array, arrayIndex } = job;
  const duration = (ms: number) => formatDuration(ms / 1000);
  const waited = (untilMs: number) => `waited ${duration(untilMs - job.submittedAtMs)}`;
  const facts: Readonly<Record<string, string | undefined>> = {
    state: stateText(job.state),
    reason: saysMore(job) ? reasonText(job) : undefined,
    exit: code === undefined ? signal : String(code),
    user: job.user,
    queue: job.queue,
    priority: job.priority === 0 ? undefined : String(job.priority),
    array: array === undefined ? undefined : `${array}, index ${arrayIndex}`,
    command: job.command.map(quoted).join(" "),
    folder: job.cwd,
    CPUs: `${job.tasks}${job.cpus.length === 0 ? "" : `: ${cpusText(job.cpus, job.nodes)}`}`,
    limit: limitMs === undefined ? undefined : `${limitText(limitMs)} of running time`,
    memory: memoryBytes === undefined ? undefined : bytesText(memoryBytes),
    after: job.after.length === 0 ? undefined : job.after.join(", "),
    submitted: clockText(job.submittedAtMs),
    started: startedAtMs === undefined ? undefined : `${clockText(startedAtMs)}, ${waited(startedAtMs)}`,
    ended: endedAtMs === undefined ? undefined : clockText(endedAtMs),
    ran: startedAtMs === undefined ? undefined : `${duration(job.ranMs)} with its CPUs`,
    attempt: job.attempt > 1 ? String(job.attempt) : undefined,
    stdout: job.stdout,
    stderr: job.stderr,
  };
  return Object.entries(facts).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, visibleLine(text)] as const],
  );
}
