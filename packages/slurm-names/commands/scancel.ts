/** `scancel`: cancels jobs, or sends them signals; with STOP and CONT, pauses and resumes them. */

import { type Change, changesOf } from "@tutti/cli/live/job-changes.ts";
import { jobNames, jobsNamed, jobsOf } from "@tutti/cli/live/slurm-numbers.ts";
import { signalNamed } from "@tutti/cli/options/signal-names.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { BatchBody, Job } from "@tutti/protocol/schema.ts";
import { JOB_SIGNALS } from "@tutti/protocol/signals.ts";
import { ACTIVE_STATES } from "@tutti/protocol/states.ts";
import { type Command, refuseOptions, remarkIgnored } from "../command.ts";
import { BareError, SlurmError } from "../errors.ts";
import { jobId } from "../job/facts.ts";
import { queuesOf } from "../job/machine.ts";
import { jobsWith, listed, ownName } from "../job/select.ts";
import { statesNamed } from "../job/states.ts";
import { patientClient } from "../patient-client.ts";

/** What a signal means for the job as a whole: by these, jobs take turns, so no process gets them. */
const TURNS: Readonly<Record<string, BatchBody["action"]>> = {
  SIGSTOP: "pause",
  SIGTSTP: "pause",
  SIGCONT: "resume",
};

export const scancel: Command = {
  options:
    "account,A= batch,b clusters,M= ctld cron full,f help hurry,H interactive,i jobname= me name,n= nodelist,w= partition,p= qos,q= quiet,Q reservation,R= sibling= signal,s= state,t= usage user,u= verbose,v version,V wckey=",
  usage:
    "scancel [-n NAME] [-p QUEUE] [-t STATE] [-u USER | --me] [-s SIGNAL [-b | -f]] [JOB | ARRAY_INDEX | ARRAY_[INDICES]]...",
  async run({ given, words, options }) {
    refuseOptions(options, ["interactive"], "scancel without it");
    if ("reservation" in options) throw new SlurmError("Requested reservation is invalid");
    const wanted = changeOf(options);
    remarkIgnored("scancel", given, ["clusters", "account", "qos", "wckey"]);
    const filters = ["name", "jobname", "partition", "state", "user", "me", "nodelist", "account", "qos"];
    if (words.length === 0 && !filters.some((name) => name in options))
      throw new SlurmError("No job identification provided");
    const client = await patientClient();
    const jobs = await chosenJobs(client, words, options);
    const isVerbose = "verbose" in options;
    let failed = false;
    const ids = new Map(jobs.map((job) => [job.job, jobId(job)]));
    for (const result of await changesOf(client, wanted, [...ids.keys()])) {
      if ("job" in result) {
        const did = wanted.signal === undefined ? "Terminating" : `Signal ${wanted.signal.name} to`;
        if (isVerbose) process.stderr.write(`scancel: ${did} job ${ids.get(result.job.job)}\n`);
        continue;
      }
      const isForbidden = result.refused === "not-yours" || result.refused === "forbidden";
      const isEarly = wanted.signal !== undefined && result.refused === "wrong-state";
      failed ||= isForbidden || isEarly;
      // Slurm asks for more than a minute until it says so of a job that has not started.
      const whyNot = isEarly
        ? `Job can not be altered now, try again later: ${result.message}`
        : "Job/step already completing or completed";
      const why = isForbidden ? "Access/permission denied" : whyNot;
      if (isForbidden || isEarly || isVerbose)
        process.stderr.write(`scancel: error: Kill job error on job id ${ids.get(result.number)}: ${why}\n`);
    }
    if (failed) process.exitCode = 1;
  },
};

/** As in Slurm, a signal goes to the steps only, unless an option says otherwise. */
function changeOf(options: Readonly<Record<string, string>>): Change {
  const isForScript = "batch" in options;
  const word = options.signal ?? "KILL";
  const name = signalNamed(word);
  if (name === undefined) throw new SlurmError(`Unknown job signal: ${word}`);
  if (name === "SIGKILL" && !isForScript) return { action: "cancel" };
  if (Object.hasOwn(TURNS, name)) return { action: TURNS[name] };
  const known = JOB_SIGNALS.find((one) => one === name);
  if (known === undefined) throw new SlurmError(`Unknown job signal: ${word}`);
  const to = isForScript ? "script" : "steps";
  return { action: "signal", signal: { name: known, ...(!("full" in options) && { to }) } };
}

async function chosenJobs(
  client: Client,
  ids: readonly string[],
  options: Readonly<Record<string, string>>,
): Promise<readonly Job[]> {
  const names = jobNames(
    ids.flatMap((text) => text.split(",")),
    (text) => new SlurmError(`Invalid job id ${text}`),
  );
  const step = names.find((name) => name.step !== undefined);
  if (step !== undefined)
    throw new SlurmError(
      `Cannot cancel step ${step.text}: Tutti knows jobs, not their steps; cancel job ${step.number}`,
    );
  const jobs =
    names.length > 0 ? await jobsNamed(client, names) : await jobsOf(client, { states: ACTIVE_STATES });
  const states =
    options.state === undefined
      ? undefined
      : statesNamed(
          options.state,
          (name) =>
            new BareError(
              `Invalid job state specified: ${name}\nValid job states are PENDING, RUNNING, and SUSPENDED`,
            ),
        );
  const user = "me" in options ? await ownName(client) : options.user;
  const queues = await queuesOf(client, options.partition, (problem) => {
    // Without this filter, more jobs would be cancelled.
    throw new SlurmError(`Invalid partition specified: ${problem}`);
  });
  const users = user === undefined ? undefined : new Set([user]);
  return jobsWith(
    jobs.filter(({ endedAtMs }) => endedAtMs === undefined),
    { states, users, names: listed(options.name ?? options.jobname), queues },
  );
}
