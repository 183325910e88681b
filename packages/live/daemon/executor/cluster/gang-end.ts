/** Makes the end of a gang from the ends on its nodes. */
import {
  type AttemptEnd,
  COUNTED_FIELDS,
  type EndReason,
  type IdentifiedAttempt,
  type Usage,
} from "@tutti/protocol/attempts.ts";
import { sumOfGpuUses } from "@tutti/protocol/gpu-use.ts";

interface Facts {
  readonly key: IdentifiedAttempt;
  /**
   * Ends on the nodes where the command ran: on the lead, or on all nodes if it ran for each task.
   * Undefined if one of them is unknown.
   */
  readonly ends: readonly AttemptEnd[] | undefined;
  /** All ends that are known, also those of nodes on which the command has not run. */
  readonly parts?: readonly AttemptEnd[];
  /** End on the lead, if it is known. */
  readonly lead: AttemptEnd | undefined;
  /** Why the front end asked it to end. */
  readonly reason: EndReason;
  /** Why an end is unknown. */
  readonly lost: string | undefined;
  readonly neverBegan: boolean;
  /** As the gang's start was reported; undefined: it was not. */
  readonly startedAtMs: number | undefined;
  readonly ranMs: number;
  readonly unixMs: number;
}

/** Like srun, takes the highest exit code; a signal counts if no task has a code above 0. */
export function compositeEnd(facts: Facts): AttemptEnd {
  const { key, ends = [], lead, unixMs } = facts;
  const common = {
    ...key,
    endedAtMs: Math.max(lead?.endedAtMs ?? unixMs, ...ends.map(({ endedAtMs }) => endedAtMs)),
    ranMs: lead?.ranMs ?? facts.ranMs,
    ...sumOf(ends),
    ...sumOfGpuUses(facts.parts ?? ends),
  };
  const starts = ends.flatMap(({ startedAtMs }) => startedAtMs ?? []);
  const startedAtMs = facts.startedAtMs ?? (starts.length > 0 ? Math.min(...starts) : undefined);
  const reason = ends.find((end) => end.reason !== "none")?.reason ?? "none";
  const failed = ends.find(({ lost }) => lost !== undefined);
  const lost = facts.lost ?? failed?.lost;
  if (lost !== undefined || ends.length === 0) {
    const neverBegan = facts.neverBegan || (failed !== undefined && ends.every((end) => end.neverBegan));
    return {
      ...common,
      reason: reason === "none" ? facts.reason : reason,
      lost: lost ?? "its end is unknown",
      ...(neverBegan ? { neverBegan } : { startedAtMs }),
    };
  }
  const code = Math.max(...ends.map((end) => end.code ?? 0));
  const signal = ends.find((end) => end.signal !== undefined)?.signal;
  const how = code === 0 && signal !== undefined ? { signal } : { code };
  // Its pilot may have ended before it had begun.
  const neverBegan = ends.every((end) => end.neverBegan) || undefined;
  return { ...common, startedAtMs, reason, ...how, neverBegan };
}

/** What all nodes used, as far as all have measured it. Of memory, the sum of the peaks. */
function sumOf(ends: readonly AttemptEnd[]): Usage {
  const sums = COUNTED_FIELDS.flatMap((field) => {
    const sum = ends.reduce((sum, end) => sum + (end[field] ?? Number.NaN), 0);
    return ends.length > 0 && Number.isFinite(sum) ? [[field, sum]] : [];
  });
  return Object.fromEntries(sums);
}
