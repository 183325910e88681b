/** What squeue and sacct say about a job: a row for each text, with its names in both commands. */

import { ACCOUNT, CLUSTER, QOS } from "@tutti/cli/options/slurm-site.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { type Field, fieldsOf } from "../text/accounting-table.ts";
import type { Column } from "../text/columns.ts";
import { limitMs, longDuration, shortDuration, timeText } from "../text/times.ts";
import { uidOf } from "../text/users.ts";
import {
  commandText,
  cpusOf,
  dependencyText,
  expectedEndMs,
  isWaiting,
  jobId,
  limitText,
  memoryText,
  nodesOf,
  tresText,
} from "./facts.ts";
import { exitCodeText, reasonText, STATES, slurmState } from "./states.ts";

type TextOf = (job: Job) => string;

interface Row {
  /** For squeue: the letters of `-o` (- for none), the name of `-O`, and the heading; empty: no column. */
  readonly squeue: string;
  /** For sacct: names with widths, of which a negative one is at the left edge; empty: no field. */
  readonly sacct: string;
  readonly text: TextOf;
  /** The text of the step `batch` of a job, which stands for its script. */
  readonly ofStep: TextOf;
}

const row = (squeue: string, sacct: string, text: TextOf, ofStep = text): Row => ({
  squeue,
  sacct,
  text,
  ofStep,
});

const NONE = () => "";
const kibibytes = (bytes: number | undefined) => (bytes === undefined ? "" : `${Math.ceil(bytes / 1024)}K`);
const peakMemory: TextOf = ({ usage }) => kibibytes(usage?.peakMemoryBytes);
const cpuMs = (job: Job) => job.ranMs * cpusOf(job);
const wholeSeconds = (ms: number) => String(Math.floor(ms / 1000));
const totalCpu: TextOf = ({ usage }) => longDuration(usage?.cpuMs ?? 0);
const nodes: TextOf = (job) => nodesOf(job).join(",");

/** `CANCELLED by 0`. */
function stateText(job: Job): string {
  const state = slurmState(job);
  if (state !== "CANCELLED") return state;
  const [, by] = /^cancelled by (.+)$/.exec(job.reason ?? "") ?? [];
  const uid = uidOf(by ?? job.user);
  return uid === undefined ? state : `${state} by ${uid}`;
}

/** The step of a job that was ended by Slurm ended by a signal. */
const stepState: TextOf = (job) =>
  ["TIMEOUT", "NODE_FAIL"].includes(slurmState(job)) ? "CANCELLED" : slurmState(job);
const stepExit: TextOf = (job) =>
  ["CANCELLED", "TIMEOUT"].includes(slurmState(job)) ? "0:15" : exitCodeText(job);

const timeLeft: TextOf = ({ limitMs: ms, ranMs }) =>
  ms === undefined ? "UNLIMITED" : shortDuration(Math.max(0, limitMs(ms) - ranMs));
const limitMinutes: TextOf = ({ limitMs: ms }) =>
  ms === undefined ? "UNLIMITED" : String(limitMs(ms) / 60_000);

