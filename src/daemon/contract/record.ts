/**
 * A job as the front end keeps it. Records are never changed: a change makes a new one, so that a cycle that could not be written
 * to disk is taken back by putting the old ones in place.
 *
 *   queued ⇄ held        told to the policy only while queued and its dependencies are met
 *     │
 *   starting             a decision gave it CPUs; the attempt is on disk, then the conductor is told
 *     │
 *   running              the conductor has launched it (with time sharing also while it is stopped)
 *     │
 *   ending               we want it gone
 *     │
 *   done, failed, cancelled        or back to queued, when it is started anew
 */
import { type NodeCpus, THIS_NODE } from "../../core/machine.ts";
import type { EndReason } from "../../protocol/attempts.ts";
import type { Job, SubmitJob } from "../../protocol/schema.ts";
import type { Caller } from "./service.ts";

/** Fields that users see as they are kept; what is left out may be undefined as well. */
type Shown = Omit<Job, "cpus" | "nodes" | "after">;
type OrUndefined<T> = {
  readonly [Field in keyof T]: T extends Required<Pick<T, Field>> ? T[Field] : T[Field] | undefined;
};

export interface JobRecord extends OrUndefined<Shown>, Required<Pick<SubmitJob, "after" | "retries">> {
  /** So many jobs of the array may go at a time. */
  readonly arrayLimit?: number | undefined;
  readonly uid: number;
  /** How the queue was chosen, in words. */
  readonly queueReason?: string | undefined;
  /** Number of the script in the store, and which word of the command names it; scripts are shared. */
  readonly script?: number | undefined;
  readonly scriptWord?: number | undefined;
  /** What policies are told of the running time. */
  readonly estimateMs: number;
  /** File mode creation mask; undefined: of a job that the first release took, which ran all with 022. */
  readonly umask?: number | undefined;
  readonly key?: string | undefined;
  /** Number of the environment in the store; environments are shared. */
  readonly environment: number;
  /** Order among jobs of one priority: grows with each job that comes to wait; kept when a job is started anew. */
  readonly queueRank: number;
  /** Of the attempt, while the job has not ended; undefined: it has none, and is believed without. */
  readonly identity?: string | undefined;
  /** CPUs that it has, or had last. */
  readonly nodes: readonly NodeCpus[];
  /** Why we want it gone, while it is ending. */
  readonly ending?: EndReason | undefined;
}

export function mayTouch(caller: Caller, record: Pick<JobRecord, "uid">): boolean {
  return caller.isAdministrator || caller.uid === record.uid;
}

/** What users see. `reason` is why it waits, where it waits. */
export function infoOf(record: JobRecord, ranMs = record.ranMs, reason = record.reason): Job {
  const { array, arrayIndex, limitMs, memoryBytes, startedAtMs, endedAtMs, code, signal } = record;
  return {
    job: record.job,
    ...(array !== undefined && { array }),
    ...(arrayIndex !== undefined && { arrayIndex }),
    name: record.name,
    user: record.user,
    queue: record.queue,
    state: record.state,
    tasks: record.tasks,
    priority: record.priority,
    command: record.command,
    cwd: record.cwd,
    ...(limitMs !== undefined && { limitMs }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    attempt: record.attempt,
    submittedAtMs: record.submittedAtMs,
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(endedAtMs !== undefined && { endedAtMs }),
    ranMs,
    ...(code !== undefined && { code }),
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
    stdout: record.stdout,
    stderr: record.stderr,
    ...shownCpus(record.nodes),
    after: record.after.map(({ job }) => job),
  };
}

/** CPUs as users see them: their numbers, and of which nodes they are, unless they are all of this machine. */
export function shownCpus(nodes: readonly NodeCpus[]) {
  const isElsewhere = nodes.some(({ node }) => node !== THIS_NODE);
  return { cpus: nodes.flatMap(({ cpus }) => cpus), ...(isElsewhere && { nodes }) };
}

/** The job is served before the other one, where the policy makes no difference. */
export function servedBefore(
  a: Pick<JobRecord, "priority" | "queueRank">,
  b: Pick<JobRecord, "priority" | "queueRank">,
): boolean {
  return a.priority === b.priority ? a.queueRank < b.queueRank : a.priority > b.priority;
}
