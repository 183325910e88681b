/** What the Batsim reader does with jobs and profiles: one rule per diagnostic code; "line" is the job's place in the list. */
import { diagnosticRules } from "../../core/diagnostics.ts";

/** The reader's rules by diagnostic code. */
export const BATSIM_RULES = diagnosticRules({
  dropped: {
    "no-job": "The entry in the list of jobs is no object: left out",
    "bad-needed-field":
      "The submit time (subtime) or the processors (res) are missing or no number in range: job left out",
    "no-profile": "The job's profile is not among the profiles: job left out",
    "bad-profile":
      "The job's profile has no type, no delay from 0 to 10^12 s, contains itself or nests more than 100 deep: job left out",
    "profile-needs-platform":
      "The job's profile gives amounts of computation or communication, which are a run time only on a platform with speeds: job left out, expected a delay profile",
  },
  repaired: {
    "bad-walltime": "The walltime is no number above 0 and not −1: the job has no estimate",
    "unsorted-submit":
      "Submitted before the job above: jobs were sorted by submit time, ties in the order of the file",
    "bad-job-number": "The id is no whole number from 0 to 2^31 − 1: the job was given a new one",
    "duplicate-job-number": "The id was used by an earlier job: the job was given a new one",
  },
  kept: {
    "no-walltime": "The job has no walltime: it has no estimate",
    "zero-run-time": "The delay is 0: the job ends in the instant in which it starts",
  },
});

export type BatsimCode = keyof typeof BATSIM_RULES;
