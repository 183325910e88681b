/**
 * `salloc COMMAND`: runs a command as a job, with the variables of an allocation, so that srun works in it.
 */
import type { Command } from "../command.ts";
import { SlurmError } from "../errors.ts";
import { parseWords } from "../getopt.ts";
import { merged, SALLOC } from "../job/options.ts";
import { runJob } from "../job/run-job.ts";
import { jobOf } from "../job/submission.ts";
import { patientClient } from "../patient-client.ts";

export const salloc: Command = {
  spec: SALLOC,
  usage: "salloc [OPTIONS OF sbatch] COMMAND [ARGUMENTS]",
  async run(words) {
    const { given, words: command } = parseWords(SALLOC, words);
    if (command.length === 0)
      throw new SlurmError(
        "Cannot open a shell: Tutti runs programs only inside jobs; write salloc [OPTIONS] COMMAND, or see tutti run --help",
      );
    const client = await patientClient();
    const job = await jobOf(client, "salloc", merged(given), {
      command,
      name: command[0].split("/").at(-1) || "salloc",
    });
    process.exitCode = await runJob(client, "salloc", job);
  },
};
