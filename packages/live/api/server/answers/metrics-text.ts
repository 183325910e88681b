/** Formats the metrics of the running scheduler for Prometheus. */

import { unixMs as unixNowMs } from "@tutti/host/clock.ts";
import type { Service } from "../../../daemon/contract/service.ts";

export interface RequestCount {
  readonly route: string;
  readonly status: number;
  readonly count: number;
}

type NodeStatus = NonNullable<ReturnType<Service["status"]>["nodes"]>[number];
type GpuStatus = NonNullable<ReturnType<Service["status"]>["gpus"]>[number];
type Sample = readonly [labels: Readonly<Record<string, string | number>>, value: number];

/** @param totals undefined: the caller may not see how jobs of others ended */
export function metricsText(
  status: ReturnType<Service["status"]>,
  queues: ReturnType<Service["queues"]>["queues"],
  totals: Service["totals"] | undefined,
  requests: readonly RequestCount[],
  unixMs = unixNowMs(),
): string {
  const { connected, lateP99Ms } = status.conductor;
  const ofQueues = queues.flatMap(({ name: queue, queued, running }): Sample[] => [
    [{ queue, state: "queued" }, queued],
    [{ queue, state: "running" }, running],
  ]);
  const ofRequests = requests.map(
    ({ route, status: code, count }): Sample => [{ route, status: code }, count],
  );
  const lateS = lateP99Ms === undefined ? [] : lateP99Ms / 1000;
  const { nodes = [], resources = [], gpus = [], windows = [] } = status;
  const ofNodes = (read: (node: NodeStatus) => number | undefined): Sample[] =>
    nodes.flatMap((node): Sample[] => {
      const value = read(node);
      return value === undefined ? [] : [[{ node: node.node }, value]];
    });
  const ofGpus = (read: (gpu: GpuStatus) => number | undefined): Sample[] =>
    gpus.flatMap((one): Sample[] => {
      const value = read(one);
      const { node, gpu } = one;
      return value === undefined ? [] : [[{ ...(node !== undefined && { node }), gpu }, value]];
    });
  const secondsOf = (field: "offsetMs" | "uncertaintyMs" | "skewP50Ms" | "skewP99Ms") =>
    ofNodes((node) => (node[field] === undefined ? undefined : node[field] / 1000));
  const secondsOfTotal = (field: "waitMs" | "ranMs" | "cpuMs" | "gpuMs") =>
    totals === undefined ? [] : totals[field] / 1000;
  return [
    metric(
      "jobs",
      "Jobs by state",
      Object.entries(status.counts).map(([state, n]) => [{ state }, n]),
    ),
    metric("queue_jobs", "Waiting and running jobs by queue", ofQueues),
    metric("cpus", "Processors that jobs may use", status.cpus),
    metric("cpus_busy", "Processors that have a gang in at least one row", status.busyCpus),
    metric(
      "units",
      "Units of a countable resource",
      resources.map(({ name, units }) => [{ resource: name }, units.length]),
    ),
    metric(
      "units_held",
      "Units of a countable resource that jobs hold",
      resources.map(({ name, held }) => [{ resource: name }, held]),
    ),
    metric(
      "gpu_busy_ratio",
      "How busy a GPU was in the last moment, 0 to 1, while jobs have GPUs",
      ofGpus(({ share }) => share),
    ),
    metric(
      "gpu_memory_used_bytes",
      "Memory in use of a GPU, while jobs have GPUs",
      ofGpus(({ memoryBytes }) => memoryBytes),
    ),
    metric(
      "drained",
      "1 while an administrator keeps jobs from starting",
      status.drain === undefined ? 0 : 1,
    ),
    metric(
      "windows_open",
      "Windows in which the machine is kept now, at most 20",
      windows.filter(({ fromMs }) => fromMs <= unixMs).length,
    ),
    metric("conductor_connected", "1 while the conductor is connected", connected ? 1 : 0),
    metric("slot_lateness_p99_seconds", "Lateness of the switches between slots, 99th percentile", lateS),
    metric(
      "node_up",
      "1 while a node of a cluster answers",
      ofNodes(({ state }) => (state === "up" ? 1 : 0)),
    ),
    metric(
      "node_cpus",
      "Processors of a node that jobs may use",
      ofNodes(({ cpus }) => cpus),
    ),
    metric(
      "node_clock_offset_seconds",
      "Monotonic clock of a node minus that of the scheduler's machine",
      secondsOf("offsetMs"),
    ),
    metric(
      "node_clock_uncertainty_seconds",
      "The offset of a node's clock is right within this",
      secondsOf("uncertaintyMs"),
    ),
    metric(
      "node_skew_p50_seconds",
      "How much later than the first node a node began the slots of the last minute, median",
      secondsOf("skewP50Ms"),
    ),
    metric(
      "node_skew_p99_seconds",
      "How much later than the first node a node began the slots of the last minute, 99th percentile",
      secondsOf("skewP99Ms"),
    ),
    metric("front_end_resident_bytes", "Resident memory of the front end", status.residentBytes),
    metric("start_time_seconds", "Unix time at which the front end started", status.startedAtMs / 1000),
    metric(
      "jobs_ended_total",
      "Jobs that ended since the front end started",
      Object.entries(totals?.ended ?? {}).map(([state, n]) => [{ state }, n]),
      "counter",
    ),
    metric("job_starts_total", "Jobs that were started for the first time", totals?.starts ?? [], "counter"),
    metric(
      "job_wait_seconds_total",
      "Sum of their waits, from the submit or the requested begin",
      secondsOfTotal("waitMs"),
      "counter",
    ),
    metric("job_run_seconds_total", "Running time of ended attempts", secondsOfTotal("ranMs"), "counter"),
    metric(
      "job_cpu_seconds_total",
      "CPU time of ended attempts, where control groups count it",
      secondsOfTotal("cpuMs"),
      "counter",
    ),
    metric(
      "job_gpu_seconds_total",
      "Time in which the GPUs of ended attempts were busy, where it is measured",
      secondsOfTotal("gpuMs"),
      "counter",
    ),
    metric("api_requests_total", "Requests to the API", ofRequests, "counter"),
  ].join("");
}

/** @param values one value, or one sample per set of labels. A metric without samples is left out. */
function metric(word: string, help: string, values: number | readonly Sample[], type = "gauge"): string {
  const name = `tutti_${word}`;
  const samples: readonly Sample[] = typeof values === "number" ? [[{}, values]] : values;
  const lines = samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`);
  return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Sample[0]): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
