/** Says how a job may depend on how others end. */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobState } from "@tutti/protocol/states.ts";

/** A job that must end before another one starts. */
export interface Dependency {
  readonly job: JobNumber;
  /** The other job is cancelled unless this one succeeds. */
  readonly ok: boolean;
  /** notok: the other job is cancelled unless this one fails or is cancelled; then `ok` is false. */
  readonly kind?: "notok";
}

/** Whether it depends on how the job ends, not only on that it ends. */
export function isConditional({ ok, kind }: Dependency): boolean {
  return ok || kind === "notok";
}

/** How the job must end. */
export function kindOf({ ok, kind }: Dependency): "any" | "ok" | "notok" {
  return kind ?? (ok ? "ok" : "any");
}

/** Whether the job has ended in another way than it should. */
export function isUnmet({ ok, kind }: Dependency, state: JobState): boolean {
  if (kind === "notok") return state === "done";
  return ok && (state === "failed" || state === "cancelled");
}

/** Why a dependent is cancelled. */
export function unmetText(job: JobNumber, state: JobState): string {
  return state === "done" ? `job ${job} succeeded` : `job ${job} did not succeed`;
}
