/**
 * `tutti lab page`, `reproduce`, `torture` and `import`: what the laboratory has besides single experiments.
 */

import { ownVersion } from "@tutti/host/version.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { plural } from "@tutti/kernel/core/format.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { SacctReader } from "@tutti/kernel/workload/traces/sacct.ts";
import { writeSwf } from "@tutti/kernel/workload/traces/swf-writer.ts";
import { labPage } from "@tutti/lab/files/lab-page.ts";
import { writeOutput } from "@tutti/lab/files/write-whole.ts";
import { diagnosticText } from "@tutti/lab/jobs-in-words.ts";
import { type AccountingQuery, accountingOf, processorsOfCluster } from "@tutti/slurm/accounting.ts";
import { type Command, Option } from "commander";
import { configureReproduce } from "../experiments/reproduce.ts";
import { configureTorture } from "../experiments/torture.ts";
import { diagnosticLines } from "../text/result-text.ts";
import { commandName, hint } from "../text/text.ts";
import { unknownPart } from "../usage-text.ts";

const PAGE_HELP = `
The page reads traces, runs policies and draws results in the browser. It opens
from a disk, needs no network, and sends nothing anywhere: send it by mail, or
keep it on a stick.`;

const IMPORT_HELP = `
Slurm's command sacct is asked for all runs of all jobs; nothing is changed. The
file has no names of users or jobs: users, groups, QOS and partitions become
numbers. What is left out, repaired or noted is printed and kept in the file.

DATE is what sacct reads, such as 2026-01-31, 01/31 or now-30days.`;

export function configure(command: Command): void {
  command
    .command("page <file>")
    .description("write the laboratory as one page for a browser")
    .addHelpText("after", PAGE_HELP)
    .action(page);
  configureReproduce(command.command("reproduce [paper]"));
  configureTorture(command.command("torture"));
  command
    .command("import <file>")
    .description("write a trace of the jobs in Slurm's accounting, in Standard Workload Format")
    .requiredOption("--since <date>", "jobs that waited or ran after this time")
    .option("--until <date>", "and before this time (default: now)")
    .option("--user <user>", "only the jobs of this user (default: all that Slurm shows you)")
    .addHelpText("after", IMPORT_HELP)
    .action(importJobs);
  // The older form of `tutti lab page FILE`.
  command
    .addOption(new Option("--one-file <path>").hideHelp())
    .allowExcessArguments()
    .action(({ oneFile }: { readonly oneFile?: string }) => {
      if (oneFile !== undefined) return page(oneFile);
      const [word] = command.args;
      if (word === undefined) return command.help({ error: true });
      throw unknownPart(command, word);
    });
}

async function page(file: string): Promise<void> {
  await writeOutput(file, [labPage()]);
  hint(`Open ${file} in a browser.`);
}

async function importJobs(file: string, query: AccountingQuery): Promise<void> {
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
    hint(`${(error as Error).message}; the trace does not say how large the machine is: use --processors`);
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
