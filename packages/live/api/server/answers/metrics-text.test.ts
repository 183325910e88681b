import { readFileSync } from "node:fs";
import { JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import { expect, test } from "vitest";
import { metricsText } from "./metrics-text.ts";

const STATUS = {
  startedAtMs: 0,
  cpus: 4,
  busyCpus: 0,
  counts: Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>,
  conductor: { connected: true },
  residentBytes: 1,
};

const TOTALS = {
  ended: { done: 5, failed: 1, cancelled: 0 },
  starts: 7,
  waitMs: 2500,
  ranMs: 1000,
  cpuMs: 900,
  gpuMs: 250,
};

test("nodes of a cluster have their own samples; times are in seconds", () => {
  const status = {
    ...STATUS,
    nodes: [
      {
        node: "n1",
        state: "up" as const,
        cpus: 4,
        offsetMs: -250,
        uncertaintyMs: 0.5,
        skewP50Ms: 1,
        skewP99Ms: 8,
      },
      { node: "n2", state: "silent" as const, cpus: 0 },
    ],
  };
  const lines = metricsText(status, [], TOTALS, []).split("\n");
  expect(lines.filter((line) => line.startsWith("tutti_node_"))).toEqual([
    'tutti_node_up{node="n1"} 1',
    'tutti_node_up{node="n2"} 0',
    'tutti_node_cpus{node="n1"} 4',
    'tutti_node_cpus{node="n2"} 0',
    'tutti_node_clock_offset_seconds{node="n1"} -0.25',
    'tutti_node_clock_uncertainty_seconds{node="n1"} 0.0005',
    'tutti_node_skew_p50_seconds{node="n1"} 0.001',
    'tutti_node_skew_p99_seconds{node="n1"} 0.008',
  ]);
  expect(lines).toContain("tutti_drained 0");
  const drain = { sinceMs: 1, by: "root" };
  expect(metricsText({ ...STATUS, drain }, [], TOTALS, []).split("\n")).toContain("tutti_drained 1");
  expect(lines).toContain("tutti_windows_open 0");
  const windows = [1, 2, 3].map((fromMs) => ({
    name: `w${fromMs}`,
    fromMs,
    untilMs: 9,
    by: "root",
    atMs: 0,
  }));
  const inWindows = metricsText({ ...STATUS, windows }, [], TOTALS, [], 2).split("\n");
  expect(inWindows).toContain("tutti_windows_open 2");
  expect(metricsText(STATUS, [], TOTALS, [])).not.toContain("tutti_node_");
});

test("each countable resource has its units, and those that jobs hold; paused jobs are a state", () => {
  const resources = [
    { name: "gpu", units: ["0", "1", "2", "3"], held: 3 },
    { name: "disk", units: ["a"], held: 1, shared: true as const },
  ];
  const counts = { ...STATUS.counts, paused: 2 };
  const lines = metricsText({ ...STATUS, counts, resources }, [], TOTALS, []).split("\n");
  expect(lines.filter((line) => /^tutti_units|="paused"/.test(line))).toEqual([
    'tutti_jobs{state="paused"} 2',
    'tutti_units{resource="gpu"} 4',
    'tutti_units{resource="disk"} 1',
    'tutti_units_held{resource="gpu"} 3',
    'tutti_units_held{resource="disk"} 1',
  ]);
  expect(metricsText(STATUS, [], TOTALS, [])).not.toContain("tutti_units");
});

test("GPUs as they are now; on a node with its name, and without what is unknown", () => {
  const gpus = [
    { gpu: "0", share: 0.4, memoryBytes: 10 },
    { node: "n1", gpu: "0", memoryBytes: 20 },
  ];
  const lines = metricsText({ ...STATUS, gpus }, [], TOTALS, []).split("\n");
  expect(lines.filter((line) => line.startsWith("tutti_gpu_"))).toEqual([
    'tutti_gpu_busy_ratio{gpu="0"} 0.4',
    'tutti_gpu_memory_used_bytes{gpu="0"} 10',
    'tutti_gpu_memory_used_bytes{node="n1",gpu="0"} 20',
  ]);
});

test("counters of jobs since the start; times are in seconds", () => {
  const lines = metricsText(STATUS, [], TOTALS, []).split("\n");
  expect(lines.filter((line) => /^tutti_jobs?_\w+_total/.test(line))).toEqual([
    'tutti_jobs_ended_total{state="done"} 5',
    'tutti_jobs_ended_total{state="failed"} 1',
    'tutti_jobs_ended_total{state="cancelled"} 0',
    "tutti_job_starts_total 7",
    "tutti_job_wait_seconds_total 2.5",
    "tutti_job_run_seconds_total 1",
    "tutti_job_cpu_seconds_total 0.9",
    "tutti_job_gpu_seconds_total 0.25",
  ]);
  expect(lines).toContain("# TYPE tutti_jobs_ended_total counter");
  expect(metricsText(STATUS, [], undefined, [])).not.toMatch(/^tutti_jobs?_\w+_total/m);
});

test("the guide names every metric", () => {
  const guide = readFileSync(
    new URL("../../../../../docs/reference-administration.md", import.meta.url),
    "utf8",
  );
  const node = { node: "n1", state: "up" as const, cpus: 4 };
  const times = { offsetMs: 1, uncertaintyMs: 1, skewP50Ms: 1, skewP99Ms: 1 };
  const all = metricsText(
    {
      ...STATUS,
      conductor: { connected: true, lateP99Ms: 1 },
      nodes: [{ ...node, ...times }],
      resources: [{ name: "gpu", units: ["0"], held: 0 }],
      gpus: [{ gpu: "0", share: 0.5, memoryBytes: 1 }],
    },
    [{ name: "batch", queued: 1, running: 1, mostCpus: 4 }],
    TOTALS,
    [{ route: "status", status: 200, count: 1 }],
  );
  const named = guide.match(/`tutti_[a-z0-9_]+/g)?.map((text) => text.slice(1));
  expect(new Set(named)).toEqual(new Set(all.match(/^tutti_[a-z0-9_]+/gm)));
});
