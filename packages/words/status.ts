/** Says in words how the scheduler is. */

import { formatCount, formatDuration, plural } from "@tutti/kernel/core/format.ts";
import { cpusText } from "@tutti/kernel/core/machine.ts";
import type { AllocationsAnswer, Drain, NodeAnswer, StatusAnswer, Stray } from "@tutti/protocol/answers.ts";
import { clockText } from "./times.ts";
import { visibleLine } from "./visible.ts";

/**
 * The conductor: its process, how it stops gangs, and whether its slots are late.
 * @param hasNodes whether there is any node on which one could run
 */
export function conductorText(
  { connected, pid, freezer, lateP99Ms, silentMs, rests }: StatusAnswer["conductor"],
  hasNodes = true,
): string {
  if (rests !== undefined) return `none: ${visibleLine(rests)}`;
  if (!hasNodes) return "none yet: there are no nodes now";
  if (!connected) return "not connected: nothing starts or ends until it is";
  // On a cluster, each node has a conductor.
  const process = pid === undefined ? "connected" : `process ${pid}`;
  if (silentMs !== undefined)
    return `${process} has not answered for ${formatDuration(silentMs / 1000)}: nothing starts or ends until it does`;
  const stoppedBy = freezer === undefined ? "" : `, gangs are stopped by ${visibleLine(freezer)}`;
  const late = lateP99Ms === undefined ? "" : `, slots at most ${lateP99Ms.toFixed(1)} ms late (p99)`;
  return `${process}${stoppedBy}${late}`;
}

/** Sockets and cores, and threads of cores that jobs do not get. */
export function machineText({ sockets, cores, unusedCpus }: NonNullable<StatusAnswer["machine"]>): string {
  const unused = unusedCpus.length;
  const rest =
    unused === 0
      ? ""
      : `; ${unused === 1 ? "CPU" : "CPUs"} ${cpusText(unusedCpus)} ${unused === 1 ? "is a further thread" : "are further threads"} of these cores, and not for jobs ([machine] smt)`;
  return `${plural(cores, "core")} on ${plural(sockets, "socket")}${rest}`;
}

/** Since when nothing starts, without a full stop. */
export function drainText({ sinceMs, by, reason }: Drain): string {
  const why = reason === undefined ? "" : `: ${visibleLine(reason)}`;
  return `Nothing starts until tutti drain --end: ${visibleLine(by)} drained the scheduler at ${clockText(sinceMs)}${why}`;
}

