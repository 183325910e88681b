/**
 * Reads Slurm's queue as squeue prints it: as text with a fixed list of fields, which all versions since
 * 20.02 print alike. Its JSON changed its types from 22.05 to 23.11.
 */
import { SlurmFormatError } from "./format-error.ts";

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
