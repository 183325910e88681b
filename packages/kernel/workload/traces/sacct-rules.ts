/**
 * Lists what the sacct reader does with lines and fields, as one rule per diagnostic code. Every line after
 * the header either becomes a job or is counted under exactly one code with the action "dropped".
 */
import { diagnosticRules } from "../../core/diagnostics.ts";

/** The reader's rules by diagnostic code. */
export const SACCT_RULES = diagnosticRules({
  dropped: {
    step: "A step of a job (its number has a dot, such as 12.batch): left out; the job's own line counts",
    "wrong-field-count": "The line has more or fewer fields than the header: left out",
    "long-line": "The line is longer than 64 KiB: left out",
    unfinished: "The job is pending, running or suspended, so its run time is unknown: left out",
    "not-started":
      "The job was cancelled before it started (no start, or cancelled with an elapsed time of 0): left out",
    "bad-needed-field": "The submit time, elapsed time or number of processors cannot be read: line left out",
    "no-submit-time": "The submit time is unknown: line left out",
    "no-run-time": "Neither the elapsed time nor start and end are known: line left out",
    "no-processors": "Neither allocated nor requested processors are known: line left out",
  },
  repaired: {
    "bad-field": "The field cannot be read: set to unknown",
    "eligible-later":
      "The job became eligible after its submit (dependency, begin time, hold, requeue): it arrives then",
    "start-before-submit": "The start is before the submit time: the wait counts as unknown",
    "unsorted-submit":
      "Submitted before the job above: jobs were sorted by submit time, ties in the order of the file",
    "bad-job-number":
      "The job number is not a whole number from 0 to 2^31 − 1: the job was given a new number",
    "duplicate-job-number":
      "An earlier line has the same job number (the job ran again): this job was given a new number",
  },
  kept: {
    "no-time-limit": "The time limit is UNLIMITED, Partition_Limit or missing: the job has no estimate",
    "unknown-state": "The state is unknown to Tutti: the job counts as ended",
    "zero-run-time": "The elapsed time is 0: the job ends at the instant at which it starts",
    requeued: "Slurm queued the job again after this run: each of its runs is a job",
    suspended: "The job was suspended for part of the time: its run time is the time in which it ran",
  },
});

export type SacctCode = keyof typeof SACCT_RULES;
