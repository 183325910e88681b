/** Says which jobs a submit has made. */

import { limitText, plural } from "@tutti/kernel/core/format.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import { processorsOf, tasksText } from "@tutti/protocol/job-size.ts";
import { useText } from "@tutti/protocol/resources.ts";
import type { DryRunAnswer, Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { expectedPhrase, rangesText as whyRange } from "@tutti/words/expected.ts";
import { uncountedWords } from "@tutti/words/jobs.ts";
import { bytesText, clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { hasTimes, WHY_NO_FORECAST } from "@tutti/words/what-if.ts";

/** Such as `submitted job 71, which repeats job 12`, `submitted jobs 71-76: an array of 6`. */
export function submittedText(jobs: readonly Job[]): string {
  const [first] = jobs;
  if (first === undefined) return "submitted no job";
  const { job, repeats } = first;
  if (jobs.length === 1) {
    return `submitted job ${job}${repeats === undefined ? "" : `, which repeats job ${repeats}`}`;
  }
  const numbers = rangesText(rangesOf(jobs.map((one) => one.job)));
  const isArray = jobs.every(({ array }) => array !== undefined && array === first.array);
  const what = isArray ? `an array of ${jobs.length}` : plural(jobs.length, "job");
  const again = jobs.flatMap((one) => one.repeats ?? []);
  const repeated =
    again.length === 0 ? "" : `, which repeat ${rangesText(rangesOf(again.sort((a, b) => a - b)))}`;
  return `submitted jobs ${numbers}: ${what}${repeated}`;
}

/** What a submit would do, and when the job should start. */
export function dryRunText(answer: DryRunAnswer, asked: SubmitJob): string {
  const { jobs, queue, estimateMs, never, waitsFor, window, forecast, uncounted } = answer;
  const limit =
    asked.limitMs === undefined
      ? `no time limit (planned with ${limitText(estimateMs)})`
      : `limit ${limitText(asked.limitMs)}`;
  const what = `would submit ${plural(jobs, "job")} with ${needsText(asked)} to queue ${visibleLine(queue)}, ${limit}`;
  if (never !== undefined) return `${what}; cancelled at once: ${visibleLine(never)}`;
  const waits = [
    ...(asked.held ? ["held until tutti release"] : []),
    ...(waitsFor === undefined
      ? []
      : [`after ${waitsFor.length === 1 ? "job" : "jobs"} ${waitsFor.join(", ")}`]),
    ...(asked.beginAtMs === undefined ? [] : [`not before ${clockText(asked.beginAtMs)}`]),
  ];
  if (waits.length > 0) return `${what}; it waits: ${waits.join(", ")}`;
  const kept = window === undefined ? "" : `; it waits for the end of ${windowText(window)}`;
  if (forecast === undefined || !hasTimes(forecast)) {
    return `${what}${kept}; no forecast, because ${WHY_NO_FORECAST[forecast?.noForecast ?? "failed"]}`;
  }
  const remarks = [whyRange([forecast]), uncounted === undefined ? "" : uncountedWords(uncounted)];
  const expected = `${jobs === 1 ? "" : "the first is "}expected to start ${expectedPhrase(forecast)}`;
  return [`${what}${kept}`, expected, ...remarks.filter((words) => words !== "")].join("; ");
}

/** Such as `window "disk" (12:00:00 to 14:00:00): new disk`. */
function windowText({ name, fromMs, untilMs, reason }: NonNullable<DryRunAnswer["window"]>): string {
  const why = reason === undefined ? "" : `: ${visibleLine(reason)}`;
  return `window "${visibleLine(name)}" (${clockText(fromMs)} to ${clockText(untilMs)})${why}`;
}

/** Such as `4 CPUs (2 tasks of 2 threads), 1 GiB of memory and gpu:1`. */
function needsText({ tasks = 1, threads = 1, memoryBytes, use }: SubmitJob): string {
  const cpus = plural(processorsOf({ tasks, threads }), "CPU");
  const parts = [
    threads === 1 ? cpus : `${cpus} (${tasksText({ tasks, threads })})`,
    ...(memoryBytes === undefined ? [] : [`${bytesText(memoryBytes)} of memory`]),
    ...(use === undefined ? [] : [visibleLine(useText(use))]),
  ];
  return parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
