/** `seff`: says how much of what a job had it used, as the script of this name does that sites have. */

import { jobNames, jobsNamed } from "@tutti/cli/live/slurm-numbers.ts";
import { CLUSTER } from "@tutti/cli/options/slurm-site.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { type Command, writeOut } from "../command.ts";
import { BareError } from "../errors.ts";
import { cpusOf, jobId, nodesOf } from "../job/facts.ts";
import { exitCodeText, slurmState } from "../job/states.ts";
import { patientClient } from "../patient-client.ts";
import { longDuration } from "../text/times.ts";
import { groupOf } from "../text/users.ts";

const USAGE = "seff [-h | -v] JOB";

export const seff: Command = {
  options: "help,h version,v debug,d usage",
  usage: USAGE,
  async run({ words }) {
    if (words.length !== 1) throw new BareError(`Usage: ${USAGE}`);
    const client = await patientClient();
    const [job] = await jobsNamed(
      client,
      jobNames(words, () => new BareError("Job not found.", 2)),
    );
    if (job === undefined) throw new BareError("Job not found.", 2);
    writeOut(efficiencyText((await client.job(job.job)).job));
    if (job.startedAtMs !== undefined && job.usage?.cpuMs === undefined)
      process.stderr.write(
        `seff: ${job.endedAtMs === undefined ? "what a job has used is counted at its end" : "without control groups, nobody counts what a job uses; tutti doctor says whether they can be used"}\n`,
      );
  },
};

/** Amounts that nobody has counted are zero, as in Slurm's. */
export function efficiencyText(job: Job): string {
  const cpus = cpusOf(job);
  const nodes = Math.max(1, nodesOf(job).length);
  const state = slurmState(job);
  const hasEnded = job.endedAtMs !== undefined;
  const head = [
    `Job ID: ${job.job}`,
    ...(job.array === undefined ? [] : [`Array Job ID: ${jobId(job)}`]),
    `Cluster: ${CLUSTER}`,
    `User/Group: ${job.user}/${groupOf(job.user) ?? ""}`,
    hasEnded ? `State: ${state} (exit code ${exitCodeText(job).split(":")[0]})` : `State: ${state}`,
    ...(cpus === 1 ? ["Cores: 1"] : [`Nodes: ${nodes}`, `Cores per node: ${Math.floor(cpus / nodes)}`]),
  ];
  const lines =
    state === "PENDING"
      ? ["Efficiency not available for jobs in the PENDING state."]
      : used(job, cpus, nodes);
  return `${[...head, ...lines].join("\n")}\n`;
}

function used({ usage, ranMs, memoryBytes = 0, endedAtMs }: Job, cpus: number, nodes: number) {
  const cpuS = Math.round((usage?.cpuMs ?? 0) / 1000);
  const wallS = Math.floor(ranMs / 1000);
  const peak = usage?.peakMemoryBytes ?? 0;
  return [
    `CPU Utilized: ${longDuration(1000 * cpuS)}`,
    `CPU Efficiency: ${percent(cpuS, wallS * cpus)} of ${longDuration(1000 * wallS * cpus)} core-walltime`,
    `Job Wall-clock time: ${longDuration(1000 * wallS)}`,
    `Memory Utilized: ${sizeText(peak)}`,
    `Memory Efficiency: ${percent(peak, memoryBytes)} of ${sizeText(memoryBytes)} (${sizeText(memoryBytes / nodes)}/node)`,
    ...(endedAtMs === undefined
      ? [
          "WARNING: Efficiency statistics can only be obtained after the job has ended as seff tool is based on the accounting database data.",
        ]
      : []),
  ];
}

function percent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(2)}%`;
}

/** `1.50 GB`, by powers of 1024. */
function sizeText(bytes: number): string {
  if (bytes === 0) return "0.00 MB";
  const kibibytes = bytes / 1024;
  const power = Math.max(0, Math.min(4, Math.floor(Math.log(kibibytes) / Math.log(1024))));
  return `${(kibibytes / 1024 ** power).toFixed(2)} ${"KMGTP"[power]}B`;
}
