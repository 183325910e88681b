/** Defines what users say about the nodes that they want from Slurm, and refuses what could never work. */
import { InputError } from "../../../core/errors.ts";
import { minutesOf } from "./sbatch-options.ts";

export interface SlurmOptions {
  readonly nodes: number;
  /** Time limit of a pilot. */
  readonly timeMs: number;
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
  /** More options for sbatch, such as --partition=long. */
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

/** The longest time limit that a job can have: a pilot lasts no longer until its jobs are stopped. */
export function mostLimitMs({ timeMs, stopBeforeMs }: SlurmOptions): number {
  return minutesOf(timeMs) * 60_000 - stopBeforeMs;
}

/**
 * Refuses a pilot in which nothing could start.
 * @throws InputError
 */
export function checkTimes({ timeMs, drainMs, stopBeforeMs }: SlurmOptions): void {
  const limitMs = minutesOf(timeMs) * 60_000;
  const text = (ms: number) => `${ms / 1000} s`;
  if (stopBeforeMs < drainMs && drainMs < limitMs) return;
  throw new InputError(
    `Cannot use pilots of ${text(limitMs)} that drain ${text(drainMs)} and stop jobs ${text(stopBeforeMs)} before their end: nothing could start, expected --stop-before below --drain, and --drain below --time`,
  );
}
