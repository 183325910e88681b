/** Runs jobs as jobs of Slurm, without a pilot. */
import { join } from "node:path";
import { InputError } from "../../../../core/errors.ts";
import type { Clock } from "../../../../host/clock.ts";
import type { Executor } from "../../executor.ts";
import { KeptFile } from "../../kept-file.ts";
import { QueueExecutor } from "../../queue/queue-executor.ts";
import { queueContent } from "../../queue/queue-file.ts";
import { runCommand } from "../commands.ts";
import type { SlurmNode } from "../formats/nodes.ts";
import { checkSbatchOptions, partitionIn } from "../sbatch-options.ts";
import { IN_SLURM, SlurmCommands } from "../slurm.ts";
import type { NativeOptions } from "../slurm-options.ts";
import { SlurmBatch } from "./slurm-batch.ts";

interface NativeSetup {
  readonly options: NativeOptions;
  /** Folder for the file of attempts. */
  readonly folder: string;
  readonly clock: Clock;
}

/** @throws InputError if Slurm cannot be used like this */
export async function nativeExecutor({ options, folder, clock }: NativeSetup): Promise<Executor> {
  const { nodes, sbatch } = options;
  checkSbatchOptions(sbatch);
  const slurm = new SlurmCommands(runCommand);
  return new QueueExecutor({
    system: new SlurmBatch(slurm, sbatch),
    nodes: await nodesFor(slurm, nodes, partitionIn(sbatch)),
    store: new KeptFile(join(folder, "native.json"), queueContent, IN_SLURM),
    clock,
  });
}

/**
 * The nodes on which the jobs count: those of the partition, or the first ones.
 * @throws InputError if there are fewer; SlurmError
 */
async function nodesFor(
  slurm: SlurmCommands,
  wanted: number | undefined,
  partition: string | undefined,
): Promise<readonly SlurmNode[]> {
  const name = partition ?? (await slurm.defaultPartition());
  const nodes = (await slurm.nodes(undefined, name)).filter(({ isDown }) => !isDown);
  if (nodes.length > 0 && nodes.length >= (wanted ?? 1)) return nodes.slice(0, wanted);
  throw new InputError(
    `Cannot use ${wanted ?? 1} nodes of the partition "${name}": Slurm has ${nodes.length} there that are not down, expected a smaller --nodes, or another --partition after --`,
  );
}
