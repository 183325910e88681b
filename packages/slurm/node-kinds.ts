/** Kinds of pilots as core/node-plan.ts sees them, and why none of them can hold a job. */
import { formatDuration, plural } from "@tutti/kernel/core/format.ts";
import { lackOf, type NodeKind, type NodeWish } from "@tutti/kernel/core/node-plan.ts";
import type { JobShape, Wish } from "@tutti/live/daemon/executor/executor.ts";
import type { PilotKind } from "./slurm-options.ts";
import { beginMs, timeOf } from "./slurm-options.ts";

/** What a kind can get, as Slurm says. */
export interface KindSize {
  /** CPUs of the smallest and of the largest node. */
  readonly cpus: NodeKind["cpus"];
  /** The same of their memory; left out: Slurm does not say, or an earlier front end did not ask. */
  readonly memoryMib?: number | undefined;
  readonly mostMemoryMib?: number | undefined;
  /** CPUs of its largest pilot. */
  readonly mostProcessors: number;
}

interface KindSettings {
  readonly kinds: readonly PilotKind[];
  /** The most nodes of all pilots together that neither drain nor go back. */
  readonly maxNodes: number;
  /** How long before its end what still runs is stopped. */
  readonly stopBeforeMs: number;
}

const MIB = 2 ** 20;

/** The nodes of its largest pilot. */
export function mostNodesOf({ nodes }: PilotKind, { maxNodes }: Pick<KindSettings, "maxNodes">): number {
  return Math.min(nodes.max, maxNodes);
}

export class NodeKinds {
  readonly all: readonly NodeKind[];
  readonly bounds: { readonly maxNodes: number; readonly stopBeforeS: number; readonly beginS: number };

  constructor(settings: KindSettings, sizes: Readonly<Record<string, KindSize>>) {
    const { kinds, maxNodes, stopBeforeMs } = settings;
    this.bounds = { maxNodes, stopBeforeS: stopBeforeMs / 1000, beginS: beginMs(kinds) / 1000 };
    this.all = kinds.map((kind) => {
      const { cpus, memoryMib, mostMemoryMib = memoryMib } = sizes[kind.name];
      const { min, max } = timeOf(kind);
      return {
        name: kind.name,
        nodes: { min: kind.nodes.min, max: mostNodesOf(kind, settings) },
        timeS: { min: min / 1000, max: max / 1000 },
        cpus,
        ...(memoryMib !== undefined &&
          mostMemoryMib !== undefined && {
            memoryBytes: { min: memoryMib * MIB, max: mostMemoryMib * MIB },
          }),
      };
    });
  }

  /** Why no kind can hold the job, as a clause for people; undefined: one can. */
  whyNever(job: JobShape): string | undefined {
    const wish = wishOf(job);
    const lacks: string[] = [];
    for (const kind of this.all) {
      const lack = lackOf(kind, wish, this.bounds);
      if (lack === undefined) return undefined;
      lacks.push(lack === "size" ? sizeText(kind) : this.#timeText(kind));
    }
    return `no kind of pilots can hold it: ${lacks.join("; ")}`;
  }

  #timeText({ name, timeS }: NodeKind): string {
    const { stopBeforeS, beginS } = this.bounds;
    return `"${name}" is there for limits up to ${formatDuration(timeS.max - stopBeforeS - beginS)}`;
  }
}

/** @param isTaken whether pilots in use could take it */
export function wishOf(
  { limitMs = Number.POSITIVE_INFINITY, ...job }: JobShape & Pick<Wish, "jobs">,
  isTaken = false,
): NodeWish {
  return { ...job, limitS: limitMs / 1000, isTaken };
}

function sizeText({ name, nodes, cpus, memoryBytes }: NodeKind): string {
  const memory = memoryBytes === undefined ? "" : ` and ${(memoryBytes.max / 2 ** 30).toFixed(1)} GiB`;
  return `"${name}" has at most ${plural(nodes.max, "node")} of ${plural(cpus.max, "CPU")}${memory}`;
}
