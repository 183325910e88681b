/** Explains when a job started, on which pilot, and what it waited for. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { formatNumber, plural } from "@tutti/kernel/core/format.ts";
import type { PilotSettings, PilotsInstance, PilotsSchedule } from "./contract.ts";

/** @throws InputError for a job that is not there */
export function explainPilots(
  { jobs, site }: PilotsInstance,
  settings: PilotSettings,
  schedule: PilotsSchedule,
  name: string,
  label: string,
): readonly string[] {
  const job = jobs.id.findIndex((id) => String(id) === name);
  if (job < 0) throw new InputError(`Cannot explain job "${name}": expected the number of a job of the run`);
  const { pilots, pilotOf, startS, processorsOf, refused } = schedule;
  const submitS = jobs.submitS[job];
  const at = (timeS: number) => `${formatNumber(timeS - submitS)} s`;
  const first = `job ${name} under ${label}: ${plural(jobs.size[job], "processor")}, limit ${formatNumber(jobs.estimateS[job])} s, submitted at ${formatNumber(submitS)} s; times count from then`;
  if (refused.includes(job)) return [first, "It was refused: no pilot may hold its size and its limit."];
  if (Number.isNaN(startS[job]))
    return [first, "It never started: what is left of the node-hours is less than it needs."];
  const pilot = pilots[pilotOf[job]];
  const nodes = new Set(processorsOf[job].map((processor) => Math.floor(processor / site.cpusPerNode))).size;
  const start = `It started at ${at(startS[job])} on ${plural(nodes, "node")} of pilot ${pilotOf[job] + 1}, which has ${plural(pilot.nodes, "node")}.`;
  if (settings.asks === undefined) return [first, start];
  const waits = jobs.submitS.filter(
    (otherS, other) => otherS <= submitS && other !== job && startS[other] > submitS,
  ).length;
  const number = `Pilot ${pilotOf[job] + 1}`;
  const pilotText =
    pilot.servesS <= submitS
      ? `${number} was asked for ${formatNumber(submitS - pilot.askedS)} s earlier and served; its stop is at ${at(pilot.stopS)}.`
      : `${number} was asked for ${pilot.askedS < submitS ? `${formatNumber(submitS - pilot.askedS)} s earlier` : `at ${at(pilot.askedS)}`} and served from ${at(pilot.servesS)}; its stop is at ${at(pilot.stopS)}.`;
  return [
    first,
    `${waits === 0 ? "No other job" : plural(waits, "other job")} waited when it came.`,
    pilotText,
    start,
    ...takersThen({ jobs, site }, schedule, job),
  ];
}

/** What kept the pilots that served when the job came. */
function takersThen(
  { jobs, site }: Pick<PilotsInstance, "jobs" | "site">,
  schedule: PilotsSchedule,
  job: number,
): string[] {
  const submitS = jobs.submitS[job];
  if (schedule.startS[job] === submitS) return [];
  const there = schedule.pilots.filter(({ servesS, goneS }) => servesS <= submitS && goneS >= submitS);
  const small = there.filter(({ nodes }) => nodes * site.cpusPerNode < jobs.size[job]).length;
  const short = there.filter(
    ({ nodes, stopS }) =>
      nodes * site.cpusPerNode >= jobs.size[job] && submitS + jobs.estimateS[job] >= stopS,
  ).length;
  const busy = there.length - small - short;
  if (there.length === 0) return ["No pilot could take jobs when it came."];
  return [
    `Of ${plural(there.length, "pilot")} that could take jobs when it came, ${small} had too few processors, ${short} would have ended too early, and ${busy} had others on them or in front of it.`,
  ];
}
