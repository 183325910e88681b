/** Runs jobs on nodes of Slurm: the executor of a cluster, whose nodes are those of pilots. */

import { lstatSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { blockClaims } from "@tutti/live/conductor/attempts/claim.ts";
import { ON_CLUSTER } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import { ClusterExecutor } from "@tutti/live/daemon/executor/cluster/cluster-executor.ts";
import type { Claims } from "@tutti/live/daemon/executor/cluster/launching.ts";
import type { Provider } from "@tutti/live/daemon/executor/provider.ts";
import { withNodeUnits } from "./node-units.ts";
import { slurmCluster } from "./slurm-cluster.ts";
import { configOnSlurm, NODE_RESOURCES, ON_SLURM, type SlurmOptions } from "./slurm-options.ts";

const PILOTS = { ...ON_CLUSTER, ...ON_SLURM, nodeResources: NODE_RESOURCES };

export function pilotProvider(options: SlurmOptions): Provider {
  return {
    capabilities: PILOTS,
    nodes: options.maxNodes,
    chosenBy: "--on slurm",
    place: "of Slurm at most",
    choosesNodes: true,
    prepare(configured) {
      const { config } = configOnSlurm(configured);
      return { config: withNodeUnits(config, options) };
    },
    async start({ folder, clock, name }) {
      const cluster = await slurmCluster({ options, name, folder, clock });
      const executor = new ClusterExecutor({
        cluster,
        clock,
        frontEnd: name,
        owner: cluster.owner,
        steps: options.steps,
        claims: fileClaims,
        capabilities: PILOTS,
      });
      return { executor };
    },
  };
}

/** Folder of the tasks that run each, made by the conductors before anything starts. */
const TASKS = "tasks";

/** Claims of attempts, on the disk that this machine shares with the nodes. */
const fileClaims: Claims = {
  isClaimed: ({ folder }) => isThere(join(folder, "claim")) || isThere(join(folder, TASKS)),
  block: (spec) => (spec.tasksRun === "each" ? blockTasks(spec.folder) : blockClaims(spec)),
};

/** A file in place of the folder: no conductor can make its tasks there. */
function blockTasks(folder: string): boolean {
  const path = join(folder, TASKS);
  try {
    writeFileSync(path, "", { flag: "wx" });
  } catch {}
  return isThere(path) && lstatSync(path).isFile();
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
