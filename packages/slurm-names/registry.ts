/** Lists the names of Slurm's commands. To save time, only the file of the command in use is loaded. */
import type { SLURM_COMMANDS } from "@tutti/cli/slurm-names.ts";
import type { Command } from "./command.ts";

export const COMMANDS: Readonly<Record<(typeof SLURM_COMMANDS)[number], () => Promise<Command>>> = {
  sbatch: async () => (await import("./commands/sbatch.ts")).sbatch,
  srun: async () => (await import("./commands/srun.ts")).srun,
  salloc: async () => (await import("./commands/salloc.ts")).salloc,
  squeue: async () => (await import("./commands/squeue.ts")).squeue,
  scancel: async () => (await import("./commands/scancel.ts")).scancel,
  sinfo: async () => (await import("./commands/sinfo.ts")).sinfo,
  sacct: async () => (await import("./commands/sacct.ts")).sacct,
  sacctmgr: async () => (await import("./commands/sacctmgr.ts")).sacctmgr,
  seff: async () => (await import("./commands/seff.ts")).seff,
  sstat: async () => (await import("./commands/sstat.ts")).sstat,
  sreport: async () => (await import("./commands/elsewhere.ts")).sreport,
  sshare: async () => (await import("./commands/elsewhere.ts")).sshare,
  sprio: async () => (await import("./commands/elsewhere.ts")).sprio,
  scontrol: async () => (await import("./commands/scontrol.ts")).scontrol,
};
