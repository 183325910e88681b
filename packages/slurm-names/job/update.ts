/** What `scontrol update` changes, as changes of Tutti's. The messages are those of Slurm 22.05.8. */

import type { Change } from "@tutti/cli/live/job-changes.ts";
import { slurmMebibytes } from "@tutti/cli/options/slurm-options.ts";
import { MAX_PRIORITY, MIN_PRIORITY } from "@tutti/protocol/limits.ts";
import { parseUse } from "@tutti/protocol/resources.ts";
import type { Job, UpdateBody } from "@tutti/protocol/schema.ts";
import { slurmSeconds } from "@tutti/protocol/slurm-time.ts";
import { BareError } from "../errors.ts";
import { parseTime } from "../text/times.ts";
import { cpusOf } from "./facts.ts";

const MINUTE_MS = 60_000;
const MIB = 2 ** 20;

/** Undefined for a value that it cannot read. */
type Reader = (value: string, job: Job, before: UpdateBody) => UpdateBody | undefined;

const name: Reader = (text) => (text === "" ? undefined : { name: text });
const count = (value: string) => (/^[1-9]\d{0,6}$/.test(value) ? Number(value) : undefined);
const tasks: Reader = (value) => {
  const number = count(value);
  return number === undefined ? undefined : { tasks: number };
};
const threads: Reader = (value) => {
  const number = count(value);
  return number === undefined ? undefined : { threads: number };
};
const memory =
  (cpus: (job: Job) => number): Reader =>
  (value, job) => {
    const mebibytes = slurmMebibytes(value);
    return mebibytes === undefined ? undefined : { memoryBytes: mebibytes * MIB * cpus(job) };
  };
/** Resources that it does not name stay: generic ones and licences are one list here. */
const use: Reader = (value, job, before) => {
  const named = parseUse(value);
  return named === undefined ? undefined : { use: { ...job.use, ...before.use, ...named } };
};
const priority = (value: number): UpdateBody => ({
  priority: Math.max(MIN_PRIORITY, Math.min(MAX_PRIORITY, value)),
});
const begin: Reader = (value) => {
  const ms = parseTime(value, Date.now());
  if (ms === undefined) throw new BareError(`Invalid time specification (pos=0): ${value}`);
  return { beginAtMs: ms };
};

const READERS: Readonly<Record<string, Reader>> = {
  name,
  jobname: name,
  partition: (queue) => (queue === "" ? undefined : { queue }),
  timelimit: limit,
  numtasks: tasks,
  numcpus: tasks,
  numcpuspertask: threads,
  cpuspertask: threads,
  minmemorynode: memory(() => 1),
  minmemorycpu: memory(cpusOf),
  nice: (value) => (/^-?\d{1,9}$/.test(value) ? priority(-Number(value)) : undefined),
  priority: (value) => (/^\d{1,10}$/.test(value) ? priority(Number(value)) : undefined),
  requeue: (value) => (/^\d$/.test(value) ? { retries: value === "0" ? 0 : 1 } : undefined),
  gres: use,
  licenses: use,
  starttime: begin,
  eligibletime: begin,
};

/** As in jobs that are submitted with them: they have no effect here. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  "account admincomment clusterfeatures comment deadline delayboot extra mailtype mailuser mincpusnode qos shared oversubscribe userid wckey".split(
    " ",
  ),
);

const REASONS: Readonly<Record<string, string>> = {
  arraytaskthrottle: "the number of jobs of an array that run at a time is set when it is submitted",
  dependency: "what a job waits for is set when it is submitted",
  features: "nodes have no features here",
  numnodes: "the number of nodes follows from tasks and CPUs",
  reqnodelist: "the scheduler chooses the nodes",
  reservationname: "a window of tutti window add names its users and queues",
};

/** A job that gets the priority 0 is held, as in Slurm. */
export function changeOf(values: ReadonlyMap<string, string>, job: Job): Change | undefined {
  let update: UpdateBody = {};
  for (const [typed, value] of values) {
    const field = typed.toLowerCase();
    if (WITHOUT_EFFECT.has(field)) continue;
    if (field === "priority" && value === "0" && values.size === 1) return { action: "hold" };
    const read = Object.hasOwn(READERS, field) ? READERS[field] : undefined;
    if (read === undefined) throw unsupported(typed, value, REASONS[field]);
    const changed = read(value, job, update);
    if (changed === undefined) throw new BareError(`scontrol: error: Invalid ${typed} value: ${value}`);
    update = { ...update, ...changed };
  }
  return Object.keys(update).length === 0 ? undefined : { action: "update", update };
}

/** Names of fields that were given and have no effect here. */
export function withoutEffect(names: Iterable<string>): readonly string[] {
  return [...names].filter((one) => WITHOUT_EFFECT.has(one.toLowerCase()));
}

export function unsupported(field: string, value: string, why?: string): BareError {
  const reason = why === undefined ? "" : `${why}\n`;
  return new BareError(
    `Update of this parameter is not supported: ${field}=${value}\n${reason}Request aborted`,
  );
}

/** `30`, `1-00:00:00`, and `+30` or `-30` from the present limit on. */
function limit(value: string, { limitMs }: Job): UpdateBody | undefined {
  const [, sign, amount = ""] = /^([+-])?(.+)$/.exec(value) ?? [];
  const seconds = slurmSeconds(amount);
  if (seconds === undefined) return undefined;
  const ms = MINUTE_MS * Math.max(1, Math.ceil(seconds / 60));
  if (sign === undefined) return { limitMs: ms };
  if (limitMs === undefined) return undefined;
  if (sign === "+") return { limitMs: limitMs + ms };
  if (ms < limitMs) return { limitMs: limitMs - ms };
  throw new BareError(
    `scontrol: error: TimeLimit decrement larger than current time limit (${ms / MINUTE_MS} > ${Math.ceil(limitMs / MINUTE_MS)})`,
  );
}