/** How many nodes there are, and how many do not answer. */
export function nodesText(nodes: readonly NodeAnswer[]): string {
  const parts = (["up", "silent", "lost"] as const).flatMap((state) => {
    const count = nodes.filter((node) => node.state === state && !node.isAwaited).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  const awaited = nodes.filter(({ isAwaited }) => isAwaited).length;
  if (awaited > 0) parts.push(`${awaited} awaited`);
  return parts.length === 0 ? "none now" : parts.join(", ");
}

/** A node: whether it answers, and how exactly it turns the rows at the same time as the others. */
export function nodeText({ node, state, isAwaited, cpus, uncertaintyMs, ...skew }: NodeAnswer): string {
  // Where a batch system places jobs, no clock is measured. Offsets are between times since the last boot.
  const clock = uncertaintyMs === undefined ? "" : `, clock known to ± ${uncertaintyMs.toFixed(2)} ms`;
  const { skewP50Ms, skewP99Ms } = skew;
  const late =
    skewP50Ms === undefined || skewP99Ms === undefined
      ? ""
      : `, slots begin ${skewP50Ms.toFixed(1)} ms after the first node (p50), ${skewP99Ms.toFixed(1)} ms (p99)`;
  return `${visibleLine(node)} ${isAwaited ? "awaited" : state}, ${plural(cpus, "CPU")}${clock}${late}`;
}

/** What is wrong with nodes, one sentence each; empty if nothing is. */
export function nodeWarnings(nodes: readonly NodeAnswer[]): string[] {
  return nodes.flatMap(({ node, state, isAwaited, isUncertain, uncertaintyMs = 0 }) => {
    const name = visibleLine(node);
    if (isAwaited) return [`Node ${name} takes no part yet: it does when it has answered and no job runs.`];
    if (state === "silent")
      return [`Node ${name} does not answer: its gangs are stopped on their other nodes.`];
    if (state === "lost")
      return [`Node ${name} is lost: its gangs are killed on their other nodes, and nothing starts on it.`];
    if (!isUncertain) return [];
    return [
      `The clock of node ${name} is known only within ${uncertaintyMs.toFixed(1)} ms, more than a tenth of a slot: its gangs may change later than on other nodes. Use longer slots (--slot).`,
    ];
  });
}

/** For a caller without waiting or running jobs: the counts are of all users. */
export function noJobsText(counts: StatusAnswer["counts"]): string {
  const running = counts.starting + counts.running + counts.paused + counts.ending;
  const waiting = counts.queued + counts.held;
  if (running + waiting === 0) return "No jobs are waiting or running.";
  return `None of your jobs are waiting or running. Of other users, ${are(running)} running and ${are(waiting)} waiting.`;
}

function are(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "is" : "are"}`;
}

/** How many units of each resource jobs hold: `2 of 4 gpu held; 3 disk, shared; 4 gpu on each node`. */
export function resourcesText(resources: NonNullable<StatusAnswer["resources"]>): string {
  return resources
    .map(({ name, units, held, shared, perNode }) => {
      const kind = visibleLine(name);
      if (perNode) return `${units.length} ${kind} on each node`;
      if (shared) return `${units.length} ${kind}, shared`;
      return `${held} of ${units.length} ${kind} held`;
    })
    .join("; ");
}

/** How good the forecasts were. */
export function forecastsText({ jobs, withinShare }: NonNullable<StatusAnswer["forecasts"]>): string {
  return `of the last ${plural(jobs, "start")}, ${Math.round(100 * withinShare)} % were in their forecast range; 80 % is the aim`;
}

/** Running attempts that the store does not know. */
export function straysText(strays: readonly Stray[]): string {
  const run = strays.length === 1 ? "runs" : "run";
  return `${plural(strays.length, "attempt")} ${run} without a record in the store, because the store is older than they are. They run next to the gangs until they end, and their output stays in their folders.`;
}

export function strayText({ job, attempt, user, state, ranMs, command, nodes }: Stray): string {
  const where = nodes === undefined ? "" : ` on ${visibleLine(nodes.join(", "))}`;
  return `job ${job}, attempt ${attempt}, of ${visibleLine(user)}: ${state}${where} for ${formatDuration(ranMs / 1000)}: ${visibleLine(command.join(" "))}`;
}

const HOUR_MS = 3_600_000;

/** Node-hours of a bill, such as "12.5 asked for, 4.0 used, 0.8 of them idle". */
export function billText({ askedNodeMs, usedNodeMs, idleNodeMs }: NonNullable<StatusAnswer["bill"]>): string {
  const hours = (ms: number) => (ms / HOUR_MS).toFixed(ms < HOUR_MS ? 2 : 1);
  return `${hours(askedNodeMs)} node-hours asked for, ${hours(usedNodeMs)} used, ${hours(idleNodeMs)} of them idle`;
}

type Allocations = Omit<AllocationsAnswer, "schema">;

/** The allocations of the scheduler, one line each, why there are no nodes, and what they have cost. */
export function allocationLines({ allocations, trouble, rests, bill }: Allocations): string[] {
  const hasKinds = new Set(allocations.map(({ kind }) => kind)).size > 1;
  const texts = allocations.map((one) => {
    const { name = "(being submitted)", state, nodes, leftMs, kind, askedNodes } = one;
    const asked = askedNodes === undefined ? "" : `, asks for ${plural(askedNodes, "node")}`;
    const place = nodes.length === 0 ? asked : ` on ${nodes.map(visibleLine).join(", ")}`;
    const left = leftMs === undefined ? "" : `, ends in ${formatDuration(leftMs / 1000)}`;
    const of = hasKinds && kind !== undefined ? ` (${visibleLine(kind)})` : "";
    return `${name}${of}  ${visibleLine(state)}${place}${left}`;
  });
  return [...texts, ...nodeSourceLines({ allocations, trouble, rests, bill })];
}

/** Why there are no nodes, and what they have cost. */
export function nodeSourceLines({ allocations, trouble, rests, bill }: Allocations): string[] {
  const lines: string[] = [];
  if (trouble !== undefined) lines.push(visibleLine(trouble));
  else if (allocations.length === 0)
    lines.push(rests === undefined ? "No nodes are held" : `No nodes are held: ${visibleLine(rests)}`);
  if (bill !== undefined && bill.askedNodeMs > 0) lines.push(billText(bill));
  return lines;
}
