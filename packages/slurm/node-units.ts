/** The countable resources of jobs on pilots: what each node has, and what the whole cluster has. */
import type { Config } from "@tutti/live/daemon/config/config.ts";
import { GPU, GPU_VARIABLES, MAX_UNITS, type Resource } from "@tutti/protocol/resources.ts";
import { unitsOfNode } from "./sbatch-options.ts";
import type { SlurmOptions } from "./slurm-options.ts";

/**
 * Adds what the options of sbatch of all kinds of pilots ask for on each node, numbered as Slurm and CUDA
 * number the devices of a step. GPUs and these kinds are units of each node, also if the configuration names
 * them; the other kinds of the configuration, such as licences, are there once.
 */
export function withNodeUnits(
  config: Config,
  { sbatch, kinds }: Pick<SlurmOptions, "sbatch" | "kinds">,
): Config {
  const found = common(kinds.map((kind) => unitsOfNode([...sbatch, ...kind.sbatch])));
  const named = config.resources.map((resource) =>
    resource.name === GPU || found.has(resource.name) ? ofEachNode(resource) : resource,
  );
  const more = [...found]
    .filter(([kind]) => config.resources.every(({ name }) => name !== kind))
    .map(([name, count]) =>
      ofEachNode({
        name,
        units: Array.from({ length: Math.min(count, MAX_UNITS) }, (_, i) => String(i)),
        isShared: true,
        variables: name === GPU ? GPU_VARIABLES : [],
      }),
    );
  return { ...config, resources: [...named, ...more] };
}

/** What nodes of all kinds of pilots have: a job may be on any. */
function common(all: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const [first = new Map<string, number>(), ...others] = all;
  const fewest = [...first].map(
    ([kind, count]) => [kind, Math.min(count, ...others.map((units) => units.get(kind) ?? 0))] as const,
  );
  return new Map(fewest.filter(([, count]) => count > 0));
}

/** Gangs of other rows may be on the node, too, so any number of jobs may hold a unit. */
function ofEachNode(resource: Resource): Resource {
  return { ...resource, isShared: true, isPerNode: true };
}
