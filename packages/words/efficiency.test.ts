import type { Job } from "@tutti/protocol/schema.ts";
import { expect, test } from "vitest";
import { efficiencyText } from "./efficiency.ts";

const MIB = 2 ** 20;

/** A job of 8 CPUs that ran 100 s. */
function job(more: Partial<Job>): Job {
  return {
    ...{ job: 7, name: "sim", user: "anna", queue: "default", state: "done", tasks: 8, priority: 0 },
    ...{ command: ["sim"], cwd: "/", attempt: 1, submittedAtMs: 0, startedAtMs: 0, endedAtMs: 100_000 },
    ...{ ranMs: 100_000, stdout: "", stderr: "", cpus: [], after: [] },
    ...more,
  };
}

test("a job that used 1.3 of 8 CPUs: 130 s of CPU time in 100 s", () => {
  expect(efficiencyText(job({ usage: { cpuMs: 130_000 } }))).toBe(
    "job 7 (sim) used 1.3 of its 8 CPUs (16 %) in 100 s, so -n 2 would do.",
  );
});

test("threads of one task are fewer threads; several tasks of several threads have several ways", () => {
  const usage = { cpuMs: 130_000 };
  expect(efficiencyText(job({ tasks: 1, threads: 8, usage }))).toContain("so -c 2 would do");
  expect(efficiencyText(job({ tasks: 2, threads: 4, usage }))).toContain("so 2 CPUs would do");
});

test("what was used well, a short job and a job of one CPU get no advice", () => {
  expect(efficiencyText(job({ usage: { cpuMs: 790_000 } }))).toBe(
    "job 7 (sim) used 7.9 of its 8 CPUs (99 %) in 100 s.",
  );
  expect(efficiencyText(job({ ranMs: 2000, usage: { cpuMs: 1000 } }))).toBe(
    "job 7 (sim) used 0.5 of its 8 CPUs (6 %) in 2 s, too short to say more.",
  );
  expect(efficiencyText(job({ tasks: 1, usage: { cpuMs: 5000 } }))).toBe(
    "job 7 (sim) used 0.1 of its CPU (5 %) in 100 s.",
  );
});

test("memory: with room of a quarter above the peak", () => {
  const usage = { cpuMs: 800_000, peakMemoryBytes: 100 * MIB };
  expect(efficiencyText(job({ memoryBytes: 1024 * MIB, usage }))).toMatch(
    /It had at most 100 MiB of its 1 GiB of memory, so --mem 125M would do\.$/,
  );
  expect(efficiencyText(job({ memoryBytes: 160 * MIB, usage }))).toMatch(/of its 160 MiB of memory\.$/);
  expect(efficiencyText(job({ usage }))).toMatch(/It had at most 100 MiB of memory\.$/);
});

test("a limit far above the running time is named, if the job ended by itself", () => {
  const usage = { cpuMs: 800_000 };
  expect(efficiencyText(job({ limitMs: 7_200_000, usage }))).toMatch(/Its limit was 2 h: with a shorter one/);
  expect(efficiencyText(job({ limitMs: 7_200_000, state: "failed", usage }))).not.toMatch(/limit/);
});

test("jobs about which nothing is known", () => {
  expect(efficiencyText(job({}))).toMatch(/^job 7 \(sim\): nothing was counted: its machine/);
  const { endedAtMs: _, ...running } = job({});
  expect(efficiencyText({ ...running, state: "running" })).toMatch(/has not ended/);
  const { startedAtMs: __, ...never } = job({ state: "cancelled" });
  expect(efficiencyText(never)).toBe("job 7 (sim) was never started.");
});

test("GPUs: on average and at most, also while the job runs, and where nothing else is counted", () => {
  const usage = { gpus: 2, gpuShare: 0.374, peakGpuMemoryBytes: 11.2 * 1024 * MIB };
  const words = "used 37 % of 2 GPUs, at most 11.2 GiB of GPU memory.";
  expect(efficiencyText(job({ tasks: 1, usage: { ...usage, cpuMs: 5000 } }))).toBe(
    `job 7 (sim) used 0.1 of its CPU (5 %) in 100 s. It ${words}`,
  );
  expect(efficiencyText(job({ usage }))).toBe(
    `job 7 (sim) ran 100 s; its CPU time was not counted. It ${words}`,
  );
  const running = job({ state: "running", usage: { ...usage, gpus: 1 } });
  delete (running as { endedAtMs?: number }).endedAtMs;
  expect(efficiencyText(running)).toBe(
    "job 7 (sim) has not ended: its use is counted at its end. So far, it used 37 % of 1 GPU, at most 11.2 GiB of GPU memory.",
  );
});
