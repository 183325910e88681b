/** `scontrol`: shows jobs, queues and nodes, and holds, releases, requeues, pauses and changes jobs. */

import { type Change, changesOf } from "@tutti/cli/live/job-changes.ts";
import { jobNames, jobsNamed, jobsOf, parseJobName } from "@tutti/cli/live/slurm-numbers.ts";
import { CLUSTER, nodeName } from "@tutti/cli/options/slurm-site.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import type { BatchBody, Job, MatrixAnswer } from "@tutti/protocol/schema.ts";
import { expandHostlist } from "@tutti/slurm/formats/hostlist.ts";
import { type Command, writeOut } from "../command.ts";
import { BareError, SlurmError } from "../errors.ts";
import { VERSION } from "../job/facts.ts";
import { type Machine, readMachine } from "../job/machine.ts";
import { processesOf } from "../job/processes.ts";
import { recordText } from "../job/record.ts";
import { requeueJobs } from "../job/requeue.ts";
import { withOpenDependencies } from "../job/select.ts";
import { changeOf, unsupported, withoutEffect } from "../job/update.ts";
import { MESSAGE_TIMEOUT_S, patientClient } from "../patient-client.ts";
import { foldHosts } from "../text/hostlist.ts";

const ACTIONS: Readonly<Record<string, BatchBody["action"]>> = {
  hold: "hold",
  uhold: "hold",
  release: "release",
  suspend: "pause",
  resume: "resume",
};

