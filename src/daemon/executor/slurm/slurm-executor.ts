/** Runs jobs on nodes of Slurm: the executor of a cluster, whose nodes are those of pilots. */

import { lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blockClaims } from "../../../conductor/attempts/claim.ts";
import type { Clock } from "../../../host/clock.ts";
import type { PilotControl } from "../../contract/service.ts";
import { ClusterExecutor } from "../cluster/cluster-executor.ts";
import type { Claims } from "../cluster/launching.ts";
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
