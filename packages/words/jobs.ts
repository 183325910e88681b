/** States and ends of jobs in words. Texts that users chose go through `visibleLine`. */

import { formatCount, formatDuration, limitText, plural } from "@tutti/kernel/core/format.ts";
import { cpusText } from "@tutti/kernel/core/machine.ts";
import type { Job, WhyAnswer } from "@tutti/protocol/answers.ts";
import { fieldsWith, JOB_FIELDS, type JobFieldName } from "@tutti/protocol/job-fields.ts";
import { processorsOf, tasksText } from "@tutti/protocol/job-size.ts";
import { DEFAULT_RETRY_DELAY_MS, MAX_DOUBLED_DELAY_MS } from "@tutti/protocol/limits.ts";
import { whyNeverBegan } from "@tutti/protocol/never-began.ts";
import type { JobHook } from "@tutti/protocol/news/news.ts";
import { unitsText, useText } from "@tutti/protocol/resources.ts";
import type { JobState } from "@tutti/protocol/states.ts";
import { quoted } from "./command-line.ts";
import { fieldText, valuesText } from "./job-fields.ts";
import { bytesText, clockText } from "./times.ts";
import { visibleLine } from "./visible.ts";

/** Signs next to the state's name, so the text needs neither colour nor a special font. */
const SIGNS: Readonly<Record<JobState, string>> = {
  queued: "·",
  held: "‖",
  starting: "▷",
  running: "▶",
  paused: "❚",
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
  const after =
    job.startedAtMs === undefined || neverRan(job) ? "" : ` after ${formatDuration(job.ranMs / 1000)}`;
  return `job ${job.job} (${jobName(job)}) ${endingText(job)}${after}`;
}

/** How good earlier forecasts were. */
type PastForecasts = Pick<
  NonNullable<WhyAnswer["forecast"]>,
  "pastForecasts" | "pastWithinShare" | "uncounted"
>;

/** Words about earlier forecasts; empty until there are enough. */
export function pastErrorWords({ pastForecasts, pastWithinShare, uncounted }: PastForecasts): string {
  const left = uncounted === undefined ? "" : uncountedWords(uncounted);
  if (pastForecasts === undefined || pastWithinShare === undefined) return left;
  return `${left && `${left}; `}of the last ${formatCount(pastForecasts)} starts, ${Math.round(100 * pastWithinShare)} % were in their forecast range`;
}

/** What forecasts leave out, in words. */
export function uncountedWords(uncounted: number): string {
  return `of all jobs, ${formatCount(uncounted)} that ${uncounted === 1 ? "waits" : "wait"} for limits are not counted, so starts may be later`;
}

/** The same as a line. */
export function pastErrorText(past: PastForecasts): string {
  const words = pastErrorWords(past);
  return words === "" ? "" : `O${words.slice(1)}.\n`;
}

/** Whether the reason says more than the state, the exit code or the signal. */
export function saysMore({ reason, state, code, signal }: Job): boolean {
  return reason !== undefined && ![`exit code ${code}`, signal, `ended by ${signal}`, state].includes(reason);
}

/** Whether the job's program could not be started; its running time says nothing then. */
export function neverRan({ reason }: Job): boolean {
  return whyNeverBegan(reason) !== undefined;
}

/** The reason as shown: `lost:` is dropped before a message that explains itself. */
function reasonText({ reason = "" }: Job): string {
  return visibleLine(whyNeverBegan(reason) ?? reason);
}

function endingText(job: Job): string {
  const { state, code, signal, reason = "" } = job;
  // Such as `cancelled by ada`.
  if (state === "cancelled" && reason.startsWith("cancelled ")) return `was ${reasonText(job)}`;
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
  if (job.notBeforeMs !== undefined) return nextText(job, job.notBeforeMs);
  if (saysMore(job)) return reasonText(job);
  if (job.state === "running" && job.cpus.length > 0) {
    const units = job.units === undefined ? "" : `, ${unitsText(job.units)}`;
    return visibleLine(
      `on ${job.cpus.length === 1 ? "CPU" : "CPUs"} ${cpusText(job.cpus, job.nodes)}${units}`,
    );
  }
  if (job.state === "failed") return endingText(job);
  if (job.state !== "queued" && job.state !== "held") return "";
  return visibleLine(
    [
      ...(job.use === undefined ? [] : [`needs ${useText(job.use)}`]),
      ...(job.priority === 0 ? [] : [`priority ${job.priority}`]),
    ].join(", "),
  );
}

/** When a job begins that waits for a time, or its next attempt. */
function nextText(job: Job, atMs: number): string {
  if (job.attempt === 0) return `begins at ${clockText(atMs)}`;
  const why = job.reason === undefined ? "" : ` (${reasonText(job).replace(/^queued again: /, "")})`;
  return `attempt ${job.attempt + 1} begins at ${clockText(atMs)}${why}`;
}

/** Such as `on fail, 75, after 10 s, doubled up to 6 min`. */
function retryText({ retryOn, retryDelayMs = DEFAULT_RETRY_DELAY_MS }: Job): string | undefined {
  if (retryOn === undefined) return undefined;
  const doubled =
    retryDelayMs < MAX_DOUBLED_DELAY_MS ? `, doubled up to ${limitText(MAX_DOUBLED_DELAY_MS)}` : "";
  return `on ${retryOn.join(", ")}, after ${limitText(retryDelayMs)}${doubled}`;
}

