/** Says when something is expected: in one place, so that nobody reads a time where only a range is known. */

import { formatDuration } from "@tutti/kernel/core/format.ts";
import { FEWEST_PAST_JOBS } from "@tutti/protocol/limits.ts";
import { clockText } from "./times.ts";

/** When something is expected: Unix times in ms. */
export interface Expected {
  readonly p10Ms: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  /** Too few jobs have ended: the median is not worth a mention. */
  readonly onlyRange?: true | undefined;
}

/** The end of a job as its start is stated. */
export function endOf(times: {
  readonly endP10Ms: number;
  readonly endP50Ms: number;
  readonly endP90Ms: number;
  readonly onlyRange?: true | undefined;
}): Expected {
  const { endP10Ms, endP50Ms, endP90Ms, onlyRange } = times;
  return { p10Ms: endP10Ms, p50Ms: endP50Ms, p90Ms: endP90Ms, onlyRange };
}

/** `11:00:00 (10:50:00 to 11:30:00)`: the median and the middle 80 %; one time if that is a second. */
export function expectedText(expected: Expected, timeText = clock): string {
  const { p10Ms, p50Ms, p90Ms } = expected;
  if (p90Ms - p10Ms < 1000) return timeText(p50Ms);
  const range = `${timeText(p10Ms)} to ${timeText(p90Ms)}`;
  return isRange(expected) ? range : `${timeText(p50Ms)} (${range})`;
}

/** The same in a sentence: `at 11:00:00 (10:50:00 to 11:30:00)`, `between 10:50:00 and 11:30:00`. */
export function expectedPhrase(expected: Expected): string {
  const { p10Ms, p90Ms } = expected;
  return isRange(expected) ? `between ${clock(p10Ms)} and ${clock(p90Ms)}` : `at ${expectedText(expected)}`;
}

/** How long from now: `in 14.8 min`, `in 2.00 s to 14.8 min`, `at once`. */
export function expectedInText(expected: Expected, nowMs: number): string {
  const { p10Ms, p50Ms, p90Ms } = expected;
  const inS = (ms: number) => formatDuration(Math.max(0, ms - nowMs) / 1000);
  if (isRange(expected)) return `in ${inS(p10Ms)} to ${inS(p90Ms)}`;
  return p50Ms - nowMs < 1000 ? "at once" : `in ${inS(p50Ms)}`;
}

/** Whether only a range is known, and not a time. */
export function isRange({ p10Ms, p90Ms, onlyRange }: Expected): boolean {
  return onlyRange === true && p90Ms - p10Ms >= 1000;
}

/** Why some of these are ranges without a time; empty if none is. */
export function rangesText(all: readonly Expected[]): string {
  return all.some(isRange)
    ? `only a range, because fewer than ${FEWEST_PAST_JOBS} jobs have ended that tell how long jobs run`
    : "";
}

function clock(ms: number): string {
  return clockText(ms);
}
