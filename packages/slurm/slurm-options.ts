/** Defines what users say about the nodes that they want from Slurm, and refuses what could never work. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { limitText } from "@tutti/kernel/core/format.ts";
import type { Span } from "@tutti/kernel/core/node-plan.ts";
import type { Config } from "@tutti/live/daemon/config/config.ts";
import type { Configured } from "@tutti/live/daemon/executor/provider.ts";
import { minutesOf } from "./sbatch-options.ts";

/** A kind of pilot, as users name it. */
export interface PilotKind {
  readonly name: string;
  readonly nodes: Span;
  readonly timeMs: Span;
  /** Options for sbatch. */
  readonly sbatch: readonly string[];
}

export interface SlurmOptions {
  /** Kinds of pilots, with unique names. The first that can hold a job is asked for. */
  readonly kinds: readonly PilotKind[];
  /** The most nodes of all pilots together that neither drain nor go back. */
  readonly maxNodes: number;
  /** The most node time that pilots may ask for together; undefined: no limit. */
  readonly maxNodeMs?: number | undefined;
  /** The most pilots, one after the other; undefined: no limit. */
  readonly pilots?: number | undefined;
  /** A pilot goes back after this time without work; undefined: never, and one is always asked for. */
  readonly idleMs?: number | undefined;
  /** How long before its end a pilot begins to drain. */
  readonly drainMs: number;
  /** How long before its end what still runs is stopped. */
  readonly stopBeforeMs: number;
  /** The most steps of gangs at once; undefined: the default of the executor. */
  readonly steps?: number | undefined;
  /** Pilots of at most this many nodes have a connection to each; undefined: the default of the tree. */
  readonly direct?: number | undefined;
  /** Options for sbatch for pilots of all kinds, such as --partition=long. */
  readonly sbatch: readonly string[];
  /** Uses the pilot of this job id, which a front end with another state folder has submitted. */
  readonly attach?: string | undefined;
}

/** Each job is a job of Slurm of its own. */
export interface NativeOptions {
  /** The most nodes that jobs take together; undefined: all of the partition. */
  readonly nodes?: number | undefined;
  readonly sbatch: readonly string[];
}

/** What cannot be done on Slurm, with a pilot or without one. */
export const ON_SLURM = {
  modeConcurrent: 'users cannot run gangs at low priority on Slurm, expected the mode "gang"',
  offByWord: "Slurm itself says when nothing runs on a node",
} as const;

/** How nodes of pilots get GPUs and the like. */
export const NODE_RESOURCES =
  "those of nodes, such as GPUs, come from an option of sbatch after --, such as tutti serve --on slurm … -- --gres=gpu:1";

/** @throws InputError for a setting that nothing on Slurm can follow */
export function configOnSlurm({ config }: Configured): { readonly config: Config } {
  const { cpus, memoryBytes, machine } = config;
  const setting =
    cpus !== undefined ? "cpus" : memoryBytes !== undefined ? "memoryBytes" : machine.smt ? "smt" : undefined;
  if (setting === undefined) return { config };
  throw new InputError(
    `Cannot use the setting "${setting}" on Slurm: jobs have the CPUs and the memory that Slurm gives, expected options of sbatch instead, such as -- --nodelist=n[1-4] --mem=64G`,
  );
}

/** Slurm's limits are whole minutes. */
export function timeOf({ timeMs }: Pick<PilotKind, "timeMs">): Span {
  return { min: 60_000 * minutesOf(timeMs.min), max: 60_000 * minutesOf(timeMs.max) };
}

/** A job begins this much later than its pilot, at most. */
const BEGIN_MS = 60_000;

/** Whether a longer pilot may come for a job that takes longer than one that is there. */
export function haveOwnEnds(kinds: readonly PilotKind[]): boolean {
  return kinds.length > 1 || kinds.some(({ timeMs }) => timeMs.min < timeMs.max);
}

/** How much later than its pilot a job may begin and still must end in time. */
export function beginMs(kinds: readonly PilotKind[]): number {
  return haveOwnEnds(kinds) ? BEGIN_MS : 0;
}

/** The longest time limit that a job can have: a pilot lasts no longer until its jobs are stopped. */
export function mostLimitMs({ kinds, stopBeforeMs }: SlurmOptions): number {
  return Math.max(...kinds.map((kind) => timeOf(kind).max)) - stopBeforeMs - beginMs(kinds);
}

/**
 * Refuses a pilot in which nothing could start, or that could never be asked for.
 * @throws InputError
 */
export function checkKinds({ kinds, maxNodes, drainMs, stopBeforeMs }: SlurmOptions): void {
  const text = limitText;
  for (const kind of kinds) {
    const { name, nodes } = kind;
    if (nodes.min > maxNodes)
      throw new InputError(
        `Cannot keep all pilots within --max-nodes ${maxNodes}: one of the kind "${name}" has at least ${nodes.min} nodes, expected a larger --max-nodes, or a smaller --nodes`,
      );
    const limitMs = timeOf(kind).min;
    if (stopBeforeMs < drainMs && drainMs < limitMs) continue;
    throw new InputError(
      `Cannot use pilots of ${text(limitMs)} that drain ${text(drainMs)} and stop jobs ${text(stopBeforeMs)} before their end: nothing could start, expected --stop-before below --drain, and --drain below --time`,
    );
  }
}
