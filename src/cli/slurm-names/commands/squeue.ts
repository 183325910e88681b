/** `squeue`: lists jobs that wait or run. */
import type { Client } from "../../../api/client/client.ts";
import type { Job } from "../../../protocol/schema.ts";
import { ACTIVE_STATES } from "../../../protocol/states.ts";
import { type Command, unsupported, writeOut } from "../command.ts";
import { BareError, SlurmError } from "../errors.ts";
import { lastValues, parseWords } from "../getopt.ts";
import {
  ACCOUNT,
  cpusOf,
  dependencyText,
  isWaiting,
  jobId,
  limitText,
  memoryText,
  nodesOf,
  QOS,
  tresText,
} from "../job/facts.ts";
import { queuesOf } from "../job/machine.ts";
import { allJobs, jobsInStates, jobsNamed, parseJobName, withOpenDependencies } from "../job/select.ts";
import { exitCodeText, reasonText, STATES, slurmState, statesNamed } from "../job/states.ts";
import { patientClient } from "../patient-client.ts";
import { type Column, partsOfLetters, partsOfNames, tableText } from "../text/columns.ts";
import { limitMs, shortDuration, timeText } from "../text/times.ts";

const column = (header: string, value: (job: Job) => string): Column<Job> => ({ header, value });
const nodes = (job: Job) => nodesOf(job).join(",");
const whyOrWhere = (job: Job) => (isWaiting(job) ? `(${reasonText(job)})` : nodes(job));
const rawId = ({ job }: Job) => String(job);
const start = (job: Job) => timeText(job.startedAtMs, "N/A");
const end = ({ endedAtMs, startedAtMs, limitMs: ms }: Job) =>
  timeText(
    endedAtMs ?? (startedAtMs === undefined || ms === undefined ? undefined : startedAtMs + ms),
    "N/A",
  );
const left = (job: Job) =>
  job.limitMs === undefined ? "UNLIMITED" : shortDuration(Math.max(0, limitMs(job.limitMs) - job.ranMs));

const C = {
  account: column("ACCOUNT", () => ACCOUNT),
  array: column("ARRAY_JOB_ID", ({ array, job }) => String(array ?? job)),
  command: column("COMMAND", ({ command }) => command.join(" ")),
  cpus: column("CPUS", (job) => String(cpusOf(job))),
  dependency: column("DEPENDENCY", dependencyText),
  end: column("END_TIME", end),
  exit: column("EXIT_CODE", exitCodeText),
  id: column("JOBID", jobId),
  index: column("ARRAY_TASK_ID", ({ arrayIndex }) => (arrayIndex === undefined ? "N/A" : String(arrayIndex))),
  left: column("TIME_LEFT", left),
  limit: column("TIME_LIMIT", (job) => limitText(job, shortDuration)),
  memory: column("MIN_MEMORY", (job) => memoryText(job) ?? "0"),
  name: column("NAME", ({ name }) => name),
  nodeCount: column("NODES", (job) => String(Math.max(1, nodesOf(job).length))),
  nodes: column("NODELIST", nodes),
  partition: column("PARTITION", ({ queue }) => queue),
  priority: column("PRIORITY", ({ priority }) => String(priority)),
  qos: column("QOS", () => QOS),
  rawId: column("JOBID", rawId),
  reason: column("REASON", reasonText),
  start: column("START_TIME", start),
  state: column("STATE", (job) => slurmState(job)),
  stateCode: column("ST", (job) => STATES[slurmState(job)]),
  stderr: column("STDERR", ({ stderr }) => stderr),
  stdout: column("STDOUT", ({ stdout }) => stdout),
  submit: column("SUBMIT_TIME", ({ submittedAtMs }) => timeText(submittedAtMs)),
  time: column("TIME", ({ ranMs }) => shortDuration(ranMs)),
  tres: column("TRES_ALLOC", tresText),
  user: column("USER", ({ user }) => user),
  where: column("NODELIST(REASON)", whyOrWhere),
  workDir: column("WORK_DIR", ({ cwd }) => cwd),
};

