/** `tutti import FILE --since DATE`: makes a trace of the jobs in Slurm's accounting. */

import { ownVersion } from "@tutti/host/version.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { plural } from "@tutti/kernel/core/format.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { SacctReader } from "@tutti/kernel/workload/traces/sacct.ts";
import { writeSwf } from "@tutti/kernel/workload/traces/swf-writer.ts";
import { writeOutput } from "@tutti/lab/files/write-whole.ts";
import { diagnosticText } from "@tutti/lab/jobs-in-words.ts";
import { type AccountingQuery, accountingOf, processorsOfCluster } from "@tutti/slurm/accounting.ts";
import type { Command } from "commander";
import { diagnosticLines } from "../text/result-text.ts";
import { commandName, hint } from "../text/text.ts";

const HELP = `
Slurm's command sacct is asked for all runs of all jobs; nothing is changed. The
file has no names of users or jobs: users, groups, QOS and partitions become
numbers. What is left out, repaired or noted is printed and kept in the file.

DATE is what sacct reads, such as 2026-01-31, 01/31 or now-30days.`;

export function configure(command: Command): void {
  command
    .argument("<file>", "trace to write, in Standard Workload Format")
    .requiredOption("--since <date>", "jobs that waited or ran after this time")
    .option("--until <date>", "and before this time (default: now)")
    .option("--user <user>", "only the jobs of this user (default: all that Slurm shows you)")
    .addHelpText("after", HELP)
    .action(run);
}

async function run(file: string, query: AccountingQuery): Promise<void> {
  const reader = new SacctReader("Slurm's accounting");
  for await (const chunk of accountingOf(query)) reader.push(chunk);
  const jobs = reader.end();
  for (const line of diagnosticLines(jobs.diagnostics)) hint(line);
  if (jobs.count === 0) {
    throw new InputError(
      `Cannot write "${file}": Slurm's accounting shows no job that ended after a run since ${query.since}; expected another --since, --until or --user`,
    );
  }
  const workload = withOrigin(jobs, query, await processors());
  await writeOutput(file, writeSwf(workload));
  hint(
    `${plural(workload.count, "job")} in ${file}; next: ${commandName()} compare ${file} --policy fcfs,easy,gang:rows=4`,
  );
}

/** Undefined, with a note, if Slurm does not tell. */
async function processors(): Promise<number | undefined> {
  try {
    return await processorsOfCluster();
  } catch (error) {
    hint(`${(error as Error).message}; the trace does not say how large the machine is: use --procs`);
    return undefined;
  }
}

/** The header says how large the machine is now, what was asked, and what the reader did. */
function withOrigin(
  workload: Workload,
  { since, until, user }: AccountingQuery,
  processors: number | undefined,
): Workload {
  const asked = [`since ${since}`, ...(until === undefined ? [] : [`until ${until}`])].join(", ");
  const whose = user === undefined ? "" : ", one user only";
  return {
    ...workload,
    header: [
      ...workload.header,
      ...(processors === undefined
        ? []
        : [`; MaxProcs: ${processors}`, "; Note: MaxProcs is that of the day of the import"]),
      `; Note: imported by tutti ${ownVersion()}: ${asked}${whose}`,
      ...workload.diagnostics.map((diagnostic) => `; Note: ${diagnosticText(diagnostic)}`),
    ],
  };
}
