/**
 * Reads Slurm's queue as squeue prints it: as text with a fixed list of fields, which all versions since
 * 20.02 print alike. Its JSON changed its types from 22.05 to 23.11.
 */
import { SlurmFormatError } from "./format-error.ts";
import { expandHostlist } from "./hostlist.ts";

/** A job in Slurm's queue. Times are Unix times in seconds. Texts without a value are empty. */
export interface QueuedJob {
  readonly id: string;
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
  /** Time until its limit ends it, in seconds; undefined: it has no limit, or it has not started. */
  readonly leftS: number | undefined;
  /** Node of its batch script. */
  readonly batchHost: string;
  /** As Slurm writes the names of its nodes, such as n[1-2]. */
  readonly nodeList: string;
  /** The names of its nodes. */
  readonly nodes: readonly string[];
  /** Comment of its submitter. */
  readonly comment: string;
}

/** For `squeue --Format`. Comments come last, because they may contain the separator. */
export const QUEUE_FORMAT =
  "JobID:|,State:|,Reason:|,RestartCnt:|,StartTime:|,EligibleTime:|,TimeLeft:|,BatchHost:|,NodeList:|,Comment:";

const LINE = /^(\d+)\|([A-Z_]+)\|([^|]*)\|(\d+)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|(.*)$/;
const EXPECTED =
  "lines of job id, state, reason, restarts, start, eligible time, time left, batch host, nodes and comment";
/** Slurm has several words for a value that it does not have, and for a time that never comes. */
const NOTHING = new Set(["", "(null)", "n/a", "N/A", "NONE", "None", "Unknown"]);
const NO_LIMIT = new Set(["UNLIMITED", "NOT_SET", "INVALID"]);

/**
 * @param text standard output of `squeue --noheader --Format` with `QUEUE_FORMAT`, times in Unix seconds
 * @param version as `squeue --version` prints it, for the error
 */
export function parseQueue(text: string, version?: string): QueuedJob[] {
  const lines = text.split("\n");
  const rest = lines.pop();
  if (rest !== "") throw new SlurmFormatError("squeue", rest!, "a complete last line", version);
  return lines.map((line) => {
    const job = jobIn(line);
    if (job === undefined) throw new SlurmFormatError("squeue", line, `${EXPECTED}, separated by |`, version);
    return job;
  });
}

function jobIn(line: string): QueuedJob | undefined {
  const fields = LINE.exec(line)?.slice(1);
  if (fields === undefined) return undefined;
  const [id, state, reason, restarts, ...rest] = fields;
  const [start, eligible, left, batchHost, nodeList, comment] = rest.map((field) =>
    NOTHING.has(field) ? "" : field,
  );
  const nodes = nodeList === "" ? [] : expandHostlist(nodeList);
  const leftS = NO_LIMIT.has(left) || left === "" ? Number.POSITIVE_INFINITY : secondsIn(left);
  if (!isTime(start) || !isTime(eligible) || leftS === undefined || nodes === undefined) return undefined;
  return {
    ...{ id, state, reason, restarts: Number(restarts), batchHost, nodeList, nodes, comment },
    startS: Number(start) || undefined,
    eligibleS: Number(eligible) || undefined,
    leftS: Number.isFinite(leftS) ? leftS : undefined,
  };
}

/** Unix time in seconds; empty or 0 if Slurm does not know it. */
function isTime(text: string): boolean {
  return /^\d{0,11}$/.test(text);
}

/** Seconds in `1-02:03:04`, `2:03:04` or `3:04`; undefined if it is no time. */
function secondsIn(text: string): number | undefined {
  const match = /^(-?)(?:(?:(\d+)-)?(\d+):)?(\d+):(\d\d)$/.exec(text);
  if (match === null) return undefined;
  const [, sign, days = "0", hours = "0", minutes, seconds] = match;
  const s = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return sign === "-" ? 0 : s;
}
