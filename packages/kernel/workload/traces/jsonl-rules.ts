/** Lists what the reader of workload files does with their lines, as one rule per code. */
import { diagnosticRules } from "../../core/diagnostics.ts";

/** The reader's rules by diagnostic code. */
export const JSONL_RULES = diagnosticRules({
  dropped: {
    "not-an-object": "The line is not a JSON object, or is cut off: left out",
    "long-line": "The line is longer than 1 MiB: left out",
    "unknown-line": "The line has neither a job nor an event that Tutti knows: left out",
    "bad-needed-field":
      "A required field is missing or out of range (see the table of fields): line left out",
    "not-ended": "The job has no run time, because it has not ended or never ran: left out",
    "no-such-job": "The event is about a job that the file does not have, or that was left out: left out",
    "quotas-left-out":
      "The scheduler had quotas of CPU time, which the simulator does not know: left out, so jobs may start earlier",
    "event-twice": "The event begins something that has already begun: left out",
    "event-without-begin":
      "The event ends something that has not begun, such as a resume without a pause: left out",
  },
  repaired: {
    "bad-field": "The field cannot be read: left out",
    "begins-later": "The job may not start before its begin time: it arrives then",
    "unsorted-submit":
      "Arrives before the job above: jobs were sorted by arrival time, ties in the order of the file",
    "bad-job-number":
      "The job number is not a whole number from 0 to 2^31 − 1: the job was given a new number",
    "duplicate-job-number": "An earlier line has the same job number: this job was given a new number",
    "window-too-large":
      "Not all processors of the window are there (other windows, or a smaller machine): it takes those that are",
    "capacity-above":
      "The machine has more processors here than in the first line: it keeps the number in the first line",
  },
  kept: {
    "no-limit": "The job has no limit and no estimate: it has no estimate",
    "zero-run-time": "The run time is 0: the job ends at the instant at which it starts",
    "unlisted-resource":
      "The job uses a resource that the first line does not list: the simulator does not count it",
    "policy-change": "The policy changed here: a simulation uses the policy that you choose",
    "reserved-window":
      "The window has only a part of the processors: a simulation takes them away from all jobs, also from those that it names",
    "never-ends": "A pause, drain or capacity change has no end in the file: it lasts until the end",
  },
});

export type JsonlCode = keyof typeof JSONL_RULES;
