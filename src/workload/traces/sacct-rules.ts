/**
 * What the sacct reader does with lines and fields: one rule per diagnostic code. Every line below the header becomes a job or is
 * counted under exactly one code with the action "dropped".
 */
import type { DiagnosticAction } from "../../core/diagnostics.ts";

interface Rule {
  readonly action: DiagnosticAction;
  readonly message: string;
}

/** The reader's rules by diagnostic code. */
export const SACCT_RULES = {
  step: {
    action: "dropped",
    message: "A step of a job (its number has a dot, such as 12.batch): left out, the job's own line counts",
  },
  "wrong-field-count": {
    action: "dropped",
    message: "The line has more or fewer fields than the header: left out",
  },
  "long-line": { action: "dropped", message: "The line is longer than 64 KiB: left out" },
  unfinished: {
    action: "dropped",
    message: "The job is pending, running or suspended, so its run time is unknown: left out",
  },
  "not-started": {
    action: "dropped",
    message:
      "The job was cancelled before it started (no start, or cancelled with an elapsed time of 0): left out",
  },
  "bad-needed-field": {
    action: "dropped",
    message: "The submit time, elapsed time or number of processors cannot be read: line left out",
  },
  "no-submit-time": { action: "dropped", message: "The submit time is unknown: line left out" },
  "no-run-time": {
    action: "dropped",
    message: "Neither the elapsed time nor start and end are known: line left out",
  },
  "no-processors": {
    action: "dropped",
    message: "Neither allocated nor requested processors are known: line left out",
  },
  "bad-field": { action: "repaired", message: "The field cannot be read: set to unknown" },
  "start-before-submit": {
    action: "repaired",
    message: "The start is before the submit time: the wait counts as unknown",
  },
  "unsorted-submit": {
    action: "repaired",
    message: "Submitted before the job above: jobs were sorted by submit time, ties in the order of the file",
  },
  "bad-job-number": {
    action: "repaired",
    message: "The job number is no whole number from 0 to 2^31 − 1: the job was given a new one",
  },
  "duplicate-job-number": {
    action: "repaired",
    message: "The job number was used by an earlier line (a job that ran again): the job was given a new one",
  },
  "no-time-limit": {
    action: "kept",
    message: "The time limit is UNLIMITED, Partition_Limit or missing: the job has no estimate",
  },
  "unknown-state": { action: "kept", message: "The state is not known to us: the job counts as ended" },
  "zero-run-time": {
    action: "kept",
    message: "The elapsed time is 0: the job ends in the instant in which it starts",
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type SacctCode = keyof typeof SACCT_RULES;