const LETTERS: Readonly<Record<string, Column<Job>>> = {
  A: C.rawId,
  a: C.account,
  C: C.cpus,
  D: C.nodeCount,
  E: C.dependency,
  e: C.end,
  F: C.array,
  i: C.id,
  j: C.name,
  K: C.index,
  L: C.left,
  l: C.limit,
  M: C.time,
  m: C.memory,
  N: C.nodes,
  o: C.command,
  P: C.partition,
  p: C.priority,
  Q: C.priority,
  q: C.qos,
  R: C.where,
  r: C.reason,
  S: C.start,
  T: C.state,
  t: C.stateCode,
  u: C.user,
  V: C.submit,
  Z: C.workDir,
};

const NAMES: Readonly<Record<string, Column<Job>>> = {
  Account: C.account,
  ArrayJobID: C.array,
  ArrayTaskID: C.index,
  Command: C.command,
  Dependency: C.dependency,
  EndTime: C.end,
  exit_code: C.exit,
  JobArrayID: C.id,
  JobID: C.rawId,
  MinMemory: C.memory,
  Name: C.name,
  NodeList: C.nodes,
  NumCPUs: C.cpus,
  NumNodes: C.nodeCount,
  Partition: C.partition,
  PriorityLong: C.priority,
  QOS: C.qos,
  Reason: C.reason,
  ReasonList: C.where,
  StartTime: C.start,
  State: C.state,
  StateCompact: C.stateCode,
  STDERR: C.stderr,
  STDOUT: C.stdout,
  SubmitTime: C.submit,
  TimeLeft: C.left,
  TimeLimit: C.limit,
  TimeUsed: C.time,
  "tres-alloc": C.tres,
  UserName: C.user,
  WorkDir: C.workDir,
};

const USUAL = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
const LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";

export const squeue: Command = {
  spec: {
    command: "squeue",
    options:
      "account,A= all,a array,r array-unique clusters,M= federation format,o= Format,O= help hide iterate,i= jobs,j= json job= licenses,L= local long,l me name,n= node,w= nodelist,w= noconvert noheader,h only-job-state partition,p= priority,P qos,q= reservation,R= sort,S= start sibling states,t= step,s= steps= users,u= user= usage verbose,v version,V yaml",
    unknownCode: 1,
  },
  usage:
    "squeue [-h] [-l] [-j JOBS] [-n NAMES] [-p QUEUES] [-t STATES] [-u USERS | --me] [-o FORMAT | -O NAMES] [-S KEYS]",
  async run(words) {
    const { given } = parseWords(this.spec, words);
    const options = lastValues(given);
    for (const name of ["json", "yaml"])
      if (name in options) throw unsupported(`--${name}`, "tutti jobs --json");
    for (const name of ["step", "steps", "iterate"])
      if (name in options)
        throw unsupported(`--${name}`, name === "iterate" ? "watch squeue" : "squeue without it");
    const client = await patientClient();
    writeOut(queueText(await withOpenDependencies(client, await chosenJobs(client, options)), options));
  },
};

/** The list that the options ask for. */
export function queueText(jobs: readonly Job[], options: Readonly<Record<string, string>>): string {
  const hasHeader = !("noheader" in options);
  const format = options.format ?? process.env.SQUEUE_FORMAT ?? ("long" in options ? LONG : USUAL);
  const parts =
    options.Format !== undefined ? partsOfNames(options.Format, NAMES) : partsOfLetters(format, LETTERS);
  const date = "long" in options && hasHeader ? `${new Date().toString().slice(0, 24)}\n` : "";
  return `${date}${tableText(parts, sorted(jobs, options.sort), hasHeader)}`;
}

