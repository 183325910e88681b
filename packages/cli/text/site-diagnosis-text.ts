/** Says in words what a site's Slurm allows, and what to do about it. */

import { plural } from "@tutti/kernel/core/format.ts";
import { MOST_DIRECT } from "@tutti/live/daemon/executor/cluster/link-tree.ts";
import type { ProcessLimit, SiteDiagnosis, StepDiagnosis } from "@tutti/slurm/site-doctor.ts";
import { offsetText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { bold, bullet, factLines } from "./text.ts";

/** A round trip below this leaves enough time to agree on a slot two slots ahead, at 100 ms. */
const SLOW_MS = 20;
/**
 * Threads of srun here, for each node to which there is a connection; and on the pilot's first node, for each
 * node, those of another srun and of the shell that waits for it, besides the first node's own.
 */
const THREADS_HERE = 5;
const THREADS_ON_FIRST = 6;
const THREADS_OF_FIRST = 20;
/** Memory of these there. */
const MB_ON_FIRST = 10;
const HERE = "on this machine";
/** Simulated conductors behind real sockets (bench/front-end-nodes.ts). */
const MOST_TRIED = 1000;

export function siteDiagnosisText(site: SiteDiagnosis, advice: readonly string[]): string {
  const { step } = site;
  const facts: Record<string, string> = {
    Slurm: `${site.version}, cluster ${site.cluster}, ${plural(site.nodes, "node")} with ${plural(site.processors, "processor")}`,
    "MPI types": `${site.mpiTypes.join(", ")} (default: ${site.mpiDefault})`,
    affinity: site.taskPlugin,
    "process tracking": site.proctrack,
    "lost nodes": `Slurm gives a node up after ${site.slurmdTimeout}`,
    "end of a job": `KILL follows TERM after ${site.killWait}; a job is forgotten after ${site.minJobAge}`,
    controller: controllerText(site),
    accounting: site.accounting
      ? "sacct works: tutti lab import can use it"
      : "none: tutti lab import has no source",
    processes: processText(site),
    pilots: pilotsText(site),
    ...(typeof step === "string" ? { steps: `not examined: ${step}` } : stepFacts(step)),
  };
  const visible = Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, visibleLine(value)]),
  );
  const advised = advice.length === 0 ? [] : ["", bold("Advice"), ...advice.map(bullet)];
  return [...factLines(visible), ...advised, ""].join("\n");
}

/** What schedulers would cost slurmctld, which all users share. */
function controllerText({ users, questionsPerS }: SiteDiagnosis): string {
  const each = `a scheduler whose pilots run asks slurmctld ${((60 * questionsPerS) / Math.max(1, users)).toFixed(0)} questions a minute`;
  if (users < 2) return each;
  return `${each}; if each of the ${users} users with jobs had one, ${questionsPerS.toFixed(2)} a second`;
}

function processText({ processes, step }: SiteDiagnosis): string {
  const text = ({ most, used }: ProcessLimit) =>
    `${most === null ? "no limit" : `at most ${most}`}, ${used} in use`;
  const there = typeof step === "string" ? "" : `; on ${step.node} ${text(step.processes)}`;
  return `you may have, threads counted, here ${text(processes)}${there}`;
}

function pilotsText({ nodes }: SiteDiagnosis): string {
  const tried = `up to ${plural(MOST_TRIED, "node")} were tried`;
  const most = Math.min(nodes, MOST_TRIED);
  return `${tried}; on ${plural(most, "node")}, the first one spends ${MB_ON_FIRST * most} MB on srun for the others`;
}

