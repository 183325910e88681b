/**
 * Checks a run of pilots from its record alone, with bookkeeping of its own: every start, every pilot, every
 * bound at every request, and the bill. It trusts neither simulator nor policy, and is slow on purpose.
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import { plural } from "@tutti/kernel/core/format.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { Measure } from "../wing.ts";
import {
  NO_PILOT,
  type PilotAsks,
  type PilotRecord,
  type PilotSettings,
  type PilotsInstance,
  type PilotsSchedule,
} from "./contract.ts";

/** Rounding of sums of many terms. */
const TOLERANCE = 1e-9;

/**
 * @returns what was checked, in words
 * @throws RuleViolation for the first thing that is wrong
 */
export function checkPilots(
  instance: PilotsInstance,
  settings: PilotSettings,
  schedule: PilotsSchedule,
  measures: readonly Measure[],
): string {
  for (let job = 0; job < instance.jobs.count; job++) checkJob(instance, settings, schedule, job);
  const intervals = intervalsOf(instance, schedule);
  checkProcessors(schedule, intervals);
  for (const index of schedule.pilots.keys()) checkPilot(instance, settings, schedule, index);
  if (settings.asks !== undefined) checkIdle(instance, settings.asks, schedule);
  checkNodes(instance, schedule);
  checkBill(instance, schedule, intervals, measures);
  const started = schedule.pilotOf.filter((pilot) => pilot !== NO_PILOT).length;
  return `${plural(started, "job")} on ${plural(schedule.pilots.length, "pilot")}`;
}

function fail(rule: string, job: JobIndex, timeS: number, message: string): never {
  throw new RuleViolation(rule, job, timeS, message);
}

// ── Jobs ──────────────────────────────────────────────────────────────────────────────────────────────────

function checkJob(
  { jobs, site }: PilotsInstance,
  settings: PilotSettings,
  { pilots, pilotOf, startS, endS, processorsOf, refused }: PilotsSchedule,
  job: JobIndex,
): void {
  const name = `job ${jobs.id[job]}`;
  const at = startS[job];
  const wrong = (rule: string, text: string) => fail(rule, job, at, `${name} ${text}`);
  if (pilotOf[job] === NO_PILOT) {
    if (!Number.isNaN(at) || !Number.isNaN(endS[job])) wrong("no-pilot", "runs on no pilot");
    if (refused.includes(job)) {
      if (mayBeHeld({ jobs, site }, settings, job))
        wrong("refused", "is refused, although a pilot may hold it");
    } else if (!isExhausted(settings)) wrong("never-started", "has never started");
    return;
  }
  const pilot = pilots[pilotOf[job]];
  if (pilot === undefined) wrong("no-pilot", `runs on pilot ${pilotOf[job]}, which does not exist`);
  if (!(at >= jobs.submitS[job])) wrong("start-before-arrival", `starts at ${at} s, before it arrives`);
  if (!(at >= pilot.servesS)) wrong("start-before-pilot", `starts at ${at} s, before its pilot serves`);
  if (endS[job] !== at + jobs.runS[job]) wrong("end", `ends at ${endS[job]} s, not after its run time`);
  if (!(endS[job] <= pilot.goneS)) wrong("end-after-pilot", `ends at ${endS[job]} s, after its pilot`);
  if (!(at + jobs.estimateS[job] < pilot.stopS || pilot.stopS === Number.POSITIVE_INFINITY))
    wrong("limit-after-stop", `may run until ${at + jobs.estimateS[job]} s, after its pilot's stop`);
  const own = processorsOf[job];
  const most = pilot.nodes * site.cpusPerNode;
  if (own.length !== jobs.size[job]) wrong("size", `has ${own.length} processors of ${jobs.size[job]}`);
  if (own.some((processor, i) => !(processor >= 0 && processor < most && processor > (own[i - 1] ?? -1))))
    wrong("processors", `has the processors ${own.join(" ")} of a pilot with ${most}`);
}

/** Whether some kind of pilot is large and long enough for the job. A minute passes until it begins. */
function mayBeHeld({ jobs, site }: PilotsInstance, { asks }: PilotSettings, job: JobIndex): boolean {
  if (asks === undefined) return jobs.size[job] <= site.nodes * site.cpusPerNode;
  return asks.kinds.some(
    ({ nodes, timeS }) =>
      nodes.min <= asks.maxNodes &&
      jobs.size[job] <= Math.min(nodes.max, asks.maxNodes) * site.cpusPerNode &&
      jobs.estimateS[job] + site.stopBeforeS + 60 <= timeS.max,
  );
}

