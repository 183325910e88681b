/** Formats the metrics of the running scheduler for Prometheus. */
import type { Service } from "../../../daemon/contract/service.ts";

export interface RequestCount {
  readonly route: string;
  readonly status: number;
  readonly count: number;
}

type Sample = readonly [labels: Readonly<Record<string, string | number>>, value: number];

export function metricsText(
  status: ReturnType<Service["status"]>,
  queues: ReturnType<Service["queues"]>,
  requests: readonly RequestCount[],
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
  return [
    metric(
      "jobs",
      "Jobs by state",
      Object.entries(status.counts).map(([state, n]) => [{ state }, n]),
    ),
    metric("queue_jobs", "Waiting and running jobs by queue", ofQueues),
    metric("cpus", "Processors that jobs may use", status.cpus),
    metric("cpus_busy", "Processors that have a gang in at least one row", status.busyCpus),
    metric("conductor_connected", "1 while the conductor is connected", connected ? 1 : 0),
    metric("slot_lateness_p99_seconds", "Lateness of the switches between slots, 99th percentile", lateS),
    metric("front_end_resident_bytes", "Resident memory of the front end", status.residentBytes),
    metric("start_time_seconds", "Unix time at which the front end started", status.startedAtMs / 1000),
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
