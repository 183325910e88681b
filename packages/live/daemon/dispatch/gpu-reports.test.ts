import { expect, test } from "vitest";
import { GpuReports } from "./gpu-reports.ts";

const use = (job: number, gpuShare: number) => ({ job, gpus: 1, gpuShare, peakGpuMemoryBytes: 7 });
const gpu = (share?: number) => ({ gpu: "0", share, memoryBytes: 9 });

test("the last report of each node counts, until it is too old", () => {
  let nowMs = 0;
  const reports = new GpuReports(() => nowMs);
  expect([reports.now(), reports.useOf(1)]).toEqual([[], undefined]);
  reports.onReport({ type: "gpus", node: "n1", gpus: [gpu(0.1)], jobs: [use(1, 0.1)] }, 0);
  reports.onReport({ type: "gpus", node: "n1", gpus: [gpu(0.2)], jobs: [use(1, 0.2), use(2, 0.3)] }, 5000);
  reports.onReport({ type: "gpus", node: "n2", gpus: [gpu()], jobs: [use(1, 0.4)] }, 20_000);
  nowMs = 35_000;
  expect(reports.now()).toEqual([
    { node: "n1", gpu: "0", share: 0.2, memoryBytes: 9 },
    { node: "n2", gpu: "0", memoryBytes: 9 },
  ]);
  const both = reports.useOf(1);
  expect(both).toMatchObject({ gpus: 2, peakGpuMemoryBytes: 14 });
  expect(both?.gpuShare).toBeCloseTo(0.3);
  expect(reports.useOf(2)).toMatchObject({ gpus: 1, gpuShare: 0.3 });
  expect(reports.useOf(3)).toBeUndefined();
  nowMs = 35_001;
  expect(reports.now().map(({ node }) => node)).toEqual(["n2"]);
  expect([reports.useOf(1)?.gpuShare, reports.useOf(2)]).toEqual([0.4, undefined]);
});

test("GPUs of this machine have no node", () => {
  const reports = new GpuReports(() => 0);
  reports.onReport({ type: "gpus", gpus: [gpu(1)], jobs: [] }, 0);
  expect(reports.now()).toEqual([{ gpu: "0", share: 1, memoryBytes: 9 }]);
});
