/** The exit code of a command that stands for its job. */
import { constants } from "node:os";
import { whyNeverBegan } from "@tutti/protocol/never-began.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { outcomeText, saysMore } from "@tutti/words/jobs.ts";
import { ExitCode } from "../errors.ts";
import { hint } from "../text/text.ts";

/** Exit code of a shell if a program cannot be run. */
const NO_PROGRAM = 127;

/** The job's exit code; for a signal 128 plus its number, as in a shell; 1 for a job without either. */
export function exitCodeOf({ state, code, signal, reason = "" }: Job): number {
  if (state === "done") return 0;
  if (code !== undefined && code !== 0) return code;
  if (/^Cannot run |: Cannot run /.test(whyNeverBegan(reason) ?? reason)) return NO_PROGRAM;
  return signal === undefined ? ExitCode.failed : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

/** Says how the job ended, unless its exit code says it all. */
export function reportEnd(job: Job): void {
  const isSaid =
    job.state === "done" || (job.state !== "cancelled" && job.code !== undefined && !saysMore(job));
  if (!isSaid) hint(`tutti: ${outcomeText(job)}`);
}
