/** The options of `tutti serve` for a scheduler on other machines: on Slurm, or on hosts that ssh reaches. */

import type { Span } from "@tutti/kernel/core/node-plan.ts";
import type { Provider } from "@tutti/live/daemon/executor/provider.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../errors.ts";
import { PROVIDERS } from "../providers.ts";
import { duration, integer, positive } from "./parse.ts";

type PilotKind = Parameters<(typeof PROVIDERS)["slurm"]>[0]["kinds"][number];

/** As commander reads them. Durations in seconds. */
export interface SlurmFlags {
  readonly on?: "local" | "slurm" | "ssh";
  readonly hosts?: string;
  readonly nodes?: Span;
  /** Seconds. */
  readonly time?: Span;
  readonly pilot?: readonly PilotKind[];
  readonly maxNodes?: number;
  readonly maxNodeHours?: number;
  readonly pilots?: number;
  readonly idle?: number | "never";
  readonly drain?: number;
  readonly stopBefore?: number;
  readonly steps?: number;
  readonly direct?: number;
  readonly attach?: string;
  readonly native?: boolean;
}

const DEFAULT_DRAIN_S = 300;
const DEFAULT_STOP_BEFORE_S = 60;
const DEFAULT_IDLE_S = 300;
const MAX_NODES = 65_536;
/** Flags that mean nothing on one machine. */
const ONLY_ON_SLURM: readonly (keyof SlurmFlags)[] = [
  ...(["nodes", "time", "pilot", "maxNodes", "maxNodeHours", "pilots", "idle", "drain"] as const),
  ...(["stopBefore", "steps", "direct", "attach", "native"] as const),
];
/** Flags that only pilots have. */
const ONLY_FOR_PILOTS = ONLY_ON_SLURM.filter((flag) => flag !== "nodes" && flag !== "native");