/** What does the same here, as far as there is something. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  create: "tutti window add",
  delete: "tutti window remove",
  reconfigure: "tutti down and tutti serve, after a change of the configuration",
  shutdown: "tutti down",
  takeover: "tutti serve",
  top: "tutti update --priority N JOB",
  wait_job: "tutti wait JOB",
};

const INVALID_JOB = "Invalid job id specified";

export const scontrol: Command = {
  options:
    "all,a clusters,M= cluster= details,d federation,F future help,h hide json local oneliner,o quiet,Q sibling uid,u= verbose,v version,V yaml",
  usage:
    "scontrol [-o] show job [JOB] | show partition|node|config|hostnames LIST|hostlist NAMES | hold|release|requeue|requeuehold|suspend|resume JOBS | update JobId=JOB NAME=VALUE... | update NodeName=NODE State=DRAIN|RESUME [Reason=TEXT] | listpids JOB[.STEP] | ping | version",
  // Slurm's -dd is two letters; options may follow the words: `scontrol show job 12 -o`.
  async run({ words: [keyword = "", ...rest], options }) {
    const isOneLine = "oneliner" in options;
    const action = Object.hasOwn(ACTIONS, keyword) ? ACTIONS[keyword] : undefined;
    if (action !== undefined) return change(keyword, { action }, rest);
    switch (keyword) {
      case "requeue":
      case "requeuehold":
        return requeue(keyword, rest);
      case "show":
        return show(rest, isOneLine);
      case "update":
        return update(rest);
      case "listpids":
        return listProcesses(rest[0]);
      case "ping": {
        await new Client().ask("/v1/status");
        writeOut(`Slurmctld(primary) at ${nodeName()} is UP\n`);
        return;
      }
      case "version":
        writeOut(`${VERSION}\n`);
        return;
      case "":
        throw new BareError(
          "too few arguments for keyword: scontrol reads no commands from standard input here",
        );
      default: {
        const instead = Object.hasOwn(ELSEWHERE, keyword) ? ELSEWHERE[keyword] : undefined;
        if (instead === undefined) throw new BareError(`invalid keyword: ${keyword}`);
        throw new BareError(`scontrol: error: ${keyword} is not supported by Tutti; use ${instead}`);
      }
    }
  },
};

async function show([entity = "", ...rest]: readonly string[], isOneLine: boolean): Promise<void> {
  const [id] = rest;
  switch (entity.toLowerCase()) {
    case "job":
    case "jobs":
    case "jobid":
      return showJobs(id, isOneLine);
    case "hostnames":
    case "hostname": {
      const list = id ?? process.env.SLURM_JOB_NODELIST ?? "";
      const hosts = expandHostlist(list);
      if (hosts === undefined) throw new BareError(`Invalid hostlist: ${list}`);
      writeOut(`${hosts.join("\n")}\n`);
      return;
    }
    case "hostlist":
    case "hostlistsorted": {
      const names = (id ?? "").split(",").filter((name) => name !== "");
      writeOut(`${foldHosts(entity === "hostlist" ? names : names.toSorted())}\n`);
      return;
    }
    case "partition":
    case "partitions":
    case "partitionname":
      return showRecords(isOneLine, (machine) => partitionRecords(machine, id));
    case "node":
    case "nodes":
    case "nodename":
      return showRecords(isOneLine, (machine) => nodeRecords(machine, id));
    case "config":
      return showConfig();
    default:
      throw new BareError(`invalid entity:${entity} for keyword:show `);
  }
}

async function showJobs(id: string | undefined, isOneLine: boolean): Promise<void> {
  const client = await patientClient();
  const name = id === undefined ? undefined : parseJobName(id.split(".")[0]);
  if (id !== undefined && name === undefined) throw new BareError(`slurm_load_jobs error: ${INVALID_JOB}`);
  let jobs = name === undefined ? await jobsOf(client, {}) : await jobsNamed(client, [name]);
  if (name === undefined && jobs.length === 0) {
    writeOut("No jobs in the system\n");
    return;
  }
  if (jobs.length === 0) throw new BareError(`slurm_load_jobs error: ${INVALID_JOB}`);
  // Lists cut long commands; the answer about one job has all of it.
  if (jobs.length === 1) jobs = [(await client.job(jobs[0].job)).job];
  jobs = await withOpenDependencies(client, jobs);
  writeOut(jobs.map((job) => recordText(job, isOneLine)).join(""));
}

async function showRecords(
  isOneLine: boolean,
  records: (machine: Machine) => readonly (readonly (readonly string[])[])[],
): Promise<void> {
  const texts = records(await readMachine(await patientClient())).map((lines) =>
    isOneLine ? `${lines.flat().join(" ")}\n` : `${lines.map((words) => words.join(" ")).join("\n   ")}\n\n`,
  );
  writeOut(texts.join(""));
}

function partitionRecords({ partitions, nodes, cpus }: Machine, name: string | undefined) {
  const wanted = partitions.filter((partition) => name === undefined || partition.name === name);
  if (wanted.length === 0) throw new BareError(`Partition ${name} not found`);
  return wanted.map(({ name: own, isDefault, limit, mostCpus }) => [
    [`PartitionName=${own}`],
    ["AllowGroups=ALL", "AllowAccounts=ALL", "AllowQos=ALL"],
    [`Default=${isDefault ? "YES" : "NO"}`, "QoS=N/A"],
    [
      `MaxNodes=${nodes.length}`,
      `MaxTime=${limit === "infinite" ? "UNLIMITED" : limit}`,
      "MinNodes=0",
      `MaxCPUsPerNode=${mostCpus}`,
    ],
    [`Nodes=${nodes.join(",")}`],
    ["State=UP", `TotalCPUs=${cpus}`, `TotalNodes=${nodes.length}`],
  ]);
}

function nodeRecords(machine: Machine, name: string | undefined) {
  const wanted = machine.nodes.filter((node) => name === undefined || node === name);
  if (wanted.length === 0) throw new BareError(`Node ${name} not found`);
  const each = (total: number) => Math.floor(total / machine.nodes.length);
  return wanted.map((node) => [
    [`NodeName=${node}`, "Arch=x86_64"],
    [`CPUAlloc=${each(machine.busyCpus)}`, `CPUTot=${each(machine.cpus)}`],
    ["AvailableFeatures=(null)"],
    [`Gres=${machine.gres}`],
    [`NodeAddr=${node}`, `NodeHostName=${node}`, `Version=${machine.version}`],
    [`RealMemory=${machine.memoryMiB}`],
    [`State=${machine.state.toUpperCase()}`],
    [`Partitions=${machine.partitions.map((partition) => partition.name).join(",")}`],
  ]);
}

/** Only settings that mean something here. */
async function showConfig(): Promise<void> {
  const client = await patientClient();
  const [{ nodes }, { slotMs }] = await Promise.all([
    readMachine(client),
    client.ask<MatrixAnswer>("/v1/matrix"),
  ]);
  const settings: Readonly<Record<string, string>> = {
    // Toil asks for the state of jobs as often as the larger of this and SchedulerTimeSlice.
    AcctGatherNodeFreq: "0 sec",
    ClusterName: CLUSTER,
    MaxArraySize: "1000001",
    MessageTimeout: `${MESSAGE_TIMEOUT_S} sec`,
    MpiDefault: "none",
    "SlurmctldHost[0]": nodeName(),
    SchedulerTimeSlice: `${Math.ceil(slotMs / 1000)} sec`,
    SLURM_VERSION: VERSION.split(" ")[1],
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name.padEnd(23)} = ${value}`);
  writeOut(
    `Configuration data as of ${new Date().toISOString().slice(0, 19)}\n${lines.join("\n")}\n\nSlurmctld(primary) at ${nodes[0]} is UP\n`,
  );
}

/** Jobs as words: `12 13_4`, `12,13`, `jobid=12`. */
async function jobsOfWords(
  client: Client,
  keyword: string,
  words: readonly string[],
): Promise<readonly Job[]> {
  const texts = words.flatMap((word) => word.replace(/^job(?:id)?=/i, "").split(","));
  if (texts.length === 0) throw new BareError(`too few arguments for keyword:${keyword}`);
  const names = jobNames(texts, (text) => new BareError(`${INVALID_JOB}: ${text}`));
  const jobs = await jobsNamed(client, names);
  if (jobs.length === 0) throw new BareError(`${INVALID_JOB} for job ${texts[0]}`);
  return jobs;
}

async function change(keyword: string, wanted: Change, words: readonly string[]): Promise<void> {
  const client = await patientClient();
  return changeJobs(client, wanted, await jobsOfWords(client, keyword, words));
}

async function changeJobs(client: Client, wanted: Change, jobs: readonly Job[]): Promise<void> {
  // Of an array, only the jobs that can be changed are meant; of a single job, a refusal is an error.
  const results = await changesOf(
    client,
    wanted,
    jobs.map(({ job }) => job),
  );
  const refused = results.flatMap((result) => ("job" in result ? [] : [result]));
  if (refused.length === results.length && refused[0] !== undefined) {
    throw new BareError(`${refused[0].message} for job ${refused[0].number}`);
  }
}

async function requeue(keyword: "requeue" | "requeuehold", words: readonly string[]): Promise<void> {
  if (words.length === 0) throw new BareError(`too few arguments for keyword:${keyword}`);
  const client = await patientClient();
  const problems: string[] = [];
  for (const word of words) problems.push(...(await requeueJobs(client, word, keyword === "requeuehold")));
  if (problems.length > 0) throw new BareError(problems.join("\n"));
}

/** The processes of steps on this machine. */
async function listProcesses(id: string | undefined): Promise<void> {
  writeOut("PID      JOBID    STEPID   LOCALID GLOBALID\n");
  const client = await patientClient();
  const name = id === undefined ? undefined : parseJobName(id);
  if (id !== undefined && name === undefined) throw new BareError(`${INVALID_JOB}: ${id}`);
  const jobs =
    name === undefined
      ? await jobsOf(client, { states: ["running", "paused", "ending"] })
      : await jobsNamed(client, [name]);
  const found = processesOf(jobs).filter(({ step }) => name?.step === undefined || name.step === step);
  if (found.length === 0)
    throw new BareError(
      id === undefined
        ? "No job steps exist on this node."
        : `JobId=${id} does not exist on node ${nodeName()}.`,
    );
  for (const { pid, job, step, rank } of found) {
    const cells = [
      String(pid).padEnd(8),
      String(job).padEnd(8),
      step.padEnd(8),
      String(rank).padEnd(7),
      rank,
    ];
    writeOut(`${cells.join(" ")}\n`);
  }
}

async function update(words: readonly string[]): Promise<void> {
  const values = new Map(
    words.map((word) => {
      const equals = word.indexOf("=");
      return [word.slice(0, Math.max(0, equals)), word.slice(equals + 1)];
    }),
  );
  const names = [...values.keys()];
  const take = (...wanted: readonly string[]) => {
    const found = names.find((name) => wanted.includes(name.toLowerCase()));
    const value = found === undefined ? undefined : values.get(found);
    if (found !== undefined) values.delete(found);
    return value;
  };
  const job = take("jobid", "job");
  if (job !== undefined) return updateJobs(job, values);
  const node = take("nodename", "node");
  if (node !== undefined) return updateNode(node, take("state"), take("reason"), values);
  const [first] = values;
  if (first === undefined || !/^(?:partition|reservation|step)/i.test(first[0]))
    throw new SlurmError("Cannot update: expected JobId=JOB and what changes");
  throw unsupported(
    ...first,
    "queues are in the configuration of tutti serve, and windows are made by tutti window add",
  );
}

async function updateJobs(id: string, values: ReadonlyMap<string, string>): Promise<void> {
  if (values.size === 0) throw new BareError("No changes specified");
  const client = await patientClient();
  const jobs = await jobsOfWords(client, "update", [id]);
  // Jobs of an array mostly change in the same way, and then in one request.
  const byChange = new Map<string, { readonly wanted: Change; readonly jobs: Job[] }>();
  for (const job of jobs) {
    const wanted = changeOf(values, job);
    if (wanted === undefined) continue;
    const key = JSON.stringify(wanted);
    byChange.set(key, { wanted, jobs: [...(byChange.get(key)?.jobs ?? []), job] });
  }
  const ignored = withoutEffect(values.keys());
  if (ignored.length > 0) process.stderr.write(`scontrol: ignored, no effect here: ${ignored.join(", ")}\n`);
  for (const { wanted, jobs: some } of byChange.values()) await changeJobs(client, wanted, some);
}

/** Tutti drains the whole machine, so it must be the only node. */
async function updateNode(
  names: string,
  state: string | undefined,
  reason: string | undefined,
  others: ReadonlyMap<string, string>,
): Promise<void> {
  const [other] = others;
  if (other !== undefined) throw unsupported(...other);
  const verb = state?.toUpperCase();
  if (verb !== "DRAIN" && verb !== "RESUME" && verb !== "UNDRAIN")
    throw unsupported("State", state ?? "", "Tutti knows DRAIN and RESUME");
  if (verb === "DRAIN" && !reason)
    throw new BareError("You must specify a reason when DOWNING or DRAINING a node. Request denied");
  const client = await patientClient();
  const { nodes } = await readMachine(client);
  const wanted = names.toUpperCase() === "ALL" ? nodes : (expandHostlist(names) ?? [names]);
  if (wanted.some((node) => !nodes.includes(node)))
    throw new BareError("slurm_update error: Invalid node name specified");
  if (wanted.length < nodes.length)
    throw new BareError(
      `slurm_update error: Tutti drains all nodes together: use NodeName=ALL, or tutti ${verb === "DRAIN" ? "drain" : "undrain"}`,
    );
  const how = verb === "DRAIN" ? { method: "PUT", body: { reason } } : { method: "DELETE" };
  try {
    await client.ask("/v1/drain", how);
  } catch (error) {
    if (error instanceof RefusedError) throw new BareError(`slurm_update error: ${error.message}`);
    throw error;
  }
}