async function chosenJobs(
  client: Client,
  options: Readonly<Record<string, string>>,
): Promise<readonly Job[]> {
  const states = options.states ?? process.env.SQUEUE_STATES;
  const wanted =
    states === undefined || states === ""
      ? new Set(["PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING"])
      : statesNamed(
          states,
          (name) =>
            new SlurmError(
              `Invalid job state specified: ${name}\nValid job states include: ${Object.keys(STATES).join(",")}`,
            ),
        );
  const ids = options.jobs || options.job;
  let jobs: readonly Job[];
  if (ids) {
    const names = ids.split(",").map((text) => {
      const name = parseJobName(text);
      if (name === undefined) throw new SlurmError(`Invalid job id: ${text}`);
      return name;
    });
    jobs = await jobsNamed(client, names);
    // As Slurm, which forgets ended jobs after some minutes, but a single one is asked for by its number.
    if (jobs.length === 0 && names.length === 1)
      throw new BareError("slurm_load_jobs error: Invalid job id specified");
  } else if (wanted === undefined || [...wanted].some((state) => !(state in ACTIVE)))
    jobs = await allJobs(client);
  else jobs = await jobsInStates(client, ACTIVE_STATES);
  const user = "me" in options ? await ownName(client) : undefined;
  const lists = {
    users: new Set((options.users ?? options.user ?? user)?.split(",")),
    names: new Set(options.name?.split(",")),
    partitions: await queuesOf(client, options.partition, (problem) =>
      process.stderr.write(`squeue: ${problem}\n`),
    ),
    nodes: new Set((options.nodelist ?? options.node)?.split(",")),
  };
  return jobs.filter(
    (job) =>
      (wanted === undefined || wanted.has(slurmState(job))) &&
      (lists.users.size === 0 || lists.users.has(job.user)) &&
      (lists.names.size === 0 || lists.names.has(job.name)) &&
      (lists.partitions?.has(job.queue) ?? true) &&
      (lists.nodes.size === 0 || nodesOf(job).some((node) => lists.nodes.has(node))),
  );
}

const ACTIVE = { PENDING: 1, CONFIGURING: 1, RUNNING: 1, SUSPENDED: 1, COMPLETING: 1 };

async function ownName(client: Client): Promise<string> {
  return (await client.ask<{ readonly user: string }>("/v1/status")).user;
}

/** As squeue: by queue, state, falling priority and number, or by the letters of `-S`, such as `-t,i`. */
function sorted(jobs: readonly Job[], keys = "P,t,-p,i"): readonly Job[] {
  const order = Object.keys(STATES);
  const compare: Readonly<Record<string, (a: Job, b: Job) => number>> = {
    t: (a, b) => order.indexOf(slurmState(a)) - order.indexOf(slurmState(b)),
    p: (a, b) => a.priority - b.priority,
    i: (a, b) => a.job - b.job,
    M: (a, b) => a.ranMs - b.ranMs,
    S: (a, b) => (a.startedAtMs ?? Number.MAX_VALUE) - (b.startedAtMs ?? Number.MAX_VALUE),
    V: (a, b) => a.submittedAtMs - b.submittedAtMs,
    C: (a, b) => cpusOf(a) - cpusOf(b),
  };
  const same: Readonly<Record<string, string>> = { T: "t", Q: "p", A: "i", F: "i" };
  const comparisons = keys.split(",").map((key) => {
    const [, sign, letter = ""] = /^\s*([+-]?)(\w)\s*$/.exec(key) ?? [];
    const by = compare[same[letter] ?? letter];
    const value = LETTERS[letter]?.value;
    if (by === undefined && value === undefined) throw new SlurmError(`Invalid sort specification: ${key}`);
    const direction = sign === "-" ? -1 : 1;
    return (a: Job, b: Job) => {
      if (by !== undefined) return direction * by(a, b);
      const [x, y] = [value!(a), value!(b)];
      return direction * (x < y ? -1 : x > y ? 1 : 0);
    };
  });
  return [...jobs].sort((a, b) => {
    for (const by of comparisons) {
      const difference = by(a, b);
      if (difference !== 0) return difference;
    }
    return a.job - b.job;
  });
}
