/** What the Batsim reader does with jobs and profiles: one rule per diagnostic code; "line" is the job's place in the list. */
import type { DiagnosticAction } from "../../core/diagnostics.ts";

interface Rule {
  readonly action: DiagnosticAction;
  readonly message: string;
}

/** The reader's rules by diagnostic code. */
export const BATSIM_RULES = {
  "no-job": { action: "dropped", message: "The entry in the list of jobs is no object: left out" },
  "bad-needed-field": {
    action: "dropped",
    message:
      "The submit time (subtime) or the processors (res) are missing or no number in range: job left out",
  },
  "no-profile": { action: "dropped", message: "The job's profile is not among the profiles: job left out" },
  "bad-profile": {
    action: "dropped",
    message:
      "The job's profile has no type, no delay from 0 to 10^12 s, contains itself or nests more than 100 deep: job left out",
  },
  "profile-needs-platform": {
    action: "dropped",
    message:
      "The job's profile gives amounts of computation or communication, which are a run time only on a platform with speeds: job left out, expected a delay profile",
  },
  "bad-walltime": {
    action: "repaired",
    message: "The walltime is no number above 0 and not −1: the job has no estimate",
  },
  "unsorted-submit": {
    action: "repaired",
    message: "Submitted before the job above: jobs were sorted by submit time, ties in the order of the file",
  },
  "bad-job-number": {
    action: "repaired",
    message: "The id is no whole number from 0 to 2^31 − 1: the job was given a new one",
  },
  "duplicate-job-number": {
    action: "repaired",
    message: "The id was used by an earlier job: the job was given a new one",
  },
  "no-walltime": { action: "kept", message: "The job has no walltime: it has no estimate" },
  "zero-run-time": {
    action: "kept",
    message: "The delay is 0: the job ends in the instant in which it starts",
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type BatsimCode = keyof typeof BATSIM_RULES;
