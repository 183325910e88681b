/** Runs jobs as jobs of Slurm, without a pilot. */
import { join } from "node:path";
import type { Clock } from "../../../../host/clock.ts";
import type { Executor } from "../../executor.ts";
import { runCommand } from "../commands.ts";
import { checkSbatchOptions, partitionIn } from "../sbatch-options.ts";
import type { NativeOptions } from "../slurm-options.ts";
import { NativeExecutor } from "./executor.ts";
import { NativeFile } from "./file.ts";
import { NativeCommands, nodesFor } from "./slurm.ts";

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
  return new NativeExecutor({
    slurm: new NativeCommands(runCommand),
    nodes: await nodesFor(runCommand, { nodes, partition: partitionIn(sbatch) }),
    store: new NativeFile(join(folder, "native.json")),
    clock,
    sbatch,
  });
}
