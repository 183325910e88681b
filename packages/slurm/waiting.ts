/** Says what keeps a pilot waiting in Slurm, and what people can do about it. */
import type { Clock } from "@tutti/host/clock.ts";
import type { KeptStore } from "@tutti/live/daemon/executor/kept-file.ts";
import type { EndSettings } from "./allocation.ts";
import { LOST_PATIENCE_MS } from "./need.ts";
import type { Pilot } from "./pilot.ts";
import type { PilotContent } from "./pilot-file.ts";
import type { Slurm } from "./slurm.ts";

/** Slurm is asked about its nodes at most this often. */
const ASK_MS = 15_000;
/** States in which a node runs nothing new; also one that does not answer. */
const UNUSABLE = /^(?:down|drain|fail|future|inval|maint|power|reboot|reserved|unknown)|\*$/;
const NAMED = 4;

interface Wishes {
  /** Nodes of a pilot. */
  readonly nodes: number;
  readonly partition?: string | undefined;
}

export interface PilotSettings extends EndSettings, Wishes {
  /** The most pilots, one after the other; undefined: no limit. */
  readonly pilots?: number | undefined;
  /** A pilot goes back after this time without work; undefined: never, and one is always asked for. */
  readonly idleMs?: number | undefined;
  /** Options and script for sbatch. The options must set the comment to the mark. */
  submission(mark: string): { readonly options: readonly string[]; readonly script: string };
}

export interface PilotSetup {
  readonly slurm: Slurm;
  readonly clock: Clock;
  readonly store: KeptStore<PilotContent>;
  readonly content: PilotContent;
  readonly settings: PilotSettings;
  /** Whether a conductor of the allocation has sent anything within the last seconds. */
  isHeard(): boolean;
  /** Ends the conductors of an allocation that Slurm may have forgotten. */
  endConductors(): void;
}

interface WaitingSetup {
  readonly slurm: Slurm;
  readonly clock: Clock;
  readonly settings: Wishes;
}

/** Writes the advice into the pilot, if it waits. An advice is worth no error. */
export async function adviseWaiting(pilot: Pilot, { slurm, clock, settings }: WaitingSetup): Promise<void> {
  const { job } = pilot;
  const nowMs = clock.nowMs();
  if (job?.state !== "PENDING") {
    pilot.advice = undefined;
    return;
  }
  if (pilot.advice !== undefined && nowMs < pilot.advice.atMs + ASK_MS) return;
  const text = await adviceFor(job.id, job.reason, slurm, settings).catch(() => "");
  pilot.advice = { text, atMs: nowMs };
}

async function adviceFor(id: string, reason: string, slurm: Slurm, { nodes, partition }: Wishes) {
  const all = await slurm.nodeReasons(partition);
  const away = all.filter(({ state }) => UNUSABLE.test(state));
  const usable = all.length - away.length;
  if (usable < nodes) {
    const named = away.slice(0, NAMED).map((node) => `${node.node} is ${node.state}${because(node.reason)}`);
    const more = away.length > NAMED ? `, and ${away.length - NAMED} more` : "";
    const fewer = usable > 0 ? `, or end it (tutti down) and ask for fewer (--nodes ${usable})` : "";
    return `It needs ${nodes} nodes, and ${usable} of ${all.length} can be used: ${named.join(", ")}${more}. Wait until they are back${fewer}`;
  }
  if (/^(?:Resources|Priority)$/.test(reason)) {
    return `Its nodes are in use by other jobs: squeue --start --jobs=${id} says when Slurm expects to start it`;
  }
  return `scontrol show job ${id} says more`;
}

function because(reason: string): string {
  return reason === "none" || reason === "" ? "" : ` (${reason})`;
}

/**
 * Which pilot takes the jobs that must wait for the end of the one in use, and when.
 * @param mayAdd whether another pilot may be submitted
 * @param isForLost whether jobs wait for nodes that the one in use has lost
 * @returns undefined if none is in use
 */
export function nextText(
  pilots: readonly Pilot[],
  inUse: Pilot | undefined,
  mayAdd: boolean,
  isForLost: boolean,
): string | undefined {
  if (inUse === undefined) return undefined;
  const next = pilots.find((pilot) => pilot !== inUse && pilot.isGivenUp !== true);
  const name = next?.jobId === undefined ? "the next pilot" : `the next pilot, ${next.jobId},`;
  if (next?.job?.state === "RUNNING") {
    return `${name} has its nodes and takes the waiting jobs when nothing runs on pilot ${inUse.jobId}, at the latest at that time`;
  }
  const slurmDecides = "Slurm decides when it starts, so there is no forecast";
  if (next?.job !== undefined) {
    const { state, reason } = next.job;
    return `${name} is ${state.toLowerCase()} in Slurm${reason === "None" ? "" : ` (${reason})`}; ${slurmDecides}`;
  }
  if (next !== undefined) return `${name} is being submitted; ${slurmDecides}`;
  if (isForLost && mayAdd) {
    const patience = `when jobs have waited ${LOST_PATIENCE_MS / 60_000} min for them, nothing else starts on it`;
    return `pilot ${inUse.jobId} has lost nodes; it goes back when nothing runs on it, and then another pilot is asked for; ${patience}`;
  }
  if (mayAdd) return `${name} is submitted when pilot ${inUse.jobId} drains; ${slurmDecides}`;
  return 'no other pilot follows: "tutti allocations start" asks for one when this one has ended';
}
