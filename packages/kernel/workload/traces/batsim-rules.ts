/**
 * Lists what the Batsim reader does with jobs and profiles, as one rule per code. "line" is the job's
 * position in the list.
 */
import { diagnosticRules } from "../../core/diagnostics.ts";

/** The reader's rules by diagnostic code. */
export const BATSIM_RULES = diagnosticRules({
  dropped: {
    "no-job": "The entry in the list of jobs is not an object: left out",
    "bad-needed-field":
      "The submit time (subtime) or the number of processors (res) is missing or not a number in range: job left out",
    "no-profile": "The job's profile is not among the profiles: job left out",
    "bad-profile":
      "The job's profile has no type or no delay from 0 to 10^12 s, contains itself, or is nested more than 100 levels deep: job left out",
    "profile-needs-platform":
      "The job's profile gives amounts of computation or communication, so its run time depends on the speeds of a platform: job left out, expected a delay profile",
  },
  repaired: {
    "bad-walltime": "The walltime is neither a number above 0 nor −1: the job has no estimate",
    "unsorted-submit":
      "Submitted before the job above: jobs were sorted by submit time, ties in the order of the file",
    "bad-job-number": "The id is not a whole number from 0 to 2^31 − 1: the job was given a new number",
    "duplicate-job-number": "An earlier job has the same id: this job was given a new number",
  },
  kept: {
    "no-walltime": "The job has no walltime: it has no estimate",
    "zero-run-time": "The delay is 0: the job ends at the instant at which it starts",
  },
});

export type BatsimCode = keyof typeof BATSIM_RULES;
