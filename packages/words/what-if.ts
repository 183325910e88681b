/** Says in words what would happen: who gains and who loses, and when a job would start and end. */

import { formatDuration, limitText, plural } from "@tutti/kernel/core/format.ts";
import type { WhatIfAnswer } from "@tutti/protocol/forecasts.ts";
import { endOf, expectedInText, expectedPhrase, isRange } from "./expected.ts";
import { clockText } from "./times.ts";
import { visibleLine } from "./visible.ts";

type PolicyForecast = WhatIfAnswer["policies"][number];
type Changes = NonNullable<PolicyForecast["changes"]>;
type Shift = Changes["yours"]["starts"];
type Hypothetical = NonNullable<PolicyForecast["hypothetical"]>[number];

/** `12 jobs start earlier, 3 later, the worst by 41 min.`; ends only if they tell another story. */
export function changesText({ yours, others }: Changes): string {
  const starts = sum(yours.starts, others.starts);
  const ends = sum(yours.ends, others.ends);
  const never = yours.never + others.never;
  const isElsewhere = others.starts.earlier + others.starts.later > 0;
  const isOwn = yours.starts.earlier + yours.starts.later > 0;
  const sentences = [
    shiftText(starts, ["start", "starts"]) ?? "No waiting job starts more than a second earlier or later.",
    ...(isElsewhere && isOwn
      ? [`Of your jobs, ${yours.starts.earlier} earlier and ${yours.starts.later} later.`]
      : isElsewhere
        ? ["None of them is one of your jobs."]
        : []),
    ...(ends.earlier === starts.earlier && ends.later === starts.later
      ? []
      : [shiftText(ends, ["end", "ends"]) ?? "No job ends more than a second earlier or later."]),
    ...(never === 0
      ? []
      : [
          `${plural(never, "job")} would no longer have a forecast: too large for what is left, or never started.`,
        ]),
  ];
  return sentences.join(" ");
}

/** When a job would start and end that is not submitted. */
export function hypotheticalText(options: string, forecast: Hypothetical, nowMs: number): string {
  const { queue, estimateMs, noForecast } = forecast;
  const job = `A job with ${visibleLine(options)} (queue ${visibleLine(queue)}, limit ${limitText(estimateMs)})`;
  if (!hasTimes(forecast)) return `${job}: no forecast, because ${WHY_NO_FORECAST[noForecast ?? "failed"]}.`;
  const end = endOf(forecast);
  const endText = isRange(end) ? expectedPhrase(end) : `at ${clockText(end.p50Ms)}`;
  return `${job} would start ${expectedInText(forecast, nowMs)}, ${expectedPhrase(forecast)}, and end ${endText}.`;
}

type Times = "p10Ms" | "p50Ms" | "p90Ms" | "endP10Ms" | "endP50Ms" | "endP90Ms";

/** All times are present, or none is. */
export function hasTimes<Forecast extends Partial<Record<Times, number>>>(
  forecast: Forecast,
): forecast is Forecast & Record<Times, number> {
  return forecast.p50Ms !== undefined && forecast.endP50Ms !== undefined;
}

export const WHY_NO_FORECAST: Readonly<Record<NonNullable<Hypothetical["noForecast"]>, string>> = {
  drained: "nothing starts until an administrator undrains the scheduler",
  window: "a window keeps jobs from starting, and this policy cannot be simulated with one",
  memory: "it waits for memory or for units of a resource, or is behind a job that does",
  cpus: "fewer CPUs are left than it needs",
  queue: "too many jobs are before it in the queue",
  limit: "it waits for a limit on its user, a group or its queue",
  never: "the policy would never start it",
  failed: "the simulation failed",
};

/** By how much a time changes; a second or less counts as the same. */
export function changeText(ms: number): string {
  if (Math.abs(ms) <= 1000) return "same";
  return `${ms > 0 ? "+" : "−"}${formatDuration(Math.abs(ms) / 1000)}`;
}

function shiftText(
  { earlier, later, mostEarlierMs, mostLaterMs }: Shift,
  [many, one]: readonly [string, string],
): string | undefined {
  const verb = (count: number) => (count === 1 ? one : many);
  const by = (count: number, word: string, ms: number) =>
    `${count === 1 ? "" : `, the ${word}`} by ${formatDuration(ms / 1000)}`;
  if (earlier === 0 && later === 0) return undefined;
  if (later === 0)
    return `${plural(earlier, "job")} ${verb(earlier)} earlier${by(earlier, "most", mostEarlierMs)}.`;
  const worst = by(later, "worst", mostLaterMs);
  if (earlier === 0) return `${plural(later, "job")} ${verb(later)} later${worst}.`;
  return `${plural(earlier, "job")} ${verb(earlier)} earlier, ${later} later${worst}.`;
}

function sum(a: Shift, b: Shift): Shift {
  return {
    earlier: a.earlier + b.earlier,
    later: a.later + b.later,
    mostEarlierMs: Math.max(a.mostEarlierMs, b.mostEarlierMs),
    mostLaterMs: Math.max(a.mostLaterMs, b.mostLaterMs),
  };
}
