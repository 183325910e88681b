/** `sstat`: says what the steps of running jobs use, of jobs on this machine. */

import { jobNames, jobsNamed } from "@tutti/cli/live/slurm-numbers.ts";
import { nodeName } from "@tutti/cli/options/slurm-site.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { type Command, writeOut } from "../command.ts";
import { BareError, SlurmError } from "../errors.ts";
import { jobId, nodesOf } from "../job/facts.ts";
import { type JobProcess, processesOf } from "../job/processes.ts";
import { patientClient } from "../patient-client.ts";
import { accountingText, type Field, fieldsNamed, fieldsOf } from "../text/accounting-table.ts";
import { longDuration } from "../text/times.ts";

/** A step of a job, with the sums of its ranks. */
interface Row {
  readonly id: string;
  readonly ranks: readonly Rank[];
}

interface Rank {
  readonly rank: number;
  readonly processes: readonly JobProcess[];
}

type Amount = "cpuMs" | "peakBytes" | "residentBytes" | "virtualBytes";

const sum = ({ processes }: Rank, of: Amount) => processes.reduce((all, process) => all + process[of], 0);
const kibibytes = (bytes: number) => `${Math.ceil(bytes / 1024)}K`;
const mean = ({ ranks }: Row, of: Amount) =>
  ranks.reduce((all, rank) => all + sum(rank, of), 0) / ranks.length;
/** The rank with the most, or the least. */
const most = ({ ranks }: Row, of: Amount) => ranks.toSorted((a, b) => sum(b, of) - sum(a, of))[0];
const least = ({ ranks }: Row, of: Amount) => ranks.toSorted((a, b) => sum(a, of) - sum(b, of))[0];

const VALUES: Readonly<Record<string, (row: Row) => string>> = {
  AveCPU: (row) => longDuration(mean(row, "cpuMs")),
  AveRSS: (row) => kibibytes(mean(row, "residentBytes")),
  AveVMSize: (row) => kibibytes(mean(row, "virtualBytes")),
  JobID: ({ id }) => id,
  MaxRSS: (row) => kibibytes(sum(most(row, "peakBytes"), "peakBytes")),
  MaxRSSNode: nodeName,
  MaxRSSTask: (row) => String(most(row, "peakBytes").rank),
  MaxVMSize: (row) => kibibytes(sum(most(row, "virtualBytes"), "virtualBytes")),
  MaxVMSizeNode: nodeName,
  MaxVMSizeTask: (row) => String(most(row, "virtualBytes").rank),
  MinCPU: (row) => longDuration(sum(least(row, "cpuMs"), "cpuMs")),
  MinCPUNode: nodeName,
  MinCPUTask: (row) => String(least(row, "cpuMs").rank),
  NTasks: ({ ranks }) => String(ranks.length),
  Nodelist: nodeName,
  Pids: ({ ranks }) => ranks.flatMap(({ processes }) => processes.map(({ pid }) => pid)).join(","),
};

/** With Slurm's widths; of the last ones, nothing is known here. */
const FIELDS: readonly Field<Row>[] = fieldsOf(
  "AveCPU:10 AveRSS:10 AveVMSize:10 JobID:-12 MaxRSS:10 MaxRSSNode:10 MaxRSSTask:10 MaxVMSize:10 MaxVMSizeNode:14 MaxVMSizeTask:14 MinCPU:10 MinCPUNode:10 MinCPUTask:10 NTasks:8 Nodelist:20 Pids:20 AveCPUFreq:10 AveDiskRead:12 AveDiskWrite:12 AvePages:10 ConsumedEnergy:14 MaxDiskRead:12 MaxDiskReadNode:15 MaxDiskReadTask:15 MaxDiskWrite:12 MaxDiskWriteNode:16 MaxDiskWriteTask:16 MaxPages:8 MaxPagesNode:12 MaxPagesTask:14 ReqCPUFreq:10 TRESUsageInAve:14 TRESUsageInMax:14 TRESUsageInTot:14 TRESUsageOutAve:15 TRESUsageOutMax:15 TRESUsageOutTot:15",
  (row, name) => VALUES[name]?.(row) ?? "",
);

const USUAL =
  "JobID,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode,MaxRSSTask,AveRSS,MinCPU,MinCPUNode,MinCPUTask,AveCPU,NTasks";
const OF_PIDS = "JobID,Nodelist,Pids";

export const sstat: Command = {
  options:
    "allsteps,a format,o= fields= help,h helpformat,e jobs,j= noconvert noheader,n parsable,p parsable2,P pidformat,i usage verbose,v version,V",
  usage: "sstat [-a] [-n] [-P | -p] [-o FIELDS | -i] -j JOB[.STEP][,...]; sstat -e lists the fields",
  async run({ options, words }) {
    if ("helpformat" in options) {
      writeOut(`${FIELDS.map(({ name }) => name).join("\n")}\n`);
      return;
    }
    const ids = [options.jobs ?? "", ...words]
      .join(",")
      .split(",")
      .filter((text) => text !== "");
    if (ids.length === 0) throw new SlurmError("You didn't give me any jobs to stat.");
    const names = jobNames(ids, (text) => new BareError(`sstat: fatal: Bad job/step specified: ${text}`));
    const format = options.format ?? options.fields ?? ("pidformat" in options ? OF_PIDS : USUAL);
    const fields = fieldsNamed(format, FIELDS);
    const client = await patientClient();
    const jobs = await Promise.all(names.map((name) => jobsNamed(client, [name])));
    const processes = processesOf(jobs.flat());
    const rows: Row[] = [];
    const problems: string[] = [];
    for (const [i, { number, step }] of names.entries()) {
      if (jobs[i].length === 0) problems.push(`couldn't get steps for job ${number}`);
      for (const job of jobs[i]) {
        const found = rowsOf(job, processes, step ?? ("allsteps" in options ? "all" : "first"));
        rows.push(...found);
        if (found.length === 0) problems.push(whyNone(job));
      }
    }
    writeOut(accountingText(fields, rows, options));
    // As in Slurm, that is no failure.
    for (const problem of problems) process.stderr.write(`sstat: error: ${problem}\n`);
  },
};

/** @param step of srun, or batch; first: of several, that of srun with the lowest number */
function rowsOf(job: Job, processes: readonly JobProcess[], step: string): readonly Row[] {
  const steps = Map.groupBy(
    processes.filter((one) => one.job === job.job),
    (one) => one.step,
  );
  const names = [...steps.keys()].sort((a, b) =>
    a === "batch" ? -1 : b === "batch" ? 1 : Number(a) - Number(b),
  );
  const first = names.filter((name) => name !== "batch").slice(0, 1);
  const wanted = step === "all" ? names : step === "first" ? first : names.filter((name) => name === step);
  return wanted.map((name) => ({
    id: `${jobId(job)}.${name}`,
    ranks: [...Map.groupBy(steps.get(name) ?? [], ({ rank }) => rank)]
      .map(([rank, some]) => ({ rank, processes: some }))
      .sort((a, b) => a.rank - b.rank),
  }));
}

function whyNone(job: Job): string {
  const nodes = nodesOf(job);
  const isElsewhere = job.endedAtMs === undefined && nodes.length > 0 && !nodes.includes(nodeName());
  return isElsewhere
    ? `Job ${jobId(job)} runs on ${nodes.join(",")}, and processes are only seen on their own machine`
    : `No steps running for job ${jobId(job)}`;
}
