/** Runs jobs on nodes of Slurm: the executor of a cluster, whose nodes are those of pilots. */
import type { Clock } from "../../../host/clock.ts";
import type { PilotControl } from "../../contract/service.ts";
import { ClusterExecutor } from "../cluster/cluster-executor.ts";
import { fileClaims } from "../cluster/file-claims.ts";
import type { Executor } from "../executor.ts";
import { slurmCluster } from "./slurm-cluster.ts";
import type { SlurmOptions } from "./slurm-options.ts";

interface SlurmSetup {
  readonly options: SlurmOptions;
  /** Folder for the file of pilots and their output. All nodes can read it. */
  readonly folder: string;
  readonly clock: Clock;
  /** Name of this front end, for people. */
  readonly name: string;
}

/** @throws InputError if Slurm cannot be used like this */
export async function slurmExecutor({ options, folder, clock, name }: SlurmSetup): Promise<{
  readonly executor: Executor;
  readonly pilots: PilotControl;
}> {
  const cluster = await slurmCluster({ options, name, folder, clock });
  const executor = new ClusterExecutor({
    cluster,
    clock,
    frontEnd: name,
    owner: cluster.owner,
    steps: options.steps,
    claims: fileClaims,
  });
  return { executor, pilots: cluster };
}
