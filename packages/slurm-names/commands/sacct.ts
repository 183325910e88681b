/** `sacct`: lists jobs, also those that have ended, with what they had and used. */

import { jobNames, jobsNamed, jobsOf } from "@tutti/cli/live/slurm-numbers.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { type Command, refuseOptions, writeOut } from "../command.ts";
import { SlurmError } from "../errors.ts";
import { type AccountingRow, FIELDS } from "../job/fields.ts";
import { queuesOf } from "../job/machine.ts";
import { jobsWith, listed } from "../job/select.ts";
import { statesNamed } from "../job/states.ts";
import { patientClient } from "../patient-client.ts";
import { accountingText, fieldsNamed } from "../text/accounting-table.ts";
import { parseTime } from "../text/times.ts";

const USUAL = "jobid,jobname,partition,account,alloccpus,state,exitcode";
const BRIEF = "jobid,state,exitcode";

export const sacct: Command = {
  options:
    "accounts,A= allocations,X allclusters,L allusers,a array batch-script brief,b clusters,M= cluster= completion,c constraints,C= delimiter= duplicates,D endtime,E= env-vars federation file,f= flags,F= format,o= group= gid,g= help,h helpformat,e jobs,j= json local long,l name= jobname= ncpus,I= nnodes,i= noconvert nodelist,N= noheader,n parsable,p parsable2,P partition,r= qos,q= reason,R= starttime,S= state,s= timelimit-max,K= timelimit-min,k= truncate,T uid= units= usage,U use-local-uid user,u= verbose,v version,V wckeys,W= whole-hetjob? associations,x= yaml",
  usage:
    "sacct [-X] [-n] [-P | -p] [-o FIELDS] [-j JOBS] [--name NAMES] [-r QUEUES] [-s STATES] [-u USERS] [-S TIME] [-E TIME]; sacct -e lists the fields",
  async run({ given, options }) {
    refuseOptions(options, ["json", "yaml"], "tutti jobs --ended --json");
    refuseOptions(
      options,
      ["long", "batch-script", "env-vars", "file", "completion", "reason"],
      "-o with the fields that you need, and tutti show JOB",
    );
    if ("helpformat" in options) {
      writeOut(`${FIELDS.map(({ name }) => name).join("\n")}\n`);
      return;
    }
    // -j may be repeated.
    const ids = given.filter(({ name }) => name === "jobs").map(({ value = "" }) => value);
    const jobs = await chosenJobs(await patientClient(), ids.join(","), options);
    // -o may be repeated, too.
    const formats = given.filter(({ name }) => name === "format").map(({ value }) => value);
    writeOut(jobsText(jobs, { ...options, ...(formats.length > 0 && { format: formats.join(",") }) }));
  },
};

/** The table that the options ask for. */
export function jobsText(jobs: readonly Job[], options: Readonly<Record<string, string>>): string {
  const format = options.format ?? process.env.SACCT_FORMAT ?? ("brief" in options ? BRIEF : USUAL);
  const rows = jobs.flatMap((job): AccountingRow[] => {
    const hasStep = !("allocations" in options) && job.startedAtMs !== undefined;
    return [{ job, isStep: false }, ...(hasStep ? [{ job, isStep: true }] : [])];
  });
  return accountingText(fieldsNamed(format, FIELDS), rows, options);
}

async function chosenJobs(
  client: Client,
  ids: string,
  options: Readonly<Record<string, string>>,
): Promise<readonly Job[]> {
  const nowMs = Date.now();
  const time = (name: "starttime" | "endtime") => {
    const text = options[name];
    if (text === undefined) return undefined;
    const ms = parseTime(text, nowMs);
    if (ms === undefined) throw new SlurmError(`Invalid time specification (pos=0): ${text}`);
    return ms;
  };
  const states =
    options.state === undefined
      ? undefined
      : statesNamed(options.state, (name) => new SlurmError(`Invalid job state specified: ${name}`));
  // As Slurm: without jobs and states, everything of today.
  const hasJobs = ids !== "";
  const fromMs = time("starttime") ?? (hasJobs ? 0 : parseTime("today", nowMs)!);
  const untilMs = time("endtime") ?? Number.MAX_SAFE_INTEGER;
  const jobs = hasJobs
    ? await jobsNamed(
        client,
        jobNames(
          ids.split(",").filter((text) => text !== ""),
          (text) => new SlurmError(`Invalid job id: ${text}`),
        ),
      )
    : await jobsOf(client, {});
  const found = jobsWith(jobs, {
    states,
    users: listed(options.uid ?? options.user),
    names: listed(options.name ?? options.jobname),
    queues: await queuesOf(client, options.partition, (problem) =>
      process.stderr.write(`sacct: ${problem}\n`),
    ),
  });
  return found.filter((job) => (job.endedAtMs ?? nowMs) >= fromMs && job.submittedAtMs <= untilMs);
}
