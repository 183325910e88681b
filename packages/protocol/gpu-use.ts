/** What an attempt used of its GPUs, as nvidia-smi or rocm-smi say it every few seconds. */
export interface GpuUse {
  /** GPUs that were measured: those that the programs know by the names that the job has. */
  readonly gpus: number;
  /** How busy they were on average over its running time, 0 … 1. */
  readonly gpuShare: number;
  /** The most memory of all of them together, at one time; of a shared GPU, with that of other jobs. */
  readonly peakGpuMemoryBytes: number;
}

export const GPU_USE_FIELDS = [
  "gpus",
  "gpuShare",
  "peakGpuMemoryBytes",
] as const satisfies readonly (keyof GpuUse)[];

/** Of several nodes: the mean over all GPUs, and the sum of the peaks. Undefined: none has measured any. */
export function sumOfGpuUses(uses: readonly Partial<GpuUse>[]): GpuUse | undefined {
  let gpus = 0;
  let busy = 0;
  let peakGpuMemoryBytes = 0;
  for (const use of uses) {
    gpus += use.gpus ?? 0;
    busy += (use.gpus ?? 0) * (use.gpuShare ?? 0);
    peakGpuMemoryBytes += use.peakGpuMemoryBytes ?? 0;
  }
  return gpus === 0 ? undefined : { gpus, gpuShare: busy / gpus, peakGpuMemoryBytes };
}