function isExhausted({ asks }: PilotSettings): boolean {
  return asks !== undefined && asks.maxNodeS < Number.POSITIVE_INFINITY;
}

/** When a processor or a node of a pilot has jobs: start and end of each, by pilot and by number. */
type Intervals = ReadonlyMap<number, ReadonlyMap<number, readonly (readonly [number, number, JobIndex])[]>>;

/** By pilot and processor. */
function intervalsOf({ jobs }: PilotsInstance, schedule: PilotsSchedule): Intervals {
  const { pilotOf, startS, endS, processorsOf } = schedule;
  const all = new Map<number, Map<number, [number, number, JobIndex][]>>();
  for (let job = 0; job < jobs.count; job++) {
    if (pilotOf[job] === NO_PILOT) continue;
    const pilot = all.get(pilotOf[job]) ?? new Map<number, [number, number, JobIndex][]>();
    all.set(pilotOf[job], pilot);
    for (const processor of processorsOf[job]) {
      const used = pilot.get(processor);
      if (used === undefined) pilot.set(processor, [[startS[job], endS[job], job]]);
      else used.push([startS[job], endS[job], job]);
    }
  }
  return all;
}

/** A job of no length takes part, too: it must not be inside another one. */
function checkProcessors({ startS }: PilotsSchedule, all: Intervals): void {
  for (const [pilot, processors] of all)
    for (const [processor, used] of processors) {
      const inOrder = used.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
      for (const [i, [fromS, , job]] of inOrder.entries())
        if (i > 0 && fromS < inOrder[i - 1][1])
          fail(
            "processor-twice",
            job,
            startS[job],
            `processor ${processor} of pilot ${pilot} has jobs ${inOrder[i - 1][2]} and ${job} at ${fromS} s`,
          );
    }
}

// ── Pilots ────────────────────────────────────────────────────────────────────────────────────────────────

function checkPilot(
  { site }: PilotsInstance,
  { asks }: PilotSettings,
  { pilots }: PilotsSchedule,
  index: number,
): void {
  const pilot = pilots[index];
  const { kind, nodes, timeS, askedS, runsS, servesS, drainS, stopS, goneS } = pilot;
  const wrong = (text: string) => fail("pilot", -1, askedS, `pilot ${index} ${text}`);
  if (!(goneS >= askedS)) wrong(`goes back at ${goneS} s`);
  if (asks === undefined) {
    if (index > 0 || nodes !== site.nodes) wrong(`has ${nodes} nodes, expected one pilot of ${site.nodes}`);
    return;
  }
  if (!Number.isNaN(runsS)) {
    if (!(runsS >= askedS + site.waitS)) wrong(`runs at ${runsS} s, asked for at ${askedS} s`);
    if (servesS !== runsS + site.startS) wrong(`serves at ${servesS} s, runs at ${runsS} s`);
    if (drainS !== runsS + timeS - site.drainS) wrong(`drains at ${drainS} s`);
    if (stopS !== runsS + timeS - site.stopBeforeS) wrong(`stops at ${stopS} s`);
    if (!(goneS <= stopS)) wrong(`goes back at ${goneS} s, after its stop at ${stopS} s`);
  }
  const own = asks.kinds.find(({ name }) => name === kind);
  if (own === undefined) fail("pilot", -1, askedS, `pilot ${index} is of the kind ${kind}`);
  if (!(nodes >= own.nodes.min && nodes <= own.nodes.max)) wrong(`has ${nodes} nodes`);
  if (!(timeS >= own.timeS.min && timeS <= own.timeS.max)) wrong(`has a limit of ${timeS} s`);
  checkRequest(asks, pilots, index);
}

