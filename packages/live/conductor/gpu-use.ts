/**
 * Sums up what a gang uses of its GPUs, from samples. A sample stands for the time since the one before it,
 * so the time in which a GPU was busy is the sum of the samples times these times:
 *
 *   samples          40 %            10 %       90 %
 *   time       |──── 5 s ────|────── 6 s ──────|─ 5 s ─|····|
 *   busy            2.0 s    +      0.6 s      + 4.5 s          in 16 s
 *
 * As for CPU time, that is divided by the running time of the gang in the same time. What the samples do not
 * cover counts as the mean of the rest: the time after the last one, and that without a conductor.
 */
import type { GpuUse } from "@tutti/protocol/gpu-use.ts";

/** What samples say about a gang's GPUs. */
export interface GpuSample {
  /** Number of its GPUs that were read. */
  readonly gpus: number;
  /** Sum over these of how busy they were for it, each 0 … 1. */
  readonly busy: number;
  readonly memoryBytes: number;
}

/** The sums so far, for the next conductor. Times are sums over GPUs, in ms. */
export interface SavedGpuUse {
  readonly busyMs: number;
  readonly coveredMs: number;
  readonly gpus: number;
  readonly peakBytes: number;
}

export class GpuSums {
  #sums: SavedGpuUse;
  /** The time up to which the gang is measured, and its running time then. Undefined: it is not yet. */
  #until: { readonly atMs: number; readonly ranMs: number } | undefined;

  constructor(saved: SavedGpuUse = { busyMs: 0, coveredMs: 0, gpus: 0, peakBytes: 0 }) {
    this.#sums = saved;
  }

  /** From now on the gang is measured, unless it is already. */
  begin(atMs: number, ranMs: number): void {
    this.#until ??= { atMs, ranMs };
  }

  /** The time since the last sample is not measured. */
  skip(atMs: number, ranMs: number): void {
    this.#until = { atMs, ranMs };
  }

  add(atMs: number, ranMs: number, { gpus, busy, memoryBytes }: GpuSample): void {
    const from = this.#until ?? { atMs, ranMs };
    const sums = this.#sums;
    this.#sums = {
      busyMs: sums.busyMs + busy * (atMs - from.atMs),
      coveredMs: sums.coveredMs + gpus * (ranMs - from.ranMs),
      gpus: Math.max(sums.gpus, gpus),
      peakBytes: Math.max(sums.peakBytes, memoryBytes),
    };
    this.skip(atMs, ranMs);
  }

  /** Undefined: nothing was measured. */
  get saved(): SavedGpuUse | undefined {
    return this.#sums.gpus === 0 ? undefined : this.#sums;
  }

  /** Undefined: nothing was measured while it ran. */
  get use(): GpuUse | undefined {
    const { busyMs, coveredMs, gpus, peakBytes } = this.#sums;
    if (coveredMs <= 0) return undefined;
    // A gang that takes turns may have had more than its part of the samples.
    const gpuShare = Math.min(1, Math.round((10_000 * busyMs) / coveredMs) / 10_000);
    return { gpus, gpuShare, peakGpuMemoryBytes: peakBytes };
  }
}