/** How many nodes a pilot can have before its sruns meet a limit, and where. */
function mostNodes({ processes, step }: SiteDiagnosis): { readonly nodes: number; readonly where: string } {
  const room = ({ most, used }: ProcessLimit) => (most ?? Number.POSITIVE_INFINITY) - used;
  const connections = Math.floor(room(processes) / THREADS_HERE);
  // Pilots of more nodes have one connection, and sometimes these as well.
  const here = connections > MOST_DIRECT ? Number.POSITIVE_INFINITY : connections;
  const first =
    typeof step === "string"
      ? Number.POSITIVE_INFINITY
      : Math.floor((room(step.processes) - THREADS_OF_FIRST) / THREADS_ON_FIRST);
  return here <= first || typeof step === "string"
    ? { nodes: Math.max(0, here), where: HERE }
    : { nodes: Math.max(0, first), where: `on ${step.node}` };
}

function stepFacts(step: StepDiagnosis): Record<string, string> {
  const ms = (value: number) => `${value.toFixed(2)} ms`;
  return {
    "a job's start": `${step.startS.toFixed(1)} s from sbatch until it ran on ${step.node}; ${ms(step.connectMs)} from srun to its first answer`,
    "  its CPUs": step.allowedCpus,
    freezer: step.controlGroups
      ? "a step can make control groups; Tutti uses signals all the same, because these groups are Slurm's"
      : "signals: a step cannot make control groups",
    priority: step.realTime ? "real-time priority is possible" : "no real-time priority",
    "steps at once": `${step.stepsAtOnce} of ${step.stepsAsked} ran at the same time, the last after ${ms(step.stepsMs)}`,
    "round trip": `${ms(step.roundTripMs)} at best, ${ms(step.medianRoundTripMs)} at the median, through srun`,
    "clock offset": `${offsetText(step.clockOffsetMs)} between the monotonic clocks, right within ${ms(step.roundTripMs / 2)}`,
  };
}

/** What the findings mean for `tutti serve --on slurm`, the most important first. */
export function siteAdvice(site: SiteDiagnosis): string[] {
  const { step, otherVersions, mpiTypes } = site;
  const advice: string[] = [];
  if (typeof step === "string") {
    advice.push(
      "no step could be examined; give options of sbatch after --, such as a partition: tutti doctor --on slurm -- --partition=NAME",
    );
  } else {
    if (step.stepsAtOnce < step.stepsAsked) {
      advice.push(
        `only ${step.stepsAtOnce} steps run at once here: set "steps" to that, or gangs wait for each other's start`,
      );
    }
    if (step.medianRoundTripMs > SLOW_MS) {
      advice.push(
        `a round trip takes ${step.medianRoundTripMs.toFixed(0)} ms: use slots of 500 ms or longer, or measure again when the login node is quiet`,
      );
    }
    if (!step.realTime) {
      advice.push(
        "conductors get no priority over the gangs: on busy nodes their clocks are late by some ms, so use slots of 100 ms or longer",
      );
    }
  }
  const { nodes, where } = mostNodes(site);
  if (nodes < site.nodes) {
    advice.push(
      `your limit of processes ${where} (ulimit -u) is enough for a pilot of ${plural(nodes, "node")}: ${where === HERE ? `the first ${MOST_DIRECT} take ${THREADS_HERE} processes each here` : `each takes ${THREADS_ON_FIRST} processes on the first node`}; stay below with --nodes, or ask for a higher limit`,
    );
  }
  if (!mpiTypes.some((type) => type.startsWith("pmix"))) {
    advice.push("there is no pmix: Open MPI needs mpirun inside a job, and --mpi pmix is refused by Slurm");
  }
  if (!site.taskPlugin.includes("affinity") && !site.taskPlugin.includes("cgroup")) {
    advice.push("Slurm does not bind tasks to CPUs; Tutti does it itself");
  }
  if (site.forcedSharing.length > 0) {
    advice.push(
      `OverSubscribe=FORCE lets jobs share CPUs although a pilot asks for --exclusive, in ${site.forcedSharing.join(", ")}: two pilots, or a pilot and another job, can get the same CPUs, and gangs are then slow; use another partition, or run one tutti serve only`,
    );
  }
  if (otherVersions.length > 0) {
    advice.push(`these nodes run another version of Slurm: ${otherVersions.slice(0, 10).join(", ")}`);
  }
  return advice;
}
