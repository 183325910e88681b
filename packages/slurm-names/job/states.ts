/** Says in which of Slurm's states a job is, and why it waits or how it ended, in Slurm's words. */
import { constants } from "node:os";
import { whyNeverBegan } from "@tutti/protocol/never-began.ts";
import type { Job } from "@tutti/protocol/schema.ts";

/** Slurm's states with their short names, in the order of Slurm's numbers, by which squeue sorts. */
export const STATES = {
  PENDING: "PD",
  RUNNING: "R",
  SUSPENDED: "S",
  COMPLETED: "CD",
  CANCELLED: "CA",
  FAILED: "F",
  TIMEOUT: "TO",
  NODE_FAIL: "NF",
  PREEMPTED: "PR",
  BOOT_FAIL: "BF",
  DEADLINE: "DL",
  OUT_OF_MEMORY: "OOM",
  COMPLETING: "CG",
  CONFIGURING: "CF",
} as const;
type SlurmState = keyof typeof STATES;

/** Further states that options may name; no job is ever in them. */
const OTHER_STATES =
  "RESIZING RS RESV_DEL_HOLD RD REQUEUED RQ REQUEUE_FED RF REQUEUE_HOLD RH REVOKED RV SIGNALING SI SPECIAL_EXIT SE STAGE_OUT SO STOPPED ST".split(
    " ",
  );

export function slurmState({ state, reason = "" }: Job): SlurmState {
  switch (state) {
    case "queued":
    case "held":
      return "PENDING";
    case "starting":
      return "CONFIGURING";
    case "running":
      return "RUNNING";
    case "paused":
      return "SUSPENDED";
    case "ending":
      return "COMPLETING";
    case "done":
      return "COMPLETED";
    case "cancelled":
      return "CANCELLED";
    case "failed":
      if (reason === "time limit") return "TIMEOUT";
      if (reason === "memory limit") return "OUT_OF_MEMORY";
      // Its program could not be started, which Slurm counts as a failure of the job.
      if (whyNeverBegan(reason) !== undefined) return "FAILED";
      return reason.startsWith("lost: ") || reason === "the scheduler was shut down" ? "NODE_FAIL" : "FAILED";
  }
}

/** States that an option names, such as `PD,running` or `all`; undefined for all. */
export function statesNamed(list: string, refuse: (name: string) => Error): ReadonlySet<string> | undefined {
  const names = list.split(",").map((name) => name.toUpperCase());
  if (names.includes("ALL")) return undefined;
  return new Set(
    names.map((name, i) => {
      const found = Object.entries(STATES).find((entry) => entry.includes(name));
      if (found !== undefined) return found[0];
      if (OTHER_STATES.includes(name)) return name;
      throw refuse(list.split(",")[i]);
    }),
  );
}

/** Exit code and signal, as `0:9`. */
export function exitCodeText({ code, signal, state, reason = "" }: Job): string {
  // Slurm's own end of a job is not an exit code of the job.
  if (state === "cancelled") return "0:0";
  // Where the command could not begin, Slurm's step daemon ends with these.
  if (code === undefined && signal === undefined && whyNeverBegan(reason) !== undefined)
    return /: Cannot write (?:output to|errors to|to) "/.test(reason) ? "0:53" : "2:0";
  if (signal === undefined) return `${code ?? 0}:0`;
  return `0:${constants.signals[signal as NodeJS.Signals] ?? 0}`;
}

/** Of a program that stands for the job: its exit code, 128 plus the number of its signal, or else 1. */
export function exitCodeOf({ state, code, signal }: Job): number {
  if (state === "done") return 0;
  if (code !== undefined && code !== 0) return code;
  return signal === undefined ? 1 : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

/** Why a job waits; None for others. The scheduler says more with `tutti why`. */
export function reasonText({ state, reason = "", notBeforeMs, beginAtMs, after, singleton }: Job): string {
  if (state === "held") return reason.endsWith("(requeued)") ? "job requeued in held state" : "JobHeldUser";
  if (state !== "queued") return "None";
  if (/jobs of array \d+ run at a time/.test(reason)) return "JobArrayTaskLimit";
  if ((notBeforeMs ?? beginAtMs ?? 0) > Date.now()) return "BeginTime";
  if (after.length > 0 || singleton) return "Dependency";
  return reason === "" ? "Priority" : "Resources";
}
