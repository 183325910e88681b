/** Numbers of the live system in the text format of Prometheus. */
import type { Service } from "../../../daemon/contract/service.ts";

export interface RequestCount {
  readonly route: string;
  readonly status: number;
  readonly count: number;
}

type Labels = Readonly<Record<string, string | number>>;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  readonly samples: readonly (readonly [Labels, number | undefined])[];
}

export function metricsText(
  status: ReturnType<Service["status"]>,
  queues: ReturnType<Service["queues"]>,
  requests: readonly RequestCount[],
): string {
  const { conductor } = status;
  const metrics: Metric[] = [
    gauge(
      "jobs",
      "Jobs by state",
      Object.entries(status.counts).map(([state, n]) => [{ state }, n]),
    ),
    gauge(
      "queue_jobs",
      "Jobs of each queue that wait or run",
      queues.flatMap(({ name, queued, running }) => [
        [{ queue: name, state: "queued" }, queued] as const,
        [{ queue: name, state: "running" }, running] as const,
      ]),
    ),
    gauge("cpus", "Processors that jobs may have", [[{}, status.cpus]]),
    gauge("cpus_busy", "Processors that have a gang in at least one row", [[{}, status.busyCpus]]),
    gauge("conductor_connected", "1 while the conductor is connected", [[{}, conductor.connected ? 1 : 0]]),
    gauge("slot_lateness_p99_seconds", "Lateness of the switches between slots, 99th percentile", [
      [{}, conductor.lateP99Ms === undefined ? undefined : conductor.lateP99Ms / 1000],
    ]),
    gauge("front_end_resident_bytes", "Resident memory of the front end", [[{}, status.residentBytes]]),
    gauge("start_time_seconds", "Unix time at which the front end started", [
      [{}, status.startedAtMs / 1000],
    ]),
    {
      name: "tutti_api_requests_total",
      help: "Requests to the API",
      type: "counter",
      samples: requests.map(({ route, status: code, count }) => [{ route, status: code }, count]),
    },
  ];
  return metrics.map(metricText).join("");
}

function gauge(name: string, help: string, samples: Metric["samples"]): Metric {
  return { name: `tutti_${name}`, help, type: "gauge", samples };
}

function metricText({ name, help, type, samples }: Metric): string {
  const lines = samples
    .filter(([, value]) => value !== undefined)
    .map(([labels, value]) => `${name}${labelText(labels)} ${value}`);
  return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("\n")}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