/** The bounds, as they were when this pilot was asked for; later they only become looser. */
function checkRequest(asks: PilotAsks, pilots: readonly PilotRecord[], index: number): void {
  const { askedS, kind } = pilots[index];
  let nodes = 0;
  let nodeS = 0;
  for (const [i, other] of pilots.slice(0, index + 1).entries()) {
    const isThere =
      other.goneS > askedS || i === index || (other.askedS === askedS && other.goneS === askedS);
    if (isThere && !(other.drainS <= askedS)) nodes += other.nodes;
    const usedS = Number.isNaN(other.runsS) ? 0 : other.goneS - other.runsS;
    nodeS += other.nodes * (isThere ? other.timeS : usedS);
    const isAwaited = isThere && i < index && !(other.servesS <= askedS);
    if (isAwaited && other.kind === kind)
      fail(
        "two-awaited",
        -1,
        askedS,
        `pilots ${i} and ${index} of the kind ${kind} are on their way at once`,
      );
  }
  if (nodes > asks.maxNodes)
    fail("most", -1, askedS, `pilot ${index}: ${nodes} nodes at once, expected at most ${asks.maxNodes}`);
  if (nodeS > asks.maxNodeS * (1 + TOLERANCE))
    fail("hours", -1, askedS, `pilot ${index}: ${nodeS} node-seconds, expected at most ${asks.maxNodeS}`);
}

/** Never more nodes than the site has. */
function checkNodes({ site }: PilotsInstance, { pilots }: PilotsSchedule): void {
  for (const { runsS } of pilots) {
    if (Number.isNaN(runsS)) continue;
    const used = pilots.reduce(
      (sum, other) => sum + (other.runsS <= runsS && other.goneS > runsS ? other.nodes : 0),
      0,
    );
    if (used > site.nodes)
      fail("site", -1, runsS, `${used} nodes run at ${runsS} s, expected at most ${site.nodes}`);
  }
}

/**
 * A pilot on which nothing runs for longer than the idle time must have been of use to a job that waited: one
 * of its size, with a limit that ends in time, at some instant of the last idle time.
 */
function checkIdle({ jobs, site }: PilotsInstance, { idleS }: PilotAsks, schedule: PilotsSchedule): void {
  const { pilots, pilotOf, startS, endS } = schedule;
  for (const [index, pilot] of pilots.entries()) {
    if (!(pilot.servesS <= pilot.goneS)) continue;
    const own = [...startS.keys()].filter((job) => pilotOf[job] === index);
    const lastS = own.reduce((most, job) => Math.max(most, endS[job]), pilot.servesS);
    if (own.some((job) => !(endS[job] <= pilot.goneS)))
      fail("given-back", -1, pilot.goneS, `pilot ${index} goes back while a job runs on it`);
    const fromS = pilot.goneS - idleS;
    if (!(pilot.goneS > lastS + idleS)) continue;
    const isWanted = [...startS.keys()].some((job) => {
      const untilS = Number.isNaN(startS[job]) ? Number.POSITIVE_INFINITY : startS[job];
      const isWaiting = jobs.submitS[job] <= pilot.goneS && untilS >= fromS;
      return isWaiting && jobs.size[job] <= pilot.nodes * site.cpusPerNode;
    });
    if (!isWanted)
      fail("idle", -1, pilot.goneS, `pilot ${index} is idle from ${lastS} s until ${pilot.goneS} s`);
  }
}

// ── The bill ──────────────────────────────────────────────────────────────────────────────────────────────

function checkBill(
  { site }: PilotsInstance,
  { pilots }: PilotsSchedule,
  all: Intervals,
  measures: readonly Measure[],
): void {
  let [asked, used, busy] = [0, 0, 0];
  for (const [index, { nodes, timeS, runsS, goneS }] of pilots.entries()) {
    const ranS = Number.isNaN(runsS) ? 0 : goneS - runsS;
    asked += nodes * (timeS < Number.POSITIVE_INFINITY ? timeS : ranS);
    used += nodes * ranS;
    for (let node = 0; node < nodes; node++) {
      const first = node * site.cpusPerNode;
      const own = Array.from({ length: site.cpusPerNode }, (_, i) => all.get(index)?.get(first + i) ?? []);
      busy += lengthOfUnion(own.flat());
    }
  }
  const expected = { asked, used, idle: used - busy };
  for (const [name, nodeS] of Object.entries(expected)) {
    const value = measures.find((one) => one.name === name)!.value;
    if (Math.abs(value - nodeS / 3600) <= TOLERANCE * (1 + used / 3600)) continue;
    fail("bill", -1, 0, `the bill says ${value} node-hours for "${name}", expected ${nodeS / 3600}`);
  }
}

function lengthOfUnion(intervals: readonly (readonly [number, number, JobIndex])[]): number {
  let length = 0;
  let untilS = Number.NEGATIVE_INFINITY;
  for (const [fromS, endS] of intervals.toSorted((a, b) => a[0] - b[0])) {
    length += Math.max(0, endS - Math.max(fromS, untilS));
    untilS = Math.max(untilS, endS);
  }
  return length;
}