/** A flag as people type it. */
const typed = (flag: string) => `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export function addSlurmOptions(command: Command): void {
  command
    .argument(
      "[options...]",
      "after --: options for sbatch with --on slurm, such as --partition=long, or for ssh with --on ssh, such as -F config",
    )
    .addOption(
      new Option(
        "--on <place>",
        "run jobs on this machine, on nodes of Slurm, or on hosts that ssh reaches",
      ).choices(["local", "slurm", "ssh"]),
    )
    .option("--hosts <file>", "on ssh: file of hosts, one on each line, as ssh knows them")
    .option("--nodes <n>", "on Slurm: nodes of a pilot, such as 4, or 1..8 by what waits", nodeSpan)
    .option(
      "--time <duration>",
      "on Slurm: how long a pilot holds its nodes, such as 8h, or 30m..8h by the limits of what waits",
      timeSpan,
    )
    .option(
      "--pilot <kind>",
      'on Slurm: a kind of pilots, such as "small: --nodes 1..8 --time 10m..1h --partition=short"; may be repeated; the first kind that can hold a job is asked for',
      pilotKind,
    )
    .option(
      "--max-nodes <n>",
      "on Slurm: at most this many nodes at once, in all pilots",
      integer(1, MAX_NODES),
    )
    .option(
      "--max-node-hours <hours>",
      "on Slurm: pilots ask for at most so much time of nodes together",
      positive,
    )
    .option("--pilots <n>", "on Slurm: at most this many pilots, until tutti allocations start", integer(1))
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
    .option(
      "--direct <n>",
      "on Slurm: pilots of more nodes than this have one connection, and their nodes pass messages on (default: 16)",
      integer(1),
    )
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
  if (flags.hosts !== undefined && flags.on !== "ssh")
    throw new UsageError("Cannot use --hosts without --on ssh: add --on ssh");
  if (flags.on !== "slurm") {
    const alien = ONLY_ON_SLURM.find((flag) => flags[flag] !== undefined);
    if (alien !== undefined) {
      const place =
        flags.on === "ssh"
          ? "on hosts that ssh reaches: only Slurm has it"
          : "on one machine: add --on slurm";
      throw new UsageError(`Cannot use ${typed(alien)} ${place}`);
    }
    if (flags.on === "ssh") return onHosts(flags, sbatch);
    if (sbatch.length > 0) throw new UsageError(`Cannot use "${sbatch[0]}": tutti serve has no arguments`);
    return PROVIDERS.local();
  }
  if (flags.native === true) return PROVIDERS["slurm-native"]({ nodes: flags.nodes?.max, sbatch });
  const { drain = DEFAULT_DRAIN_S, stopBefore = DEFAULT_STOP_BEFORE_S } = flags;
  const { idle = DEFAULT_IDLE_S, maxNodeHours } = flags;
  const kinds = kindsOf(flags);
  return PROVIDERS.slurm({
    kinds,
    maxNodes: flags.maxNodes ?? kinds.reduce((sum, kind) => sum + kind.nodes.max, 0),
    maxNodeMs: maxNodeHours === undefined ? undefined : maxNodeHours * 3_600_000,
    pilots: flags.pilots,
    idleMs: idle === "never" ? undefined : idle * 1000,
    drainMs: drain * 1000,
    stopBeforeMs: stopBefore * 1000,
    steps: flags.steps,
    direct: flags.direct,
    sbatch,
    attach: flags.attach,
  });
}

/** The kinds of pilots: those that are named, or the one of --nodes and --time. */
function kindsOf({ nodes, time, pilot = [] }: SlurmFlags): readonly PilotKind[] {
  if (pilot.length > 0) {
    if (nodes === undefined && time === undefined) return pilot;
    throw new UsageError("Cannot use --nodes or --time with --pilot: each kind has its own, after its name");
  }
  if (nodes !== undefined && time !== undefined)
    return [{ name: "pilot", nodes, timeMs: { min: 1000 * time.min, max: 1000 * time.max }, sbatch: [] }];
  throw new UsageError(
    "Cannot ask Slurm for nodes: expected --nodes and --time, such as --nodes 4 --time 8h",
  );
}

/** A value, or two with .. between them. */
function span(text: string, read: (text: string) => number): Span {
  const [first, last = first, ...more] = text.split("..");
  if (more.length > 0) throw new InvalidArgumentError("expected one value, or two such as 1..8");
  const [min, max] = [read(first), read(last)];
  if (min <= max) return { min, max };
  throw new InvalidArgumentError("expected the smaller value first, such as 1..8");
}

/** Slurm writes 1-4. */
const nodeSpan = (text: string) => span(text.replace(/^(\d+)-(\d+)$/, "$1..$2"), integer(1, MAX_NODES));
const timeSpan = (text: string) => span(text, duration("above zero"));

/** Of "NAME: --nodes 1..8 --time 1h --partition=short"; other options are those of sbatch. */
function pilotKind(text: string, before: readonly PilotKind[] | undefined): readonly PilotKind[] {
  const [, name, rest] = /^\s*([\w-]+)\s*:(.*)$/s.exec(text) ?? [];
  const refuse = (expected: string): never => {
    throw new InvalidArgumentError(`expected ${expected}, such as "small: --nodes 1..8 --time 1h"`);
  };
  if (name === undefined) return refuse("a name, a colon and options");
  if (before?.some((kind) => kind.name === name)) return refuse(`another name than "${name}" again`);
  const words = rest.split(/\s+/).filter((word) => word !== "");
  const take = (option: string): string | undefined => {
    const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
    if (at < 0) return undefined;
    const joined = words[at].slice(option.length + 1);
    const [, value] = words.splice(at, words[at] === option ? 2 : 1);
    return joined === "" ? value : joined;
  };
  const [nodes, time] = [take("--nodes"), take("--time")];
  if (nodes === undefined || time === undefined) return refuse("--nodes and --time after the name");
  const { min, max } = timeSpan(time);
  const kind = {
    name,
    nodes: nodeSpan(nodes),
    timeMs: { min: 1000 * min, max: 1000 * max },
    sbatch: words,
  };
  return [...(before ?? []), kind];
}

function onHosts({ hosts }: SlurmFlags, words: readonly string[]): Promise<Provider> {
  if (hosts !== undefined) return PROVIDERS.ssh({ hosts, words });
  throw new UsageError(
    "Cannot reach hosts without their names: expected --hosts with a file of hosts, one on each line, such as anna@elm",
  );
}
