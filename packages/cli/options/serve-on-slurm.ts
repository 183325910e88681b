/** The options of `tutti serve` for a scheduler on Slurm, and their meaning. */

import type { Provider } from "@tutti/live/daemon/executor/provider.ts";
import { type Command, Option } from "commander";
import { UsageError } from "../errors.ts";
import { PROVIDERS } from "../providers.ts";
import { duration, integer } from "./parse.ts";

/** As commander reads them. Durations in seconds. */
export interface SlurmFlags {
  readonly on?: "local" | "slurm";
  readonly nodes?: number;
  readonly time?: number;
  readonly pilots?: number;
  readonly idle?: number | "never";
  readonly drain?: number;
  readonly stopBefore?: number;
  readonly steps?: number;
  readonly attach?: string;
  readonly native?: boolean;
}

const DEFAULT_DRAIN_S = 300;
const DEFAULT_STOP_BEFORE_S = 60;
const DEFAULT_IDLE_S = 300;
const MAX_NODES = 65_536;
/** Flags that mean nothing on one machine. */
const ONLY_ON_SLURM: readonly (keyof SlurmFlags)[] = [
  ...(["nodes", "time", "pilots", "idle", "drain"] as const),
  ...(["stopBefore", "steps", "attach", "native"] as const),
];
/** Flags that only pilots have. */
const ONLY_FOR_PILOTS = ONLY_ON_SLURM.filter((flag) => flag !== "nodes" && flag !== "native");

/** A flag as people type it. */
const typed = (flag: string) => `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export function addSlurmOptions(command: Command): void {
  command
    .argument("[sbatch...]", "after --, with --on slurm: options for sbatch, such as --partition=long")
    .addOption(
      new Option("--on <place>", "run jobs on this machine, or on nodes of Slurm").choices([
        "local",
        "slurm",
      ]),
    )
    .option("--nodes <n>", "on Slurm: number of nodes", integer(1, MAX_NODES))
    .option("--time <duration>", "on Slurm: how long each pilot holds the nodes", duration("above zero"))
    .option("--pilots <n>", "on Slurm: at most this many pilots, one after the other", integer(1))
    .option(
      "--idle <duration>",
      `on Slurm: give a pilot back after this time without jobs, and ask for one only when jobs wait; never: always hold one (default: ${DEFAULT_IDLE_S / 60}m)`,
      (text: string) => (text === "never" ? text : duration("above zero")(text)),
    )
    .option(
      "--drain <duration>",
      `on Slurm: this long before the end of a pilot, only jobs start that can end in time (default: ${DEFAULT_DRAIN_S / 60}m)`,
      duration("above zero"),
    )
    .option(
      "--stop-before <duration>",
      `on Slurm: this long before the end of a pilot, jobs are stopped and queued again (default: ${DEFAULT_STOP_BEFORE_S}s)`,
      duration("above zero"),
    )
    .option("--steps <n>", "on Slurm: at most this many steps of Slurm at once (default: 16)", integer(1))
    .option("--attach <job>", "on Slurm: use a pilot that another state folder has submitted")
    .option("--native", "on Slurm: without a pilot, each job is a job of Slurm; only policies without turns");
}

/**
 * After what else is wrong without a pilot: leaving the options out would lead there.
 * @throws UsageError for options of pilots if there is none
 */
export function refuseWithoutPilot(flags: SlurmFlags): void {
  if (flags.on !== "slurm" || flags.native !== true) return;
  const alien = ONLY_FOR_PILOTS.filter((flag) => flags[flag] !== undefined).map(typed);
  if (alien.length === 0) return;
  throw new UsageError(`Cannot use ${alien.join(", ")} with --native: there is no pilot`);
}

/** @throws UsageError for options that contradict each other */
export async function providerOf(flags: SlurmFlags, sbatch: readonly string[]): Promise<Provider> {
  if (flags.on !== "slurm") {
    const alien = ONLY_ON_SLURM.find((flag) => flags[flag] !== undefined);
    if (alien !== undefined)
      throw new UsageError(`Cannot use ${typed(alien)} on one machine: add --on slurm`);
    if (sbatch.length > 0) throw new UsageError(`Cannot use "${sbatch[0]}": tutti serve has no arguments`);
    return PROVIDERS.local();
  }
  if (flags.native === true) return PROVIDERS["slurm-native"]({ nodes: flags.nodes, sbatch });
  const { nodes, time, drain = DEFAULT_DRAIN_S, stopBefore = DEFAULT_STOP_BEFORE_S } = flags;
  const { idle = DEFAULT_IDLE_S } = flags;
  if (nodes === undefined || time === undefined) {
    throw new UsageError(
      "Cannot ask Slurm for nodes: expected --nodes and --time, such as --nodes 4 --time 8h",
    );
  }
  return PROVIDERS.slurm({
    nodes,
    timeMs: time * 1000,
    pilots: flags.pilots,
    idleMs: idle === "never" ? undefined : idle * 1000,
    drainMs: drain * 1000,
    stopBeforeMs: stopBefore * 1000,
    steps: flags.steps,
    sbatch,
    attach: flags.attach,
  });
}
