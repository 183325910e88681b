import { expect, test } from "vitest";
import { sumOfGpuUses } from "./gpu-use.ts";

test("sumOfGpuUses(): the mean over all GPUs, and the sum of the peaks; nodes without any do not count", () => {
  const three = { gpus: 3, gpuShare: 0.5, peakGpuMemoryBytes: 30 };
  const one = { gpus: 1, gpuShare: 0.9, peakGpuMemoryBytes: 5 };
  // (3 · 0.5 + 0.9) / 4
  expect(sumOfGpuUses([three, {}, one])).toEqual({ gpus: 4, gpuShare: 0.6, peakGpuMemoryBytes: 35 });
  expect(sumOfGpuUses([{}])).toBeUndefined();
  expect(sumOfGpuUses([])).toBeUndefined();
});
