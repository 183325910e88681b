import { Random } from "@tutti/kernel/core/random.ts";
import { describe, expect, test } from "vitest";
import { type GpuSample, GpuSums } from "./gpu-use.ts";

const sample = (busy: number, gpus = 1, memoryBytes = 0): GpuSample => ({ gpus, busy, memoryBytes });

describe("GpuSums", () => {
  test("the picture: 40 %, 10 % and 90 % for 5, 6 and 5 s are 7.1 s of 16 s", () => {
    const sums = new GpuSums();
    sums.begin(1000, 0);
    sums.add(6000, 5000, sample(0.4, 1, 30));
    sums.begin(7000, 6000);
    sums.add(12_000, 11_000, sample(0.1, 1, 70));
    sums.add(17_000, 16_000, sample(0.9, 1, 50));
    // 7.1 / 16 = 0.44375
    expect(sums.use).toEqual({ gpus: 1, gpuShare: 0.4438, peakGpuMemoryBytes: 70 });
  });

  test("two GPUs, one idle and one at 50 %, are 25 % of both", () => {
    const sums = new GpuSums();
    sums.begin(0, 0);
    sums.add(4000, 4000, sample(0.5, 2));
    expect(sums.use?.gpuShare).toBe(0.25);
  });

  test("a gang with half of the slots keeps its GPU busy in them: 50 % of the time, all of its running time", () => {
    const sums = new GpuSums();
    sums.begin(0, 0);
    for (let s = 5; s <= 40; s += 5) sums.add(1000 * s, 500 * s, sample(s % 2));
    expect(sums.use?.gpuShare).toBe(1);
  });

  test("a time without an answer, and one without a conductor, count as the mean of the rest", () => {
    const sums = new GpuSums();
    sums.begin(0, 0);
    sums.add(5000, 5000, sample(0.6));
    sums.skip(60_000, 60_000);
    sums.add(65_000, 65_000, sample(0.2));
    expect(sums.use?.gpuShare).toBe(0.4);
    const next = new GpuSums(JSON.parse(JSON.stringify(sums.saved)));
    next.begin(100_000, 90_000);
    next.add(105_000, 95_000, sample(0.4));
    expect(next.use).toMatchObject({ gpus: 1, gpuShare: 0.4 });
  });

  test("nothing measured, or nothing while it ran, says nothing", () => {
    const sums = new GpuSums();
    expect([sums.use, sums.saved]).toEqual([undefined, undefined]);
    sums.begin(0, 0);
    sums.add(5000, 0, sample(0.3));
    expect(sums.use).toBeUndefined();
  });

  test("is as a naive twin that adds up milliseconds, whatever samples, turns, gaps and conductors do", () => {
    const random = new Random(20_261_201);
    for (let round = 0; round < 300; round++) {
      let sums = new GpuSums();
      const gpus = 1 + random.below(4);
      const turns = 1 + random.below(3);
      let [atMs, ranMs, busyMs, coveredMs, peak] = [0, 0, 0, 0, 0];
      sums.begin(0, 0);
      for (let step = 1 + random.below(12); step > 0; step--) {
        const busy = random.below(1000 * gpus + 1) / 1000;
        const memoryBytes = random.below(10);
        const isGap = random.below(5) === 0;
        for (let ms = 1 + random.below(40); ms > 0; ms--) {
          const runs = atMs % turns === 0;
          atMs++;
          ranMs += runs ? 1 : 0;
          if (isGap) continue;
          busyMs += busy;
          coveredMs += runs ? gpus : 0;
        }
        if (!isGap) {
          sums.add(atMs, ranMs, sample(busy, gpus, memoryBytes));
          peak = Math.max(peak, memoryBytes);
        } else if (random.below(2) === 0) sums.skip(atMs, ranMs);
        else {
          sums = new GpuSums(sums.saved);
          sums.begin(atMs, ranMs);
        }
      }
      if (coveredMs === 0) expect(sums.use).toBeUndefined();
      else {
        expect(sums.use).toMatchObject({ gpus, peakGpuMemoryBytes: peak });
        expect(Math.abs(Math.min(1, busyMs / coveredMs) - (sums.use?.gpuShare ?? 2))).toBeLessThan(6e-5);
      }
    }
  });
});