/** Such as `2,300 jobs: 2,296 cancelled, 4 ending`. */
export function jobCountsText(jobs: readonly Job[]): string {
  const counts = new Map<JobState, number>();
  for (const { state } of jobs) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${formatCount(count)} ${state}`);
  return `${plural(jobs.length, "job")}: ${states.join(", ")}`;
}

/** CPUs of a job: `8`, or `8 (2 tasks of 4 threads)`. */
function cpusAsked(job: Job): string {
  const cpus = String(processorsOf(job));
  return (job.threads ?? 1) === 1 ? cpus : `${cpus} (${tasksText(job)})`;
}

/** What a job asks for of countable resources, and the units that it has: `gpu:2: gpu 0,1`. */
function usesText({ use, units }: Pick<Job, "use" | "units">): string | undefined {
  if (use === undefined) return undefined;
  return units === undefined ? useText(use) : `${useText(use)}: ${unitsText(units)}`;
}

/** Such as `2 min of CPU time (83 % of its CPUs), at most 1.5 GiB of memory, read 3 MiB`. */
function usedText({ usage, ranMs, ...job }: Job): string | undefined {
  if (usage === undefined) return undefined;
  const { cpuMs, peakMemoryBytes, readBytes = 0, writtenBytes = 0 } = usage;
  const share = ranMs === 0 ? 0 : (cpuMs ?? 0) / (ranMs * processorsOf(job));
  const parts = [
    ...(cpuMs === undefined
      ? []
      : [`${formatDuration(cpuMs / 1000)} of CPU time (${Math.round(100 * share)} % of its CPUs)`]),
    ...(peakMemoryBytes === undefined ? [] : [`at most ${bytesText(peakMemoryBytes)} of memory`]),
    ...(readBytes === 0 ? [] : [`read ${bytesText(readBytes)}`]),
    ...(writtenBytes === 0 ? [] : [`wrote ${bytesText(writtenBytes)}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** Such as `37 % of 2 GPUs, at most 11.2 GiB`. */
export function gpuUseText({ usage }: Job): string | undefined {
  const { gpus, gpuShare = 0, peakGpuMemoryBytes = 0 } = usage ?? {};
  if (gpus === undefined) return undefined;
  return `${Math.round(100 * gpuShare)} % of ${plural(gpus, "GPU")}, at most ${bytesText(peakGpuMemoryBytes)}`;
}

/** A hook and its last outcome: `./done.sh: exit code 0 at 12:01:02, output in /…`. */
function hookText(job: Job, hook: JobHook): string | undefined {
  const target = job[hook];
  if (target === undefined) return undefined;
  const hasEvents = hook === "webhook" || hook === "mail";
  const what = hasEvents ? `${target} (${(job.notify ?? ["end"]).join(", ")})` : target;
  const last = job.news?.find((outcome) => outcome.hook === hook);
  if (last === undefined) return what;
  if (last.atMs === undefined) return `${what}: has not run yet`;
  const ending = `${last.state === "failed" ? "failed, " : ""}${last.text} at ${clockText(last.atMs)}`;
  return `${what}: ${ending}${last.output === undefined ? "" : `, output in ${last.output}`}`;
}

/** Such as `SIGUSR1 30 s before the limit, to the script only`. */
function limitSignalText({ limitSignal }: Job): string | undefined {
  if (limitSignal === undefined) return undefined;
  const { name, beforeMs, batchOnly } = limitSignal;
  return `${name} ${limitText(beforeMs)} before the limit${batchOnly ? ", to the first process only" : ""}`;
}

/** Facts of which more is said than the value of the field. */
const FACT_TEXTS: { readonly [Name in JobFieldName]?: (job: Job) => string | undefined } = {
  limitMs: ({ limitMs = 0 }) => `${limitText(limitMs)} of running time`,
  use: usesText,
  after: ({ after }) => after.join(", "),
  singleton: () => "after earlier jobs with its name",
};

/** What a job asks for, by the names of the facts. */
function askedFacts(job: Job): Readonly<Record<string, string | undefined>> {
  const facts = fieldsWith("fact").flatMap((field) => {
    const { [field]: value } = job;
    if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
    return [[JOB_FIELDS[field].fact, FACT_TEXTS[field]?.(job) ?? fieldText(field, value)] as const];
  });
  return Object.fromEntries(facts);
}

/** Everything about a job, as names and texts. */
export function jobFacts(job: Job): (readonly [name: string, text: string])[] {
  const { startedAtMs, endedAtMs, code, signal, array, arrayIndex } = job;
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
    values: job.values === undefined ? undefined : valuesText(job.values),
    command: job.command.map(quoted).join(" "),
    folder: job.cwd,
    CPUs: `${cpusAsked(job)}${job.cpus.length === 0 ? "" : `: ${cpusText(job.cpus, job.nodes)}`}`,
    ...askedFacts(job),
    submitted: clockText(job.submittedAtMs),
    started: startedAtMs === undefined ? undefined : `${clockText(startedAtMs)}, ${waited(startedAtMs)}`,
    ended: endedAtMs === undefined ? undefined : clockText(endedAtMs),
    ran: startedAtMs === undefined ? undefined : `${duration(job.ranMs)} with its CPUs`,
    used: usedText(job),
    "GPU use": gpuUseText(job),
    attempt:
      job.attempt > 1 || job.retries !== undefined
        ? `${job.attempt}${job.retries === undefined ? "" : ` of at most ${1 + job.retries}`}`
        : undefined,
    retry: retryText(job),
    repeats: job.repeats === undefined ? undefined : `job ${job.repeats}`,
    next: job.notBeforeMs === undefined ? undefined : nextText(job, job.notBeforeMs),
    stdout: job.stdout,
    stderr: job.stderr,
    signal: limitSignalText(job),
    "at start": hookText(job, "onStart"),
    "at end": hookText(job, "onEnd"),
    "if failed": hookText(job, "onFail"),
    webhook: hookText(job, "webhook"),
    mail: hookText(job, "mail"),
  };
  return Object.entries(facts).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, visibleLine(text)] as const],
  );
}
