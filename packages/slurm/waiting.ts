/** Says what keeps a pilot waiting in Slurm, and what people can do about it. */
import type { Clock } from "@tutti/host/clock.ts";
import type { Allocation } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import type { KeptStore } from "@tutti/live/daemon/executor/kept-file.ts";
import type { EndSettings } from "./allocation.ts";
import { LOST_PATIENCE_MS, type NeedSettings } from "./need.ts";
import type { NodeKinds } from "./node-kinds.ts";
import type { Pilot } from "./pilot.ts";
import type { PilotContent, StoredPilot } from "./pilot-file.ts";
import type { Slurm } from "./slurm.ts";

/** Slurm is asked about its nodes at most this often, by how long a pilot has waited. */
const ASK_MS = 15_000;
const ASK_LATER_MS = 120_000;
const LATER_MS = 600_000;
/** States in which a node runs nothing new; also one that does not answer. */
const UNUSABLE = /^(?:down|drain|fail|future|inval|maint|power|reboot|reserved|unknown)|\*$/;
const NAMED = 4;

export interface PilotSettings extends EndSettings, NeedSettings {
  /** The most pilots, one after the other; undefined: no limit. */
  readonly pilots?: number | undefined;
  /** The most node time that pilots may ask for together; undefined: no limit. */
  readonly maxNodeMs?: number | undefined;
  /** The partition of a kind of pilots; undefined: the default one. */
  partitionOf(kind: string | undefined): string | undefined;
  /** Options and script for sbatch. The options must set the comment to the mark. */
  submission(pilot: StoredPilot): { readonly options: readonly string[]; readonly script: string };
}

export interface PilotSetup {
  readonly slurm: Slurm;
  readonly clock: Clock;
  readonly store: KeptStore<PilotContent>;
  readonly content: PilotContent;
  readonly settings: PilotSettings;
  readonly kinds: NodeKinds;
  /** Whether a conductor of the allocation has sent anything within the last seconds. */
  isHeard(allocation: Allocation): boolean;
  /** Ends the conductors of an allocation that Slurm may have forgotten; undefined: of all. */
  endConductors(nodes: readonly string[] | undefined): void;
}

interface WaitingSetup {
  readonly slurm: Slurm;
  readonly clock: Clock;
  readonly settings: Pick<PilotSettings, "partitionOf">;
}

/** Writes the advice into the pilot, if it waits. An advice is worth no error. */
export async function adviseWaiting(pilot: Pilot, { slurm, clock, settings }: WaitingSetup): Promise<void> {
  const { job } = pilot;
  const nowMs = clock.nowMs();
  if (job?.state !== "PENDING") {
    pilot.advice = undefined;
    return;
  }
  const everyMs = nowMs < pilot.waitsSinceMs + LATER_MS ? ASK_MS : ASK_LATER_MS;
  if (pilot.advice !== undefined && nowMs < pilot.advice.atMs + everyMs) return;
  const { nodes = 1, kind } = pilot;
  const wishes = { nodes, partition: settings.partitionOf(kind) };
  const text = await adviceFor(job.id, job.reason, slurm, wishes).catch(() => "");
  pilot.advice = { text, atMs: nowMs };
}

interface Wanted {
  readonly nodes: number;
  readonly partition: string | undefined;
}

async function adviceFor(id: string, reason: string, slurm: Slurm, { nodes, partition }: Wanted) {
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
 * Which pilot takes the jobs that must wait for the end of those in use, and when.
 * @param mayAdd whether another pilot may be submitted
 * @param isForLost whether jobs wait for nodes that pilots in use have lost
 * @returns undefined if none is in use
 */
export function nextText(pilots: readonly Pilot[], mayAdd: boolean, isForLost: boolean): string | undefined {
  const inUse = pilots.filter(({ allocation }) => allocation !== undefined);
  if (inUse.length === 0) return undefined;
  const next = pilots.find(({ allocation, isGivenUp }) => allocation === undefined && isGivenUp !== true);
  const name = next?.jobId === undefined ? "the next pilot" : `the next pilot, ${next.jobId},`;
  const slurmDecides = "Slurm decides when it starts, so there is no forecast";
  if (next?.job !== undefined) {
    const { state, reason } = next.job;
    return `${name} is ${state.toLowerCase()} in Slurm${reason === "None" ? "" : ` (${reason})`}; ${slurmDecides}`;
  }
  if (next !== undefined) return `${name} is being submitted; ${slurmDecides}`;
  const ids = andList(inUse.map(({ jobId }) => jobId ?? ""));
  const isOne = inUse.length === 1;
  if (isForLost && mayAdd) {
    const patience = `when jobs have waited ${LOST_PATIENCE_MS / 60_000} min for them, nothing else starts on it`;
    if (!isOne)
      return `the pilots ${ids} have lost nodes; one goes back when nothing runs on it, and then another pilot is asked for; ${patience}`;
    return `pilot ${ids} has lost nodes; it goes back when nothing runs on it, and then another pilot is asked for; ${patience}`;
  }
  const holds = isOne ? `pilot ${ids} cannot hold` : `none of the pilots ${ids} can hold`;
  if (mayAdd)
    return `another pilot follows when ${holds} what waits, and there is room for it; ${slurmDecides}`;
  return 'no other pilot follows: "tutti allocations start" asks for one when this one has ended';
}

/** That pilots wait in Slurm, as a clause; undefined: none does. */
export function comingText(pilots: readonly Pilot[]): string | undefined {
  const pending = pilots.filter(({ job, isGivenUp }) => job?.state === "PENDING" && isGivenUp !== true);
  if (pending.length === 0) return undefined;
  const ids = andList(pending.map(({ jobId }) => jobId ?? ""));
  return pending.length === 1 ? `pilot ${ids} is pending in Slurm` : `pilots ${ids} are pending in Slurm`;
}

/** Such as "4, 5 and 6". */
function andList(names: readonly string[]): string {
  const [last, ...others] = [...names].reverse();
  return others.length === 0 ? last : `${others.reverse().join(", ")} and ${last}`;
}
