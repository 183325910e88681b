/**
 * Reads what squeue says about pilots. The form is text with a fixed list of fields: all versions since
 * Slurm 2 print it, while the JSON of squeue changed its types from 22.05 to 23.11.
 */

import { SlurmFormatError } from "./format-error.ts";
import { expandHostlist } from "./hostlist.ts";

/** A job of Slurm, as far as a pilot needs it. */
export interface SlurmJob {
  readonly id: string;
  /** In capitals, such as PENDING or RUNNING. */
  readonly state: string;
  /** Time until its limit ends it, in seconds; undefined: it has no limit, or it has not started. */
  readonly leftS: number | undefined;
  /** Node of its batch script; empty while it has none. */
  readonly batchHost: string;
  /** Empty while it has none. */
  readonly nodes: readonly string[];
  /** Why it waits, such as Resources; None if it does not wait. */
  readonly reason: string;
  /** Comment of its submitter; empty if it has none. */
  readonly comment: string;
}

/** Comments come last, because they may contain the separator. */
export const JOB_FORMAT = "%i|%T|%L|%B|%N|%r|%k";

const FIELDS = 7;
const EXPECTED = "lines of job id, state, time left, batch host, nodes, reason and comment, separated by |";
/** Slurm prints these for fields without a value. */
const NOTHING = new Set(["", "(null)", "n/a", "N/A"]);

/**
 * @param text standard output of `squeue --noheader --format` with `JOB_FORMAT`
 * @param version as `squeue --version` prints it, for the error
 */
export function parseJobs(text: string, version?: string): SlurmJob[] {
  const lines = text.split("\n");
  if (lines.pop() !== "")
    throw new SlurmFormatError("squeue", lines.at(-1) ?? text, "a complete last line", version);
  return lines.map((line) => {
    const job = jobIn(line);
    if (job === undefined) throw new SlurmFormatError("squeue", line, EXPECTED, version);
    return job;
  });
}

function jobIn(line: string): SlurmJob | undefined {
  const fields = line.split("|");
  if (fields.length < FIELDS) return undefined;
  const [id, state, left, batchHost, nodes, reason] = fields;
  const leftS = secondsIn(left);
  const names = NOTHING.has(nodes) ? [] : expandHostlist(nodes);
  // Elements of an array have ids such as 12_3 or 12_[1-4]; they are never pilots.
  if (!/^\d+(?:[_+][\d[\],%-]+)?$/.test(id) || !/^[A-Z_]+$/.test(state)) return undefined;
  if (leftS === undefined || names === undefined) return undefined;
  return {
    id,
    state,
    leftS: leftS === "none" ? undefined : leftS,
    batchHost: textOf(batchHost),
    nodes: names,
    reason,
    comment: textOf(fields.slice(FIELDS - 1).join("|")),
  };
}

function textOf(field: string): string {
  return NOTHING.has(field) ? "" : field;
}

/** Seconds in `1-02:03:04`, `2:03:04` or `3:04`; none if there is no limit; undefined if it is no time. */
function secondsIn(text: string): number | "none" | undefined {
  if (["UNLIMITED", "NOT_SET", "INVALID"].includes(text) || NOTHING.has(text)) return "none";
  const match = /^(-?)(?:(?:(\d+)-)?(\d+):)?(\d+):(\d\d)$/.exec(text);
  if (match === null) return undefined;
  const [, sign, days = "0", hours = "0", minutes, seconds] = match;
  const s = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return sign === "-" ? 0 : s;
}
