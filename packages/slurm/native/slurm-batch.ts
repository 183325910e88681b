/** Slurm as a batch system in which each attempt is a job of its own. */
import { writeFileSync } from "@tutti/host/ports/fs.ts";
import type {
  BatchJob,
  BatchSystem,
  Order,
  ShownBatchJob,
} from "@tutti/live/daemon/executor/queue/batch-system.ts";
import { scriptFile } from "@tutti/live/daemon/executor/queue/queued-attempt.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { QueuedJob } from "../formats/queue.ts";
import type { JobsOfSlurm } from "../slurm.ts";
import { attemptScript, batchScript, phaseOf, REASONS, signalName, submitOptions } from "./attempt.ts";

export class SlurmBatch implements BatchSystem {
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

  give(id: string, order: Order): Promise<void> {
    if (order === "release") return this.#slurm.release(id);
    return order === "cancel" ? this.#slurm.cancel(id) : this.#slurm.signal(id, order);
  }

  async queue(): Promise<readonly BatchJob[]> {
    return (await this.#slurm.queue()).map((job) => {
      const phase = phaseOf(job.state);
      return {
        id: job.id,
        mark: job.comment,
        phase: phase !== "ended" && job.restarts > 0 ? "again" : phase,
        isHeld: job.state === "PENDING" && job.reason.startsWith("JobHeld"),
        startedAtMs: msOf(job.startS),
        note: this.#noteOn(job),
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

  #noteOn({ id, state, reason, nodeList, eligibleS }: QueuedJob): string {
    if (phaseOf(state) === "running")
      return `It runs as Slurm's job ${id} on ${nodeList}${state === "RUNNING" ? "" : ` (${state})`}`;
    if (reason.startsWith("JobHeld")) return `Slurm holds its job ${id} (${reason})`;
    const from =
      reason === "BeginTime" && eligibleS !== undefined
        ? ` until ${new Date(eligibleS * 1000).toTimeString().slice(0, 8)}`
        : "";
    const why = reason === "None" ? `, and takes ${this.startsAfter} for that` : ` (${reason}${from})`;
    return `Slurm has yet to start its job ${id}${why}`;
  }
}

function msOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
