/** Reads what Slurm says about nodes, and about the CPUs that a job has on them. */
import { parseCpus } from "@tutti/host/machine.ts";
import { SlurmFormatError } from "./format-error.ts";
import { expandHostlist } from "./hostlist.ts";

export interface SlurmNode {
  readonly node: string;
  /** In lower case, such as allocated or down. */
  readonly state: string;
  /** Whether Slurm has given the node up, so that its jobs there are over. */
  readonly isDown: boolean;
  readonly memoryMib: number;
  readonly cpus: number;
}

/** For `sinfo --Node`, which prints a line for each node and partition. */
export const NODE_FORMAT = "%N|%T|%m|%c";

/**
 * States in which Slurm has ended all jobs of a node. A flag such as * for "does not answer" may follow.
 */
const DOWN = /^(?:down|powered_down|future)\b/;

/** @param text standard output of `sinfo --noheader --Node --format` with `NODE_FORMAT` */
export function parseNodes(text: string, version?: string): SlurmNode[] {
  const lines = text.split("\n");
  if (lines.pop() !== "")
    throw new SlurmFormatError("sinfo", lines.at(-1) ?? text, "a complete last line", version);
  const nodes = new Map<string, SlurmNode>();
  for (const line of lines) {
    const [, node, state, memory, cpus] = /^([^|]+)\|([a-z_]+[^|]*)\|(\d+)\+?\|(\d+)\+?$/.exec(line) ?? [];
    if (node === undefined) {
      throw new SlurmFormatError(
        "sinfo",
        line,
        "lines of node, state, memory and CPUs, separated by |",
        version,
      );
    }
    nodes.set(node, { node, state, isDown: DOWN.test(state), memoryMib: Number(memory), cpus: Number(cpus) });
  }
  return [...nodes.values()];
}

/** Why a node has its state. */
export interface NodeReason {
  readonly node: string;
  /** In lower case, with a flag such as * for "does not answer". */
  readonly state: string;
  /** What an administrator or Slurm wrote; none: nothing. */
  readonly reason: string;
}

/** For `sinfo --Node`. The reason is free text, so it comes last. */
export const REASON_FORMAT = "%N|%T|%E";

/** @param text standard output of `sinfo --noheader --Node --format` with `REASON_FORMAT` */
export function parseReasons(text: string, version?: string): NodeReason[] {
  const nodes = new Map<string, NodeReason>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [, node, state, reason] = /^([^|]+)\|([a-z_]+[^|]*)\|(.*)$/.exec(line) ?? [];
    if (node === undefined) {
      throw new SlurmFormatError("sinfo", line, "lines of node, state and reason, separated by |", version);
    }
    nodes.set(node, { node, state, reason: reason.trim() });
  }
  return [...nodes.values()];
}

/** CPUs of a job on a node, and its memory there: 0 if Slurm does not count memory. */
export interface JobNode {
  readonly node: string;
  readonly cpus: readonly number[];
  readonly memoryMib: number;
}

const UNITS: Readonly<Record<string, number>> = { K: 1 / 1024, M: 1, G: 1024, T: 1024 ** 2 };

/** @param text standard output of `scontrol show job --details --oneliner` for one running job */
export function parseJobNodes(text: string, version?: string): JobNode[] {
  const groups = [...text.matchAll(/ Nodes=(\S+) CPU_IDs=(\S*) Mem=([\d.]+)([KMGT]?)/g)];
  const nodes = groups.flatMap(([found, list, ids, amount, unit]) => {
    const names = expandHostlist(list);
    const cpus = parseCpus(ids);
    if (names === undefined || cpus === undefined || cpus.length === 0) {
      throw new SlurmFormatError(
        "scontrol show job",
        found.trim(),
        "Nodes= and CPU_IDs= with lists",
        version,
      );
    }
    const memoryMib = Math.floor(Number(amount) * UNITS[unit === "" ? "M" : unit]);
    return names.map((node) => ({ node, cpus, memoryMib }));
  });
  if (nodes.length > 0) return nodes;
  throw new SlurmFormatError("scontrol show job", text, "Nodes= and CPU_IDs= of a running job", version);
}
