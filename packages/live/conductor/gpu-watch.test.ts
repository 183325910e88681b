import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { describe, expect, test } from "vitest";
import { GpuSums } from "./gpu-use.ts";
import { GpuWatch, samplesOf } from "./gpu-watch.ts";

const GPUS = [
  { index: "0", uuid: "GPU-aa", name: "A100", share: 0.4, memoryBytes: 10, totalBytes: 80 },
  { index: "1", uuid: "GPU-bb", name: "A100", share: 0.8, memoryBytes: 20, totalBytes: 80 },
  { index: "2", uuid: "GPU-cc", name: "A100", memoryBytes: 30, totalBytes: 80 },
];

type Gang = Parameters<typeof samplesOf>[0][number];
const running = (...gpus: string[]): Gang => ({
  ...{ kept: false, onSinceMs: 5, phase: "running", spec: { gpus } },
});
const stopped = (...gpus: string[]): Gang => ({ ...running(...gpus), onSinceMs: undefined });
const of = (...gangs: Gang[]) => {
  const samples = samplesOf(gangs, GPUS);
  return gangs.map((gang) => samples.get(gang));
};

describe("samplesOf()", () => {
  test("a gang's own GPUs, by number and uuid, count whether its slot runs or not", () => {
    const both = { gpus: 2, busy: 0.4 + 0.8, memoryBytes: 30 };
    expect(of(running("0", "GPU-bb"))).toEqual([both]);
    expect(of(stopped("0", "1"))).toEqual([both]);
  });

  test("of a shared GPU, the gang whose slot runs; all of them if that says nothing", () => {
    const busy = { gpus: 1, busy: 0.8, memoryBytes: 20 };
    const idle = { ...busy, busy: 0 };
    expect(of(running("1"), stopped("1"))).toEqual([busy, idle]);
    expect(of(stopped("1"), stopped("1"))).toEqual([busy, busy]);
    expect(of(running("1"), running("1"), stopped("1"))).toEqual([busy, busy, idle]);
    expect(of(stopped("1"), { ...stopped("1"), kept: true })).toEqual([idle, busy]);
    expect(of(stopped("1"), { ...stopped("1"), phase: "stopping" })).toEqual([idle, busy]);
  });

  test("what the program does not know, or does not measure, is left out", () => {
    expect(of(running("7", "MIG-1"), running("2"), running("0", "0", "a100"))).toEqual([
      undefined,
      undefined,
      { gpus: 1, busy: 0.4, memoryBytes: 10 },
    ]);
  });
});

describe("GpuWatch", () => {
  test("asks only while a gang has GPUs, five seconds after it began, and once at a time", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-gpu-watch-"));
    const program = join(folder, "nvidia-smi");
    const [asked, go] = [join(folder, "asked"), join(folder, "go")];
    const line = "0, GPU-aa, 40, 10, 80, NVIDIA A100";
    const script = `echo x >>"${asked}"; until [ -e "${go}" ]; do sleep 0.02; done; echo "${line}"`;
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    const timesAsked = () => (existsSync(asked) ? readFileSync(asked, "utf8").length / 2 : 0);
    const gang = (job: number, gpus?: string[]) => ({
      ...{ begun: true, isOver: false, kept: false, onSinceMs: 0, phase: "running" as const },
      ...{ gpuSums: new GpuSums(), ranMs: (ms: number) => ms, spec: { job, gpus } },
    });
    const gangs = [gang(1)];
    const messages: FromConductor[] = [];
    const watch = new GpuWatch(
      [program],
      () => gangs,
      (message) => messages.push(message),
    );
    try {
      for (const ms of [0, 10_000, 20_000]) watch.look(ms);
      gangs.push(gang(2, ["0"]));
      for (const ms of [30_000, 34_999]) watch.look(ms);
      // None of the calls so far has asked: this one would be the second.
      watch.look(35_000);
      await expect.poll(timesAsked).toBe(1);
      // It has not answered yet.
      watch.look(90_000);
      expect(messages).toEqual([]);
      writeFileSync(go, "");
      const gpus = [{ gpu: "0", share: 0.4, memoryBytes: 10 * 2 ** 20 }];
      const use = { job: 2, gpus: 1, gpuShare: 0.4, peakGpuMemoryBytes: 10 * 2 ** 20 };
      await expect.poll(() => messages).toEqual([{ type: "gpus", gpus, jobs: [use] }]);
      expect(timesAsked()).toBe(1);
    } finally {
      writeFileSync(go, "");
      rmSync(folder, { recursive: true });
    }
  });
});
