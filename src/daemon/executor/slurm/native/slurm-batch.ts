/** Slurm as a batch system in which each attempt is a job of its own. */
import { writeFileSync } from "node:fs";
import type { LaunchSpec } from "../../../../protocol/attempts.ts";
import type { BatchJob, BatchSystem, ShownBatchJob } from "../../queue/batch-system.ts";
import { scriptFile } from "../../queue/queued-attempt.ts";
import { SlurmError } from "../commands.ts";
import type { QueuedJob } from "../formats/queue.ts";
import type { JobsOfSlurm } from "../slurm.ts";
import { attemptScript, batchScript, phaseOf, REASONS, signalName, submitOptions } from "./attempt.ts";

type SlurmBatchJob = BatchJob & QueuedJob;

export class SlurmBatch implements BatchSystem<SlurmBatchJob> {
  readonly name = "Slurm";
  readonly startsAfter = "about 3 s";
  readonly kind = "slurm";
  readonly #slurm: JobsOfSlurm;
  readonly #sbatch: readonly string[];

  /** @param sbatch more options for sbatch, such as --partition=long */
  constructor(slurm: JobsOfSlurm, sbatch: readonly string[]) {
    this.#slurm = slurm;
    this.#sbatch = sbatch;
  }

  async submit(spec: LaunchSpec, mark: string): Promise<string> {
    writeFileSync(scriptFile(spec), attemptScript(spec), { mode: 0o600 });
    return this.#slurm.submit([...submitOptions(spec, mark), ...this.#sbatch], batchScript(spec));
  }

  release(id: string): Promise<void> {
    return this.#slurm.release(id);
  }

  signal(id: string, signal: "TERM" | "KILL"): Promise<void> {
    return this.#slurm.signal(id, signal);
  }

  cancel(id: string): Promise<void> {
    return this.#slurm.cancel(id);
  }

  async queue(): Promise<readonly SlurmBatchJob[]> {
    return (await this.#slurm.queue()).map((job) => {
      const phase = phaseOf(job.state);
      return {
        ...job,
        mark: job.comment,
        phase: phase !== "ended" && job.restarts > 0 ? "again" : phase,
        isHeld: job.state === "PENDING" && job.reason.startsWith("JobHeld"),
        startedAtMs: msOf(job.startS),
      };
    });
  }

  async shown(id: string): Promise<ShownBatchJob | undefined> {
    const job = await this.#slurm.shown(id);
    if (job === undefined) return undefined;
    const { state, exitCode: code, startS, endS } = job;
    const signal = signalName(job.signal);
    const isExit = state === "COMPLETED" || (state === "FAILED" && signal === undefined);
    return {
      // The accounting does not keep comments.
      mark: job.comment,
      hasEnded: phaseOf(state) === "ended",
      state,
      startedAtMs: msOf(startS),
      endedAtMs: (endS ?? 0) * 1000,
      reason: REASONS[state] ?? "none",
      status: isExit ? { code } : signal !== undefined ? { signal } : {},
    };
  }

  noteOn({ id, state, reason, nodeList, eligibleS }: SlurmBatchJob, hasStarted: boolean): string {
    if (phaseOf(state) === "running")
      return `It runs as Slurm's job ${id} on ${nodeList}${state === "RUNNING" ? "" : ` (${state})`}`;
    if (reason.startsWith("JobHeld")) return `Slurm holds its job ${id} (${reason})`;
    const from =
      reason === "BeginTime" && eligibleS !== undefined
        ? ` until ${new Date(eligibleS * 1000).toTimeString().slice(0, 8)}`
        : "";
    const why = reason === "None" ? `, and takes ${this.startsAfter} for that` : ` (${reason}${from})`;
    return hasStarted ? `Slurm's job ${id} waits${why}` : `Slurm has yet to start its job ${id}${why}`;
  }

  isRefusal(error: unknown): error is SlurmError {
    return error instanceof SlurmError && !error.isAway;
  }
}

function msOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
