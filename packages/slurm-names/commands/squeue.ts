/** `squeue`: lists jobs that wait or run. */

import { jobNames, jobsNamed, jobsOf } from "@tutti/cli/live/slurm-numbers.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Job, PolicyAnswer, WhatIfAnswer } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES } from "@tutti/protocol/states.ts";
import { type Command, refuseOptions, writeOut } from "../command.ts";
import { BareError, SlurmError } from "../errors.ts";
import { cpusOf, nodesOf } from "../job/facts.ts";
import { LETTERS, NAMES } from "../job/fields.ts";
import { queuesOf } from "../job/machine.ts";
import { jobsWith, listed, ownName, withOpenDependencies } from "../job/select.ts";
import { STATES, slurmState, statesNamed } from "../job/states.ts";
import { patientClient } from "../patient-client.ts";
import { partsOfLetters, partsOfNames, tableText } from "../text/columns.ts";

const USUAL = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
/** With --start: waiting jobs, by their expected start. */
const START = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";
const LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";

export const squeue: Command = {
  options:
    "account,A= all,a array,r array-unique clusters,M= federation format,o= Format,O= help hide iterate,i= jobs,j= json job= licenses,L= local long,l me name,n= node,w= nodelist,w= noconvert noheader,h only-job-state partition,p= priority,P qos,q= reservation,R= sort,S= start sibling states,t= step,s= steps= users,u= user= usage verbose,v version,V yaml",
  usage:
    "squeue [-h] [-l | --start] [-j JOBS] [-n NAMES] [-p QUEUES] [-t STATES] [-u USERS | --me] [-o FORMAT | -O NAMES] [-S KEYS]",
  async run({ options }) {
    refuseOptions(options, ["json", "yaml"], "tutti jobs --json");
    refuseOptions(options, ["step", "steps"], "squeue without it");
    refuseOptions(options, ["iterate"], "watch squeue");
    const client = await patientClient();
    const isStart = "start" in options;
    const asked = isStart ? { format: START, sort: "S", ...options, states: "PENDING" } : options;
    const jobs = await withOpenDependencies(client, await chosenJobs(client, asked));
    writeOut(queueText(isStart ? await withExpectedStarts(client, jobs) : jobs, asked));
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

/** The middle of the forecast stands for the start, as Slurm's estimate does. */
async function withExpectedStarts(client: Client, jobs: readonly Job[]): Promise<readonly Job[]> {
  const answer = await client.ask<WhatIfAnswer>("/v1/whatif", {
    method: "POST",
    body: { policies: [(await client.ask<PolicyAnswer>("/v1/policy")).policy] },
  });
  const starts = new Map(answer.policies[0]?.jobs.map(({ job, p50Ms }) => [job, p50Ms]));
  return jobs.map((job) => {
    const startedAtMs = starts.get(job.job) ?? job.notBeforeMs ?? job.beginAtMs;
    // One that was requeued has started before.
    const { startedAtMs: _, ...waiting } = job;
    return startedAtMs === undefined ? waiting : { ...waiting, startedAtMs };
  });
}

async function chosenJobs(
  client: Client,
  options: Readonly<Record<string, string>>,
): Promise<readonly Job[]> {
  const states = options.states ?? process.env.SQUEUE_STATES;
  const wanted =
    states === undefined || states === ""
      ? new Set(ACTIVE)
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
    const names = jobNames(ids.split(","), (text) => new SlurmError(`Invalid job id: ${text}`));
    jobs = await jobsNamed(client, names);
    // As Slurm, which forgets ended jobs after some minutes, but a single one is asked for by its number.
    if (jobs.length === 0 && names.length === 1)
      throw new BareError("slurm_load_jobs error: Invalid job id specified");
  } else if (wanted === undefined || [...wanted].some((state) => !ACTIVE.includes(state)))
    jobs = await jobsOf(client, {});
  else jobs = await jobsOf(client, { states: ACTIVE_STATES });
  const user = "me" in options ? await ownName(client) : undefined;
  const nodes = listed(options.nodelist ?? options.node);
  const found = jobsWith(jobs, {
    states: wanted,
    users: listed(options.users ?? options.user ?? user),
    names: listed(options.name),
    queues: await queuesOf(client, options.partition, (problem) =>
      process.stderr.write(`squeue: ${problem}\n`),
    ),
  });
  return nodes === undefined ? found : found.filter((job) => nodesOf(job).some((node) => nodes.has(node)));
}

/** States of jobs that have not ended. */
const ACTIVE: readonly string[] = ["PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING"];

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
