/** Keeps what the executor said last about GPUs: how busy they are, and what running jobs have used. */
import type { AttemptReport, JobNumber } from "@tutti/protocol/attempts.ts";
import { type GpuUse, sumOfGpuUses } from "@tutti/protocol/gpu-use.ts";
import type { Report } from "../executor/executor.ts";

type GpuReport = Extract<AttemptReport, { type: "gpus" }>;

/** Reports come every few seconds while jobs have GPUs. An older one says nothing about now. */
const FRESH_MS = 30_000;

export class GpuReports {
  readonly #nowMs: () => number;
  /** By node; empty: this machine. */
  readonly #last = new Map<string, { readonly report: GpuReport; readonly atMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  onReport(report: Report, nowMs: number): void {
    if (report.type === "gpus") this.#last.set(report.node ?? "", { report, atMs: nowMs });
  }

  /** What a running job has used so far, on all its nodes; undefined: nothing was measured. */
  useOf(job: JobNumber): GpuUse | undefined {
    return sumOfGpuUses(this.#fresh().flatMap(({ jobs }) => jobs.filter((use) => use.job === job)));
  }

  /** All GPUs that were read. */
  now() {
    return this.#fresh().flatMap(({ node, gpus }) =>
      gpus.map(({ gpu, share, memoryBytes }) => ({
        ...(node !== undefined && { node }),
        gpu,
        ...(share !== undefined && { share }),
        memoryBytes,
      })),
    );
  }

  #fresh(): GpuReport[] {
    const fromMs = this.#nowMs() - FRESH_MS;
    for (const [node, { atMs }] of this.#last) if (atMs < fromMs) this.#last.delete(node);
    return [...this.#last.values()].map(({ report }) => report);
  }
}
