/** `sacct`: lists jobs, also those that have ended, with what they had and used. */
import type { Client } from "../../../api/client/client.ts";
import type { Job } from "../../../protocol/schema.ts";
import { type Command, unsupported, writeOut } from "../command.ts";
import { SlurmError } from "../errors.ts";
import { lastValues, parseWords } from "../getopt.ts";
import {
  ACCOUNT,
  CLUSTER,
  commandText,
  cpusOf,
  jobId,
  limitText,
  memoryText,
  nodesOf,
  QOS,
  tresText,
} from "../job/facts.ts";
import { queuesOf } from "../job/machine.ts";
import { allJobs, jobsNamed, parseJobName } from "../job/select.ts";
import { exitCodeText, reasonText, slurmState, statesNamed } from "../job/states.ts";
import { patientClient } from "../patient-client.ts";
import { accountingText, type Field, fieldsNamed } from "../text/accounting-table.ts";
import { limitMs, longDuration, parseTime, timeText } from "../text/times.ts";
import { uidOf } from "../text/users.ts";

/** A job, or the step `batch` of a job, which stands for its script. */
interface Row {
  readonly job: Job;
  readonly isStep: boolean;
}

const field = (
  name: string,
  width: number,
  ofJob: (job: Job) => string,
  ofStep: (job: Job) => string = ofJob,
): Field<Row> => ({ name, width, value: ({ job, isStep }) => (isStep ? ofStep(job) : ofJob(job)) });
const none = () => "";
const kibibytes = (bytes: number | undefined) => (bytes === undefined ? "" : `${Math.ceil(bytes / 1024)}K`);

/** `CANCELLED by 0`; the step of a cancelled job ended by a signal. */
function stateText(job: Job): string {
  const state = slurmState(job);
  if (state !== "CANCELLED") return state;
  const [, by] = /^cancelled by (.+)$/.exec(job.reason ?? "") ?? [];
  const uid = uidOf(by ?? job.user);
  return uid === undefined ? state : `${state} by ${uid}`;
}
const stepState = (job: Job) => {
  const state = slurmState(job);
  return state === "TIMEOUT" || state === "NODE_FAIL" ? "CANCELLED" : state;
};
const stepExit = (job: Job) =>
  ["CANCELLED", "TIMEOUT"].includes(slurmState(job)) ? "0:15" : exitCodeText(job);

function totalCpu({ usage }: Job): string {
  const { cpuMs } = usage ?? {};
  return cpuMs === undefined ? "00:00:00" : longDuration(cpuMs);
}

const FIELDS: readonly Field<Row>[] = [
  field("Account", 10, () => ACCOUNT),
  field("AllocCPUS", 10, (job) => String(cpusOf(job))),
  field("AllocNodes", 10, (job) => String(nodesOf(job).length)),
  field("AllocTRES", 10, (job) => (nodesOf(job).length === 0 ? "" : tresText(job))),
  field("AveCPU", 10, none, totalCpu),
  field("AveRSS", 10, none, ({ usage }) => kibibytes(usage?.peakMemoryBytes)),
  field("Cluster", 10, () => CLUSTER),
  field("Comment", 14, none),
  field("Constraints", 19, none),
  field("CPUTime", 10, (job) => longDuration(job.ranMs * cpusOf(job))),
  field("CPUTimeRAW", 10, (job) => String(Math.floor((job.ranMs * cpusOf(job)) / 1000))),
  field("DerivedExitCode", 15, exitCodeText, none),
  field("Elapsed", 10, ({ ranMs }) => longDuration(ranMs)),
  field("ElapsedRaw", 10, ({ ranMs }) => String(Math.floor(ranMs / 1000))),
  field("Eligible", 19, ({ eligibleAtMs, submittedAtMs }) => timeText(eligibleAtMs ?? submittedAtMs)),
  field("End", 19, ({ endedAtMs }) => timeText(endedAtMs)),
  field("ExitCode", 8, exitCodeText, stepExit),
  field("GID", 6, () => "", none),
  field("Group", 9, none),
  field("JobID", -12, jobId, (job) => `${jobId(job)}.batch`),
  field(
    "JobIDRaw",
    -12,
    ({ job }) => String(job),
    ({ job }) => `${job}.batch`,
  ),
  field(
    "JobName",
    10,
    ({ name }) => name,
    () => "batch",
  ),
  field("MaxRSS", 10, none, ({ usage }) => kibibytes(usage?.peakMemoryBytes)),
  field("MaxVMSize", 10, none),
  field("NCPUS", 10, (job) => String(cpusOf(job))),
  field("NNodes", 8, (job) => String(Math.max(1, nodesOf(job).length))),
  field("NodeList", 15, (job) => nodesOf(job).join(",") || "None assigned"),
  field("NTasks", 8, none, () => "1"),
  field("Partition", 10, ({ queue }) => queue, none),
  field("Priority", 10, ({ priority }) => String(priority), none),
  field("QOS", 10, () => QOS, none),
  field("Reason", 22, reasonText, none),
  field("ReqCPUS", 8, (job) => String(cpusOf(job))),
  field("ReqMem", 10, (job) => memoryText(job) ?? "", none),
  field("ReqNodes", 8, () => "1"),
  field("ReqTRES", 10, tresText, none),
  field("Reservation", 20, none),
  field("Start", 19, ({ startedAtMs }) => timeText(startedAtMs)),
  field("State", 10, stateText, stepState),
  field("Submit", 19, ({ submittedAtMs }) => timeText(submittedAtMs)),
  field("SubmitLine", 20, commandText, none),
  field("Suspended", 10, () => "00:00:00"),
  field("Timelimit", 10, (job) => limitText(job), none),
  field(
    "TimelimitRaw",
    10,
    ({ limitMs: ms }) => (ms === undefined ? "UNLIMITED" : String(limitMs(ms) / 60_000)),
    none,
  ),
  field("TotalCPU", 10, totalCpu),
  field("UID", 6, ({ user }) => String(uidOf(user) ?? ""), none),
  field("User", 9, ({ user }) => user, none),
  field("WCKey", 10, none),
  field("WorkDir", 20, ({ cwd }) => cwd, none),
];

