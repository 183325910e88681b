/** What srun is to start. */
import type { RankOutputs } from "./outputs.ts";

export interface RankPlan {
  readonly ranks: number;
  /** CPUs of the job on this machine. */
  readonly cpus: number;
  readonly command: readonly string[];
  readonly cwd: string | undefined;
  /** Of all ranks. */
  readonly env: NodeJS.ProcessEnv;
  readonly outputs: RankOutputs;
  /** Rank 0 has our terminal. */
  readonly isInTerminal: boolean;
  /** When one rank fails, the others are ended. */
  readonly killOnFailure: boolean;
  /** Of this step, for pipes and the like; undefined: it has none. */
  readonly folder: string | undefined;
}

/** Those in which the ranks differ. */
export function rankVariables(rank: number): Readonly<Record<string, string>> {
  return { SLURM_LOCALID: String(rank), SLURM_PROCID: String(rank) };
}