const ROWS: readonly Row[] = [
  row("a Account ACCOUNT", "Account:10", () => ACCOUNT),
  row("", "AllocNodes:10", (job) => String(nodesOf(job).length)),
  row("", "AllocTRES:10", (job) => (nodesOf(job).length === 0 ? "" : tresText(job))),
  row("F ArrayJobID ARRAY_JOB_ID", "", ({ array, job }) => String(array ?? job)),
  row("K ArrayTaskID ARRAY_TASK_ID", "", ({ arrayIndex }) => String(arrayIndex ?? "N/A")),
  row("", "AveCPU:10", NONE, totalCpu),
  row("", "AveRSS:10 MaxRSS:10", NONE, peakMemory),
  row("", "Cluster:10", () => CLUSTER),
  row("o Command COMMAND", "", ({ command }) => command.join(" ")),
  row("", "Comment:14 Constraints:19 GID:6 Group:9 MaxVMSize:10 Reservation:20 WCKey:10", NONE),
  row("C NumCPUs CPUS", "AllocCPUS:10 NCPUS:10 ReqCPUS:8", (job) => String(cpusOf(job))),
  row("", "CPUTime:10", (job) => longDuration(cpuMs(job))),
  row("", "CPUTimeRAW:10", (job) => wholeSeconds(cpuMs(job))),
  row("E Dependency DEPENDENCY", "", dependencyText),
  row("", "DerivedExitCode:15", exitCodeText, NONE),
  row("M TimeUsed TIME", "", ({ ranMs }) => shortDuration(ranMs)),
  row("", "Elapsed:10", ({ ranMs }) => longDuration(ranMs)),
  row("", "ElapsedRaw:10", ({ ranMs }) => wholeSeconds(ranMs)),
  row("", "Eligible:19", ({ eligibleAtMs, submittedAtMs }) => timeText(eligibleAtMs ?? submittedAtMs)),
  row("e EndTime END_TIME", "", (job) => timeText(expectedEndMs(job), "N/A")),
  row("", "End:19", ({ endedAtMs }) => timeText(endedAtMs)),
  row("- exit_code EXIT_CODE", "", exitCodeText),
  row("", "ExitCode:8", exitCodeText, stepExit),
  row("i JobArrayID JOBID", "JobID:-12", jobId, (job) => `${jobId(job)}.batch`),
  row(
    "A JobID JOBID",
    "JobIDRaw:-12",
    ({ job }) => String(job),
    ({ job }) => `${job}.batch`,
  ),
  row(
    "j Name NAME",
    "JobName:10",
    ({ name }) => name,
    () => "batch",
  ),
  row("m MinMemory MIN_MEMORY", "", (job) => memoryText(job) ?? "0"),
  row("", "ReqMem:10", (job) => memoryText(job) ?? "", NONE),
  row("D NumNodes NODES", "NNodes:8", (job) => String(Math.max(1, nodesOf(job).length))),
  row("N NodeList NODELIST", "", nodes),
  row("", "NodeList:15", (job) => nodes(job) || "None assigned"),
  row("", "NTasks:8", NONE, () => "1"),
  row("P Partition PARTITION", "Partition:10", ({ queue }) => queue, NONE),
  row("pQ PriorityLong PRIORITY", "Priority:10", ({ priority }) => String(priority), NONE),
  row("q QOS QOS", "QOS:10", () => QOS, NONE),
  row("r Reason REASON", "Reason:22", reasonText, NONE),
  row("R ReasonList NODELIST(REASON)", "", (job) => (isWaiting(job) ? `(${reasonText(job)})` : nodes(job))),
  row("", "ReqNodes:8", () => "1"),
  row("- tres-alloc TRES_ALLOC", "ReqTRES:10", tresText, NONE),
  row("Y SchedNodes SCHEDNODES", "", () => "(null)"),
  row("S StartTime START_TIME", "", ({ startedAtMs }) => timeText(startedAtMs, "N/A")),
  row("", "Start:19", ({ startedAtMs }) => timeText(startedAtMs)),
  row("T State STATE", "", slurmState),
  row("t StateCompact ST", "", (job) => STATES[slurmState(job)]),
  row("", "State:10", stateText, stepState),
  row("- STDERR STDERR", "", ({ stderr }) => stderr),
  row("- STDOUT STDOUT", "", ({ stdout }) => stdout),
  row("V SubmitTime SUBMIT_TIME", "Submit:19", ({ submittedAtMs }) => timeText(submittedAtMs)),
  row("", "SubmitLine:20", commandText, NONE),
  row("", "Suspended:10", () => "00:00:00"),
  row("L TimeLeft TIME_LEFT", "", timeLeft),
  row("l TimeLimit TIME_LIMIT", "", (job) => limitText(job, shortDuration)),
  row("", "Timelimit:10", (job) => limitText(job), NONE),
  row("", "TimelimitRaw:10", limitMinutes, NONE),
  row("", "TotalCPU:10", totalCpu),
  row("", "UID:6", ({ user }) => String(uidOf(user) ?? ""), NONE),
  row("u UserName USER", "User:9", ({ user }) => user, NONE),
  row("Z WorkDir WORK_DIR", "WorkDir:20", ({ cwd }) => cwd, NONE),
];

/** The columns of squeue, with their letters and their names. */
const QUEUE_COLUMNS = ROWS.filter(({ squeue }) => squeue !== "").map(({ squeue, text: value }) => {
  const [letters, name, header] = squeue.split(" ");
  return { letters: letters.replace("-", ""), name, column: { header, value } satisfies Column<Job> };
});

export const LETTERS: Readonly<Record<string, Column<Job>>> = Object.fromEntries(
  QUEUE_COLUMNS.flatMap(({ letters, column }) => [...letters].map((letter) => [letter, column])),
);

export const NAMES: Readonly<Record<string, Column<Job>>> = Object.fromEntries(
  QUEUE_COLUMNS.map(({ name, column }) => [name, column]),
);

/** A line of sacct: a job, or its step. */
export interface AccountingRow {
  readonly job: Job;
  readonly isStep: boolean;
}

/** The fields of sacct, by their names. */
export const FIELDS: readonly Field<AccountingRow>[] = ROWS.flatMap(({ sacct, text, ofStep }) =>
  fieldsOf<AccountingRow>(sacct, ({ job, isStep }) => (isStep ? ofStep : text)(job)),
).sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
