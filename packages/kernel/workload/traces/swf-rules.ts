/**
 * Lists what the SWF reader does with lines and fields that it cannot use unchanged, as one rule per
 * diagnostic code. Every line that is neither blank nor a comment either becomes a job or is counted under
 * exactly one code with the action "dropped".
 */
import { type Diagnostic, diagnosticRules } from "../../core/diagnostics.ts";
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";

/** Longest line in bytes. */
export const MAX_LINE_LENGTH = 65536;
/** Maximum bytes of comments that are kept. */
export const MAX_COMMENT_BYTES = 1048576;

/** The reader's rules by diagnostic code. */
export const SWF_RULES = diagnosticRules({
  dropped: {
    "short-line": "The line has fewer than 18 fields: left out",
    "long-line": "The line is longer than 64 KiB: left out",
    "part-of-job":
      "Status 2, 3 or 4 marks a part of a preempted job: left out; the job's summary line counts",
    "bad-needed-field":
      "A required field (submit time, run time, processors) is not a number, has a fraction although it must be whole, or is above 10^12 s or 2^31 − 1: line left out",
    "negative-submit": "The submit time is negative: line left out",
    "no-run-time": "The run time is unknown (the job was cancelled before it started): line left out",
    "no-declared-size":
      "The place that --size-from declares has no whole number from 1 to 2^31 − 1: line left out",
    "no-processors": "Neither allocated nor requested processors are known: line left out",
  },
  repaired: {
    "bad-field":
      "The field is not a number, has a fraction although it must be whole, is too large, or is negative and not −1: set to −1 (unknown)",
    "zero-estimate": "The requested time is 0: counts as missing",
    "bad-job-number":
      "The job number is missing or not a whole number from 0 to 2^31 − 1: the job was given a new number",
    "duplicate-job-number": "An earlier line has the same job number: this job was given a new number",
    "unsorted-submit":
      "Submitted before the job above: jobs were sorted by submit time, ties in the order of the file",
    "header-cut":
      "The comment line is longer than 64 KiB or beyond 1 MiB of comments: left out of the header",
  },
  kept: {
    "extra-fields": "The line has more than 18 fields: the first 18 are used",
    "zero-run-time": "The run time is 0: the job ends at the instant at which it starts",
  },
});

export type SwfCode = keyof typeof SWF_RULES;

/**
 * Codes of lines that are not job lines of this format at all, in contrast to jobs that cannot be simulated.
 */
const UNREADABLE: readonly string[] = ["short-line", "long-line", "bad-needed-field"] satisfies SwfCode[];

/**
 * Returns the workload if it has a job.
 * @throws InputError if it has none, with the reason: an empty file, not a trace, or no job that can be
 * simulated
 */
export function requireJobs(workload: Workload): Workload {
  if (workload.count > 0) return workload;
  const dropped = workload.diagnostics.filter(({ action }) => action === "dropped");
  const lines = dropped.reduce((sum, { count }) => sum + count, 0);
  const unreadable = dropped.find(({ code }) => UNREADABLE.includes(code));
  if (unreadable !== undefined) {
    throw new InputError(
      `Cannot read "${workload.name}" as a trace in Standard Workload Format: ${describeFirst(unreadable)}, expected 18 numbers separated by blanks; none of its ${lines} lines is a usable job`,
    );
  }
  if (lines > 0) {
    const reasons = dropped.map(({ code, count }) => `${code} ${count}`).join(", ");
    throw new InputError(
      `Cannot use the jobs of "${workload.name}": none of its ${lines} job lines can be simulated (${reasons}), expected a submit time, a run time and a number of processors in each`,
    );
  }
  throw new InputError(
    `Cannot use the jobs of "${workload.name}": it has no jobs, expected lines of 18 numbers (Standard Workload Format) or a trace in another supported format`,
  );
}

function describeFirst({ code, examples }: Diagnostic): string {
  const [example] = examples;
  const value = example?.value === undefined ? "" : ` "${example.value}"`;
  const state: Readonly<Record<string, string>> = {
    "short-line": `has fewer than 18 fields:${value}`,
    "long-line": `is longer than 64 KiB:${value}`,
    "bad-needed-field": `has the ${example?.field}${value}`,
  };
  return `line ${example?.line} ${state[code]}`;
}
