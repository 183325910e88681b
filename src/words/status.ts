/** Says in words how the scheduler is. */
import type { StatusAnswer, Stray } from "../protocol/answers.ts";
import { formatDuration, plural } from "../report/text/format.ts";
import { visibleLine } from "./visible.ts";

/** The conductor: its process, how it stops gangs, and whether its slots are late. */
export function conductorText({
  connected,
  pid,
  freezer,
  lateP99Ms,
  silentMs,
}: StatusAnswer["conductor"]): string {
  if (!connected) return "not connected: nothing starts or ends until it is";
  const process = `process ${pid ?? "unknown"}`;
  if (silentMs !== undefined)
    return `${process} has not answered for ${formatDuration(silentMs / 1000)}: nothing starts or ends until it does`;
  const stoppedBy = freezer === undefined ? "" : `, gangs are stopped by ${visibleLine(freezer)}`;
  const late = lateP99Ms === undefined ? "" : `, slots at most ${lateP99Ms.toFixed(1)} ms late (p99)`;
  return `${process}${stoppedBy}${late}`;
}

/** How good the forecasts were. */
export function forecastsText(record: NonNullable<StatusAnswer["forecasts"]>): string {
  const { jobs, errorP50Ms, errorP90Ms, withinShare } = record;
  const [p50, p90] = [errorP50Ms, errorP90Ms].map((ms) => formatDuration(ms / 1000));
  return `for the last ${plural(jobs, "start")}, half were off by at most ${p50}, 90 % by at most ${p90}; ${Math.round(100 * withinShare)} % were in the forecast range`;
}

/** Running attempts that the store does not know. */
export function straysText(strays: readonly Stray[]): string {
  const run = strays.length === 1 ? "runs" : "run";
  return `${plural(strays.length, "attempt")} ${run} without a record in the store, because the store is older than they are. They run next to the gangs until they end, and their output stays in their folders.`;
}

export function strayText({ job, attempt, user, state, ranMs, command }: Stray): string {
  return `job ${job}, attempt ${attempt}, of ${visibleLine(user)}: ${state} for ${formatDuration(ranMs / 1000)}: ${visibleLine(command.join(" "))}`;
}