const USUAL = "jobid,jobname,partition,account,alloccpus,state,exitcode";
const BRIEF = "jobid,state,exitcode";

export const sacct: Command = {
  spec: {
    command: "sacct",
    options:
      "accounts,A= allocations,X allclusters,L allusers,a array batch-script brief,b clusters,M= cluster= completion,c constraints,C= delimiter= duplicates,D endtime,E= env-vars federation file,f= flags,F= format,o= group= gid,g= help,h helpformat,e jobs,j= json local long,l name= jobname= ncpus,I= nnodes,i= noconvert nodelist,N= noheader,n parsable,p parsable2,P partition,r= qos,q= reason,R= starttime,S= state,s= timelimit-max,K= timelimit-min,k= truncate,T uid= units= usage,U use-local-uid user,u= verbose,v version,V wckeys,W= whole-hetjob? associations,x= yaml",
    unknownCode: 1,
  },
  usage:
    "sacct [-X] [-n] [-P | -p] [-o FIELDS] [-j JOBS] [--name NAMES] [-r QUEUES] [-s STATES] [-u USERS] [-S TIME] [-E TIME]; sacct -e lists the fields",
  async run(words) {
    const { given } = parseWords(this.spec, words);
    const options = lastValues(given);
    for (const name of ["json", "yaml"])
      if (name in options) throw unsupported(`--${name}`, "tutti history --json");
    for (const name of ["long", "batch-script", "env-vars", "file", "completion", "reason"])
      if (name in options)
        throw unsupported(`--${name}`, "-o with the fields that you need, and tutti show JOB");
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
  const rows = jobs.flatMap((job): Row[] => {
    const hasStep = !("allocations" in options) && job.startedAtMs !== undefined;
    return [{ job, isStep: false }, ...(hasStep ? [{ job, isStep: true }] : [])];
  });
  const style = "parsable2" in options ? "between" : "parsable" in options ? "after" : "table";
  return accountingText(fieldsNamed(format, FIELDS), rows, {
    style,
    delimiter: options.delimiter ?? "|",
    hasHeader: !("noheader" in options),
  });
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
        ids
          .split(",")
          .filter((text) => text !== "")
          .map((text) => {
            const name = parseJobName(text);
            if (name === undefined) throw new SlurmError(`Invalid job id: ${text}`);
            return name;
          }),
      )
    : await allJobs(client);
  const list = (text: string | undefined) => (text === undefined ? undefined : new Set(text.split(",")));
  const users = list(options.uid ?? options.user);
  const names = list(options.name ?? options.jobname);
  const partitions = await queuesOf(client, options.partition, (problem) =>
    process.stderr.write(`sacct: ${problem}\n`),
  );
  return jobs.filter(
    (job) =>
      (job.endedAtMs ?? nowMs) >= fromMs &&
      job.submittedAtMs <= untilMs &&
      (states === undefined || states.has(slurmState(job))) &&
      (users === undefined || users.has(job.user) || users.has(String(uidOf(job.user)))) &&
      (names === undefined || names.has(job.name)) &&
      (partitions?.has(job.queue) ?? true),
  );
}
