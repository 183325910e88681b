/** How much of what a job asked for it used, in sentences. */

import { formatDigits, formatDuration, limitText, plural } from "@tutti/kernel/core/format.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { gpuUseText, jobName } from "./jobs.ts";
import { bytesText } from "./times.ts";

/** A shorter job says little about how many processors its program can use. */
const LEAST_RAN_MS = 5000;
/** From this share on, there is nothing to save. */
const USED_WELL = 0.75;
/** Room left above the peak when less memory is suggested. */
const MEMORY_ROOM = 1.25;
const MIB = 2 ** 20;

/**
 * Such as `job 7 (sim) used 1.3 of its 8 CPUs (16 %) in 12 min, so -n 2 would do. It had at most 1 GiB
 * of its 8 GiB of memory, so --mem 1280M would do.`
 */
export function efficiencyText(job: Job): string {
  const who = `job ${job.job} (${jobName(job)})`;
  if (job.endedAtMs === undefined) {
    return `${who} has not ended: its use is counted at its end. ${gpuWords(job, "So far, it") ?? ""}`.trimEnd();
  }
  if (job.startedAtMs === undefined) return `${who} was never started.`;
  const { usage, ranMs } = job;
  const isCounted = usage?.cpuMs !== undefined || usage?.peakMemoryBytes !== undefined;
  if (usage === undefined || (!isCounted && usage.gpus === undefined)) {
    return `${who}: nothing was counted: its machine has no control groups for jobs, or an earlier version of Tutti ran it.`;
  }
  const cpus =
    usage.cpuMs === undefined
      ? `${who} ran ${formatDuration(ranMs / 1000)}; its CPU time was not counted`
      : `${who} used ${cpusWords(job, usage.cpuMs)}`;
  return [`${cpus}.`, memoryWords(job), gpuWords(job), limitWords(job)]
    .filter((text) => text !== undefined)
    .join(" ");
}

function cpusWords(job: Job, cpuMs: number): string {
  const asked = processorsOf(job);
  const used = job.ranMs === 0 ? 0 : cpuMs / job.ranMs;
  const words = `${formatDigits(used, 1)} of ${asked === 1 ? "its CPU" : `its ${asked} CPUs`} (${Math.round((100 * used) / asked)} %) in ${formatDuration(job.ranMs / 1000)}`;
  if (used / asked >= USED_WELL || asked === 1) return words;
  if (job.ranMs < LEAST_RAN_MS) return `${words}, too short to say more`;
  const fewer = Math.max(1, Math.ceil(used));
  if (fewer >= asked) return words;
  return `${words}, so ${suggestion(job, fewer)} would do`;
}

/** The option that asks for this number of processors; with tasks of several threads, there are several. */
function suggestion({ tasks, threads = 1 }: Job, fewer: number): string {
  if (threads === 1) return `-n ${fewer}`;
  return tasks === 1 ? `-c ${fewer}` : plural(fewer, "CPU");
}

function memoryWords({ usage, memoryBytes }: Job): string | undefined {
  const peak = usage?.peakMemoryBytes;
  if (peak === undefined) return undefined;
  if (memoryBytes === undefined) return `It had at most ${bytesText(peak)} of memory.`;
  const words = `It had at most ${bytesText(peak)} of its ${bytesText(memoryBytes)} of memory`;
  const enough = MIB * Math.ceil((peak * MEMORY_ROOM) / MIB);
  return enough >= memoryBytes * USED_WELL ? `${words}.` : `${words}, so --mem ${enough / MIB}M would do.`;
}

/** Without advice: how many GPUs a program can use says only the program. */
function gpuWords(job: Job, who = "It"): string | undefined {
  const text = gpuUseText(job);
  return text && `${who} used ${text} of GPU memory.`;
}

/** Only a job that ended by itself says how long such jobs take. */
function limitWords({ state, ranMs, limitMs }: Job): string | undefined {
  if (limitMs === undefined || state !== "done" || ranMs > limitMs / 4) return undefined;
  return `Its limit was ${limitText(limitMs)}: with a shorter one, the next may start earlier.`;
}
