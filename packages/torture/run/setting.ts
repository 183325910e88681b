/** What a life is like. */
import type { NumberRange } from "@tutti/kernel/core/number-ranges.ts";
import type { GroupsKind } from "../world/kernel/machine.ts";

interface Span {
  readonly min: number;
  readonly max: number;
}

/** Options of `tutti serve --on slurm`. */
interface PilotOptions {
  readonly kinds: readonly {
    readonly name: string;
    readonly nodes: Span;
    readonly timeMs: Span;
    readonly sbatch: readonly string[];
  }[];
  readonly maxNodes: number;
  readonly idleMs: number | undefined;
  readonly drainMs: number;
  readonly stopBeforeMs: number;
  readonly steps: number;
  readonly sbatch: readonly string[];
}

/** Nodes of a Slurm, besides the machine of the scheduler: its pilots run on them. */
export interface ClusterSetting {
  /** CPUs of each node. */
  readonly nodes: readonly number[];
  /** By control groups, Slurm finds all processes of a step; without, only descendants (linuxproc). */
  readonly tracksByGroups: boolean;
  /** A node that does not answer for this long is down. */
  readonly slurmdTimeoutMs: number;
  readonly pilots: PilotOptions;
}

/** The longest time limit of a pilot. */
export function longestPilotMs({ pilots }: ClusterSetting): number {
  return Math.max(...pilots.kinds.map(({ timeMs }) => timeMs.max));
}

/** One kind of pilots, which all have this many nodes for this time. */
export function fixedKind(nodes: number, timeMs: number): PilotOptions["kinds"] {
  return [
    { name: "pilot", nodes: { min: nodes, max: nodes }, timeMs: { min: timeMs, max: timeMs }, sbatch: [] },
  ];
}

/** Numbers from 1. */
export interface Only {
  readonly jobs: readonly NumberRange[];
  readonly faults: readonly NumberRange[];
}

export interface Setting {
  readonly seed: number;
  /** How long faults and arrivals go on, in hours of the world. */
  readonly hours: number;
  /** Of the machine, or of all nodes of a pilot together. */
  readonly cpus: number;
  /** Left out: jobs run on the machine of the scheduler. */
  readonly cluster?: ClusterSetting;
  /** Control groups of the machine: how gangs can be stopped. */
  readonly groups: GroupsKind;
  /** Serves all users, run by root; or one user. */
  readonly isShared: boolean;
  readonly users: readonly string[];
  readonly policy: string;
  readonly mode: "gang" | "concurrent";
  readonly slotMs: number;
  readonly maxRows: number;
  /** Running jobs of a user at a time; undefined: no limit. */
  readonly runningJobs: number | undefined;
  readonly graceMs: number;
  /** Between two arrivals, on average. */
  readonly arrivalMs: number;
  /** Between two faults, on average. */
  readonly faultMs: number;
  /** Running times are drawn between these, on a scale of factors. */
  readonly runMs: readonly [number, number];
  /** Whether the disk keeps changes in any order without a sync. */
  readonly isLaxDisk: boolean;
  readonly pidMax: number;
  /** It begins with a store of this version, with its jobs; undefined: with an empty disk. */
  readonly olderStore: number | undefined;
  /** Weights by name; 0: not in this life. */
  readonly faults: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
  /** Of the jobs and faults that are drawn, only those with these numbers; left out: all. */
  readonly only?: Partial<Only>;
}

/** What kinds of jobs and faults belong together, because a mistake needs both at the same moment. */
export type Topic = "starts" | "ends" | "turns" | "records" | "hooks" | "clock" | "disk" | "restores";

export const POLICIES = [
  "gang",
  "easy",
  "brmms:queue=first-fit",
  "conservative",
  "wlv:queue=first-fit",
  "fcfs",
  "brms",
  "first-fit",
  "easy:order=fair-share",
] as const;
