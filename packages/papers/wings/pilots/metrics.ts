/** Computes what pilots cost and how long jobs waited. */
import { sumOf } from "@tutti/kernel/metrics/compensated-sum.ts";
import { type Measure, measure } from "../wing.ts";
import type { PilotRecord, PilotsInstance, PilotsSchedule } from "./contract.ts";

/** Shorter jobs count as jobs of this length in the bounded slowdown, as everywhere. */
const BOUND_S = 10;
const HOUR_S = 3600;

/** Node time in seconds. */
interface PilotBill {
  readonly askedNodeS: number;
  /** While pilots ran. */
  readonly usedNodeS: number;
  /** Of nodes on which no job ran. */
  readonly idleNodeS: number;
}

/** What a pilot without a limit was asked for is what it has used. */
export function billOf(instance: PilotsInstance, schedule: PilotsSchedule): PilotBill {
  const { pilots } = schedule;
  const used = pilots.map((pilot) => pilot.nodes * heldS(pilot));
  const usedNodeS = sumOf(used);
  return {
    askedNodeS: sumOf(
      pilots.map(({ nodes, timeS }, i) => (timeS < Number.POSITIVE_INFINITY ? nodes * timeS : used[i])),
    ),
    usedNodeS,
    idleNodeS: usedNodeS - busyNodeS(instance, schedule),
  };
}

/** How long the pilot ran. */
function heldS({ runsS, goneS }: PilotRecord): number {
  return Number.isNaN(runsS) ? 0 : goneS - runsS;
}

/** Time of nodes with jobs on them. */
function busyNodeS(
  instance: PilotsInstance,
  { pilotOf, startS, endS, processorsOf }: PilotsSchedule,
): number {
  const { cpusPerNode } = instance.site;
  /** By pilot and node: until when it has been counted. */
  const countedS = new Map<number, Map<number, number>>();
  const started = Array.from(startS.keys()).filter((job) => !Number.isNaN(startS[job]));
  const terms: number[] = [];
  for (const job of started.sort((a, b) => startS[a] - startS[b])) {
    const nodes = countedS.get(pilotOf[job]) ?? new Map<number, number>();
    countedS.set(pilotOf[job], nodes);
    for (const node of new Set(processorsOf[job].map((processor) => Math.floor(processor / cpusPerNode)))) {
      const fromS = Math.max(startS[job], nodes.get(node) ?? Number.NEGATIVE_INFINITY);
      if (endS[job] <= fromS) continue;
      terms.push(endS[job] - fromS);
      nodes.set(node, endS[job]);
    }
  }
  return sumOf(terms);
}

export function measuresOf(instance: PilotsInstance, schedule: PilotsSchedule): Measure[] {
  const { submitS, runS, count } = instance.jobs;
  const { startS, endS, pilots, stopS } = schedule;
  const ended = Array.from({ length: count }, (_, job) => job).filter((job) => !Number.isNaN(endS[job]));
  const mean = (values: readonly number[]) => sumOf(values) / values.length;
  const waitsS = ended.map((job) => startS[job] - submitS[job]).sort((a, b) => a - b);
  const slowdowns = ended.map((job) =>
    Math.max(1, (endS[job] - submitS[job]) / Math.max(runS[job], BOUND_S)),
  );
  const { askedNodeS, usedNodeS, idleNodeS } = billOf(instance, schedule);
  const ran = pilots.filter(({ runsS }) => !Number.isNaN(runsS));
  return [
    measure("wait", "mean wait", "s", mean(waitsS), true),
    measure(
      "p95-wait",
      "95 % wait no longer",
      "s",
      waitsS[Math.ceil(0.95 * waitsS.length) - 1] ?? Number.NaN,
    ),
    measure("bounded-slowdown", "mean bounded slowdown", "1", mean(slowdowns)),
    measure("asked", "node-hours asked for", "h", askedNodeS / HOUR_S),
    measure("used", "node-hours used", "h", usedNodeS / HOUR_S, true),
    measure("idle", "node-hours idle", "h", idleNodeS / HOUR_S, true),
    measure("idle-share", "idle of those used", "share", idleNodeS / usedNodeS, true),
    measure("pilots", "pilots", "1", ran.length, true),
    measure("held", "nodes held, mean", "1", usedNodeS / (stopS - submitS[0])),
  ];
}
