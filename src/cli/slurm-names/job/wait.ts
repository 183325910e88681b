/** Waits for jobs, and tells their ends as exit codes of a program that stood for them. */
import { constants } from "node:os";
import type { Job } from "../../../protocol/schema.ts";

/** The job's exit code; 128 plus its number for a signal; 1 for a job without either. */
export function exitCodeOf({ state, code, signal }: Job): number {
  if (state === "done") return 0;
  if (code !== undefined && code !== 0) return code;
  return signal === undefined ? 1 : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}
