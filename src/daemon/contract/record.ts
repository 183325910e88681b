/**
 * Describes a job as the front end keeps it, in one of these states:
 *
 *   queued ⇄ held        the policy sees the job only while it is queued and its dependencies are met
 *     │
 *   starting             a decision gave it CPUs; the attempt is written to disk, then sent to the conductor
 *     │
 *   running              the conductor has launched it (under time sharing, also while it is stopped)
 *     │
 *   ending               the front end has asked the job to end
 *     │
 *   done, failed, cancelled        or back to queued for a restart
 *
 * Records are immutable: a change makes a new one. So if a cycle cannot be written to disk, it is rolled back
 * by restoring the old records.
 */
import { type NodeCpus, THIS_NODE } from "../../core/machine.ts";
import type { EndReason } from "../../protocol/attempts.ts";
import type { Job, SubmitJob } from "../../protocol/schema.ts";
import type { Caller } from "./service.ts";

/** Fields that users see unchanged; optional ones may also be undefined. */
type Shown = Omit<Job, "cpus" | "nodes" | "after">;
type OrUndefined<T> = {
  readonly [Field in keyof T]: T extends Required<Pick<T, Field>> ? T[Field] : T[Field] | undefined;
};

export interface JobRecord extends OrUndefined<Shown>, Required<Pick<SubmitJob, "after" | "retries">> {
  /** Maximum number of jobs of the array that may be in flight at a time. */
  readonly arrayLimit?: number | undefined;
  readonly uid: number;
  /** How the queue was chosen, as text. */
  readonly queueReason?: string | undefined;
  /** Id of the script in the store, which jobs share, and index of the word of the command that names it. */
  readonly script?: number | undefined;
  readonly scriptWord?: number | undefined;
  /** Expected running time that policies see. */
  readonly estimateMs: number;
  /** File mode creation mask; undefined: the job is from the first release, which used 022 for all jobs. */
  readonly umask?: number | undefined;
  readonly key?: string | undefined;
  /** Id of the environment in the store, where environments are shared. */
  readonly environment: number;
  /** Order among jobs of one priority: grows with each job that enters the queue; a restart keeps it. */
  readonly queueRank: number;
  /**
   * Identity of the attempt, kept until the job ends; undefined: reports without an identity are accepted.
   */
  readonly identity?: string | undefined;
  /** Current CPUs, or the last ones. */
  readonly nodes: readonly NodeCpus[];
  /** Why the job was asked to end; only in the state ending. */
  readonly ending?: EndReason | undefined;
}

export function mayAccess(caller: Caller, record: Pick<JobRecord, "uid">): boolean {
  return caller.isAdministrator || caller.uid === record.uid;
}

/** The job as users see it. For a waiting job, `reason` says why it waits. */
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

/** CPUs as users see them: their numbers, and their nodes unless all belong to this machine. */
export function shownCpus(nodes: readonly NodeCpus[]) {
  const isElsewhere = nodes.some(({ node }) => node !== THIS_NODE);
  return { cpus: nodes.flatMap(({ cpus }) => cpus), ...(isElsewhere && { nodes }) };
}

/** Whether job a is served before job b, unless the policy orders them otherwise. */
export function servedBefore(
  a: Pick<JobRecord, "priority" | "queueRank">,
  b: Pick<JobRecord, "priority" | "queueRank">,
): boolean {
  return a.priority === b.priority ? a.queueRank < b.queueRank : a.priority > b.priority;
}
