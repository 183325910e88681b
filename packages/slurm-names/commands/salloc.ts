/**
 * `salloc`: runs a command, or the user's shell in a terminal, as a job, with the variables of an allocation,
 * so that srun works in it.
 */
import { userInfo } from "node:os";
import { merged } from "@tutti/cli/options/slurm-given.ts";
import { COMMON_OPTIONS } from "@tutti/cli/options/slurm-options.ts";
import type { Command } from "../command.ts";
import { checkTerminal, runInTerminal, runJob } from "../job/run-job.ts";
import { jobOf } from "../job/submission.ts";
import { patientClient } from "../patient-client.ts";

export const salloc: Command = {
  options: `${COMMON_OPTIONS} bell immediate,I? kill-command,K? no-bell no-shell wait-all-nodes= x11?`,
  stopsAtWord: true,
  unknownCode: 255,
  usage: "salloc [OPTIONS OF sbatch] [COMMAND [ARGUMENTS]]",
  async run({ given, words: command }) {
    if (command.length === 0) checkTerminal("open a shell", "or write salloc [OPTIONS] COMMAND");
    const client = await patientClient();
    if (command.length === 0) {
      const job = await jobOf(client, "salloc", merged(given), {
        command: [process.env.SHELL || userInfo().shell || "/bin/sh"],
        name: "interactive",
      });
      process.exitCode = await runInTerminal(client, "salloc", job);
      return;
    }
    const job = await jobOf(client, "salloc", merged(given), {
      command,
      name: command[0].split("/").at(-1) || "salloc",
    });
    process.exitCode = await runJob(client, "salloc", job);
  },
};
