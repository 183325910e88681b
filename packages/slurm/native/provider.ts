/** Runs jobs as jobs of Slurm, without a pilot. */
import { join } from "@tutti/host/ports/path.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { KeptFile } from "@tutti/live/daemon/executor/kept-file.ts";
import type { Provider } from "@tutti/live/daemon/executor/provider.ts";
import { inQueueOf } from "@tutti/live/daemon/executor/queue/batch-system.ts";
import { QueueExecutor } from "@tutti/live/daemon/executor/queue/queue-executor.ts";
import { queueContent } from "@tutti/live/daemon/executor/queue/queue-file.ts";
import { runCommand } from "../commands.ts";
import type { SlurmNode } from "../formats/nodes.ts";
import { checkSbatchOptions, partitionIn } from "../sbatch-options.ts";
import { IN_SLURM, SlurmCommands } from "../slurm.ts";
import { configOnSlurm, type NativeOptions, ON_SLURM } from "../slurm-options.ts";
import { SlurmBatch } from "./slurm-batch.ts";

const NATIVE = {
  ...inQueueOf("Slurm"),
  ...ON_SLURM,
  tasksRunEach: true,
  canPause:
    "it is a job of Slurm, which only Slurm can suspend; ask its administrator, or use tutti serve --on slurm without --native",
  beginsAtOnce: "with --native, Slurm decides when jobs begin; use scontrol create reservation",
};

export function nativeProvider({ nodes, sbatch }: NativeOptions): Provider {
  return {
    capabilities: NATIVE,
    chosenBy: "--on slurm --native",
    place: "of Slurm, without a pilot",
    prepare: configOnSlurm,
    async start({ folder, clock }) {
      checkSbatchOptions(sbatch);
      const slurm = new SlurmCommands(runCommand);
      const executor = new QueueExecutor({
        system: new SlurmBatch(slurm, sbatch),
        nodes: await nodesFor(slurm, nodes, partitionIn(sbatch)),
        store: new KeptFile(join(folder, "native.json"), queueContent, IN_SLURM),
        clock,
        capabilities: NATIVE,
      });
      return { executor };
    },
  };
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
