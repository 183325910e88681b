/**
 * Reads Slurm's queue as squeue prints it: as text with a fixed list of fields, which all versions since
 * 20.02 print alike, and as JSON, which has two known forms. In that of Slurm 22.05 (openapi/v0.0.38) a
 * state is a string and an exit code a wait status; in that of 23.11 (data_parser/v0.0.40) a state is a
 * list, and numbers that can be unset or infinite are objects.
 */
import { SlurmFormatError } from "./format-error.ts";
import { type JsonForm, jsonIn } from "./json-form.ts";

/** A job in Slurm's queue. Times are Unix times in seconds. */
export interface QueuedJob {
  readonly id: number;
  /** In capitals, such as PENDING or RUNNING. */
  readonly state: string;
  /** Why it waits, such as Resources; None if it does not wait. */
  readonly reason: string;
  /** How often Slurm has queued it again. */
  readonly restarts: number;
  /** Its start, or the start that Slurm expects; undefined: unknown. */
  readonly startS: number | undefined;
  /** Slurm does not start it before; undefined: unknown, as for a held job. */
  readonly eligibleS: number | undefined;
  /** Slurm's list of its nodes; empty while it has none. */
  readonly nodes: string;
  /** Comment of its submitter; empty if it has none. */
  readonly comment: string;
}

/** For `squeue --Format`. Comments come last, because they may contain the separator. */
export const QUEUE_FORMAT =
  "JobID:|,State:|,Reason:|,RestartCnt:|,StartTime:|,EligibleTime:|,NodeList:|,Comment:";

const LINE = /^(\d+)\|([A-Z_]+)\|([^|]*)\|(\d+)\|([^|]*)\|([^|]*)\|([^|]*)\|(.*)$/;
const EXPECTED = "lines of job id, state, reason, restarts, start, eligible time, nodes and comment";

/**
 * @param text standard output of `squeue --noheader --Format` with `QUEUE_FORMAT`, times in Unix seconds
 * @param version as `squeue --version` prints it, for the error
 */
export function parseQueue(text: string, version?: string): QueuedJob[] {
  const lines = text.split("\n");
  const rest = lines.pop();
  if (rest !== "") throw new SlurmFormatError("squeue", rest!, "a complete last line", version);
  return lines.map((line) => {
    const [, id, state, reason, restarts, start, eligible, nodes, comment] = LINE.exec(line) ?? [];
    if (id === undefined || !isTime(start) || !isTime(eligible))
      throw new SlurmFormatError("squeue", line, `${EXPECTED}, separated by |`, version);
    return {
      id: Number(id),
      state,
      reason,
      restarts: Number(restarts),
      startS: secondsOf(start),
      eligibleS: secondsOf(eligible),
      nodes,
      comment: comment === "(null)" ? "" : comment,
    };
  });
}

/** Slurm has several words for a time that it does not know. */
const UNKNOWN_TIMES = new Set(["N/A", "NONE", "Unknown", "None", ""]);

function isTime(text: string): boolean {
  return UNKNOWN_TIMES.has(text) || /^\d{1,11}$/.test(text);
}

function secondsOf(text: string): number | undefined {
  return UNKNOWN_TIMES.has(text) || Number(text) === 0 ? undefined : Number(text);
}

/** @param text standard output of `squeue --json` */
export function parseQueueJson(text: string): QueuedJob[] {
  const { form, release, jobs } = jsonIn("squeue --json", text);
  return jobs.map((job) => {
    const entry = queuedJobOf(job, form);
    if (entry !== undefined) return entry;
    throw new SlurmFormatError("squeue --json", JSON.stringify(job), `jobs as ${form} has them`, release);
  });
}

type Fields = Readonly<Record<string, unknown>>;

function queuedJobOf(job: Fields, form: JsonForm): QueuedJob | undefined {
  const { job_id: id, state_reason: reason, restart_cnt: restarts, nodes, comment } = job;
  const state = form === "data_parser/v0.0.40" ? firstOf(job.job_state) : job.job_state;
  const startS = numberIn(job.start_time, form);
  const eligibleS = numberIn(job.eligible_time, form);
  if (typeof id !== "number" || typeof state !== "string" || typeof reason !== "string") return undefined;
  if (typeof restarts !== "number" || typeof nodes !== "string" || typeof comment !== "string")
    return undefined;
  if (startS === undefined || eligibleS === undefined) return undefined;
  const known = (seconds: number | "unset") => (seconds === "unset" || seconds === 0 ? undefined : seconds);
  return { id, state, reason, restarts, startS: known(startS), eligibleS: known(eligibleS), nodes, comment };
}

/** The first of several states is the state; the others qualify it, such as COMPLETING. */
function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

/** Undefined if the value has not the type that the form says. */
function numberIn(value: unknown, form: JsonForm): number | "unset" | undefined {
  if (form !== "data_parser/v0.0.40") return typeof value === "number" ? value : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const { set, infinite, number } = value as Fields;
  if (typeof set !== "boolean" || typeof infinite !== "boolean") return undefined;
  if (!set || infinite) return "unset";
  return typeof number === "number" ? number : undefined;
}
