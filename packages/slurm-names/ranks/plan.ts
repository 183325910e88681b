/** What srun is to start. */
import { GPU_VARIABLES } from "@tutti/protocol/resources.ts";
import type { RankOutputs } from "./outputs.ts";

export interface RankPlan {
  readonly ranks: number;
  /** Number of the step. */
  readonly step: number;
  /** CPUs of the job on this machine. */
  readonly cpus: number;
  readonly command: readonly string[];
  /** Instead of the command, what each rank runs. */
  readonly programs: readonly (readonly string[])[] | undefined;
  readonly cwd: string | undefined;
  /** Of all ranks. */
  readonly env: NodeJS.ProcessEnv;
  readonly outputs: RankOutputs;
  /** Rank 0 has our terminal. */
  readonly isInTerminal: boolean;
  /** When one rank fails, the others are ended. */
  readonly killOnFailure: boolean;
  /** How many of the job's GPUs each rank sees, its own; undefined: all. */
  readonly gpusEach: number | undefined;
  /** How long the others may run when the first rank has ended; undefined: as long as they like. */
  readonly waitS: number | undefined;
  /** Of this step, for pipes and the like; undefined: it has none. */
  readonly folder: string | undefined;
}

/** Variables with the job's GPUs if each rank gets some of them. */
export function gpuVariables({ gpusEach, env }: RankPlan): readonly string[] {
  return gpusEach === undefined ? [] : GPU_VARIABLES.filter((name) => env[name]);
}

/**
 * Those that only ranks have, and no program that starts them. By the number of the step, signals find the
 * processes of steps (conductor/attempts/gang-part.ts).
 * @param rank its number, or what a shell reads as that
 */
export function rankVariables(rank: number | string, step: number): Readonly<Record<string, string>> {
  return {
    SLURM_LOCALID: String(rank),
    SLURM_PROCID: String(rank),
    SLURM_STEPID: String(step),
    SLURM_STEP_ID: String(step),
  };
}
