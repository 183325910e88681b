/** Counts what happened since the front end started, for the counters of a monitoring system. */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { DaemonEvent, EventPayloads } from "@tutti/protocol/events.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Totals } from "../contract/service.ts";

export class RunningTotals implements Totals {
  readonly ended = { done: 0, failed: 0, cancelled: 0 };
  starts = 0;
  waitMs = 0;
  ranMs = 0;
  cpuMs = 0;
  gpuMs = 0;

  /** @param find looks up a job, perhaps in the store */
  note({ kind, job, data }: DaemonEvent, find: (job: JobNumber) => JobRecord | undefined): void {
    if (kind === "started") {
      const { attempt, startedAtMs } = data as EventPayloads["started"];
      const record = attempt === 1 && job !== undefined ? find(job) : undefined;
      if (record === undefined) return;
      this.starts++;
      this.waitMs += Math.max(0, startedAtMs - Math.max(record.submittedAtMs, record.beginAtMs ?? 0));
    }
    // A job that waited has no other event; one that ran has ended later.
    if (kind === "cancelled" && data !== undefined && "reason" in data) this.ended.cancelled++;
    if (kind !== "ended" && kind !== "requeued") return;
    const { state, stray, ranMs = 0, cpuMs = 0, gpuMs = 0 } = data as EventPayloads["ended"];
    if (stray) return;
    if (state !== undefined && isEnded(state)) this.ended[state as keyof Totals["ended"]]++;
    this.ranMs += ranMs;
    this.cpuMs += cpuMs;
    this.gpuMs += gpuMs;
  }
}
