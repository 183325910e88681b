/**
 * `srun`: inside a job, starts ranks. Outside, it submits a job that starts them, shows its output, and exits
 * with its code.
 */

import { type Given, merged } from "@tutti/cli/options/slurm-given.ts";
import { COMMON_OPTIONS } from "@tutti/cli/options/slurm-options.ts";
import { type Command, remarkIgnored, writeOut } from "../command.ts";
import { BareError, SlurmError } from "../errors.ts";
import { checkTerminal, runInTerminal, runJob } from "../job/run-job.ts";
import { jobOf, launcherOf } from "../job/submission.ts";
import { patientClient } from "../patient-client.ts";
import { launcherFor, listOfTypes, mpiType } from "../ranks/mpi.ts";
import { runRanks } from "../ranks/step.ts";

/** Options that ask for a kind of placement or of output that every step has here. */
const USUAL: ReadonlySet<string> = new Set(
  "unbuffered exclusive overlap exact job-name jobid verbose quiet cpu-bind mem-bind distribution hint whole kill-on-bad-exit ntasks cpus-per-task ntasks-per-node overcommit label output error input open-mode pty chdir mpi export mem mem-per-cpu multi-prog relative wait".split(
    " ",
  ),
);

export const srun: Command = {
  options: `${COMMON_OPTIONS} accel-bind= bcast? bcast-exclude= compress? cpu-bind= disable-status,X epilog= error,e= exact export= het-group= immediate,I? input,i= interactive jobid= kill-on-bad-exit,K? label,l mpi= msg-timeout= multi-prog no-allocate,Z open-mode= output,o= overlap? pack-group= preserve-env,E prolog= propagate? pty quit-on-interrupt relative,r= resv-ports? send-libs? slurmd-debug= task-epilog= task-prolog= test-only threads,T= unbuffered,u wait,W= whole x11?`,
  stopsAtWord: true,
  unknownCode: 255,
  usage:
    "srun [-n TASKS] [-c CPUS] [-l] [-o FILE] [-e FILE] [-K] [-W SECONDS] [OPTIONS OF sbatch] COMMAND [ARGUMENTS]; srun --multi-prog FILE",
  async run({ given, words: command }) {
    const options = merged(given);
    const type = mpiType(options, process.env);
    if (type === "list") {
      writeOut(listOfTypes(process.env));
      return;
    }
    const launcher = launcherFor(type, process.env);
    if (command.length === 0) throw new BareError("srun: fatal: No command given to execute.");
    for (const name of ["no-allocate", "bcast", "x11", "het-group", "pack-group"])
      if (options.has(name)) throw new SlurmError(`--${name} is not supported by Tutti`);
    // A launcher of MPI would separate programs there, too.
    if (command.includes(":"))
      throw new SlurmError("several programs, separated by :, are not supported by Tutti");
    if (options.has("multi-prog") && launcher !== undefined)
      throw new SlurmError("--multi-prog is not supported by Tutti together with --mpi");
    if (options.has("pty") && launcher !== undefined)
      throw new SlurmError("--pty is not supported by Tutti together with --mpi");
    const { SLURM_JOB_ID, TUTTI_JOB_ID } = process.env;
    if (SLURM_JOB_ID !== undefined && SLURM_JOB_ID === TUTTI_JOB_ID) {
      remarkIgnored(
        "srun",
        given,
        [...options.keys()].filter((name) => !USUAL.has(name)),
      );
      process.exitCode = await runRanks(withTerminal(options), command, launcher);
      return;
    }
    const isInTerminal = options.has("pty");
    if (isInTerminal) checkTerminal("give the job a terminal", "or leave out --pty");
    const client = await patientClient();
    const inner = innerWords(options);
    const job = await jobOf(client, "srun", forJob(options), {
      command: [launcherOf("srun"), ...inner, "--", ...command],
      name: command[0].split("/").at(-1) || "srun",
    });
    process.exitCode = await (isInTerminal
      ? runInTerminal(client, "srun", job)
      : runJob(client, "srun", job, !options.has("input")));
  },
};

/** As Slurm, a step does without a terminal if there is none. */
function withTerminal(options: Given): Given {
  if (!options.has("pty") || process.stdin.isTTY) return options;
  process.stderr.write("srun: error: Not using a pseudo-terminal, disregarding --pty option\n");
  return new Map([...options].filter(([name]) => name !== "pty"));
}

const OF_THE_STEP =
  "error input kill-on-bad-exit label mpi multi-prog open-mode output overcommit pty relative wait".split(
    " ",
  );

/** Options that the job is submitted with; the others are those of the step in it. */
function forJob(options: Given): Given {
  return new Map([...options].filter(([name]) => !OF_THE_STEP.includes(name)));
}

function innerWords(options: Given): readonly string[] {
  return OF_THE_STEP.flatMap((name) => {
    const option = options.get(name);
    if (option === undefined) return [];
    return [option.value === undefined ? `--${name}` : `--${name}=${option.value}`];
  });
}
