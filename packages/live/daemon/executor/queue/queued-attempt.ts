/** An attempt that is a job of a batch system: its mark, its files, and how it ended. */
import { mkdirSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import type { AttemptEnd, AttemptState, EndReason, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { ShownBatchJob } from "./batch-system.ts";
import type { StoredAttempt } from "./queue-file.ts";

/** An attempt while the executor knows it. */
export interface QueuedAttempt extends StoredAttempt {
  /** The mark of its job. A job without it is not ours, whatever its id. */
  readonly mark: string;
  /** Left out: another front end has launched it. */
  spec?: LaunchSpec;
  /** Its start on the monotonic clock in ms, so that its limit does not depend on the wall clock. */
  runsSinceMs?: number;
  /** What the batch system says about it now, in words. */
  note?: string;
  /**
   * Why Tutti ends it, and when KILL follows on the monotonic clock in ms; ∞: it has not been signalled.
   */
  stop?: { readonly reason: EndReason; killAtMs: number };
  end?: AttemptEnd;
  /** Polls in a row in which Slurm did not list it. */
  missing: number;
}

export function markOf(
  owner: string,
  { job, attempt, identity = "" }: Pick<StoredAttempt, "job" | "attempt" | "identity">,
): string {
  return `${prefixOf(owner)}${job}.${attempt}.${identity}`;
}

export function prefixOf(owner: string): string {
  return `tutti:${owner}:native:`;
}

const MAX_WORDS = 20;
const MAX_WORD = 200;

export function attemptOf(owner: string, spec: LaunchSpec): QueuedAttempt {
  const { job, attempt, identity, folder, cwd, command, graceMs, limitMs } = spec;
  return {
    ...{ job, attempt, folder, cwd, graceMs, spec, missing: 0 },
    command: command.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD)),
    identity,
    limitMs,
    mark: markOf(owner, spec),
  };
}

/** What the file keeps. */
export function storedOf(attempt: QueuedAttempt): StoredAttempt {
  const { job, identity, folder, cwd, command, graceMs, limitMs, id, releasedAtMs, startedAtMs } = attempt;
  return {
    ...{ job, attempt: attempt.attempt, folder, cwd, command: [...command], graceMs },
    ...{ identity, limitMs, id, releasedAtMs, startedAtMs, endReason: attempt.stop?.reason },
  };
}

/** A folder that the attempt's script makes before anything else, so that it runs once. */
const BEGAN = "began";
const SCRIPT = "slurm-job";

export function beganFolder({ folder }: Pick<StoredAttempt, "folder">): string {
  return join(folder, BEGAN);
}

export function scriptFile({ folder }: Pick<StoredAttempt, "folder">): string {
  return join(folder, SCRIPT);
}

/** @param began whether its command has begun */
export function endOf(
  attempt: QueuedAttempt,
  shown: ShownBatchJob,
  began: boolean,
  system: string,
): AttemptEnd {
  const { job, identity, id, stop } = attempt;
  const { endedAtMs, status } = shown;
  const reason = stop?.reason ?? shown.reason;
  const startedAtMs = attempt.startedAtMs ?? shown.startedAtMs ?? endedAtMs;
  const isKnown = "code" in status || "signal" in status || reason !== "none";
  return {
    ...{ job, attempt: attempt.attempt, reason, endedAtMs },
    identity,
    ...status,
    ...(!isKnown && { lost: `${system} has ended its job ${id}: ${shown.state}` }),
    ...(began ? { startedAtMs } : { neverBegan: true }),
    ranMs: began ? Math.max(0, endedAtMs - startedAtMs) : 0,
  };
}

/** An end that the batch system does not explain. */
export function lostEnd(
  { job, attempt, identity, stop }: QueuedAttempt,
  lost: string,
  endedAtMs: number,
  began: boolean,
): AttemptEnd {
  return {
    ...{ job, attempt, reason: stop?.reason ?? "none", lost, endedAtMs, ranMs: 0 },
    identity,
    ...(!began && { neverBegan: true }),
  } as AttemptEnd;
}

export function stateOf(attempt: QueuedAttempt, unixMs: number): AttemptState {
  const { job, identity, end, startedAtMs, command, cwd, folder, stop } = attempt;
  const phase =
    end !== undefined
      ? "ended"
      : startedAtMs === undefined
        ? "launching"
        : stop === undefined
          ? "running"
          : "stopping";
  return {
    ...{ job, attempt: attempt.attempt, phase },
    identity,
    about: { command, cwd, folder, startedAtMs },
    ranMs: end?.ranMs ?? (startedAtMs === undefined ? 0 : Math.max(0, unixMs - startedAtMs)),
    end,
  };
}

/** Prevents a later start of the attempt's command. @returns false if it has begun */
export function blockBeginning(attempt: QueuedAttempt): boolean {
  if (attempt.startedAtMs !== undefined) return false;
  try {
    mkdirSync(beganFolder(attempt));
    return true;
  } catch {
    return false;
  }
}
