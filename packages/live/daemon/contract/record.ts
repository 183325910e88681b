/**
 * Describes a job as the front end keeps it, in one of these states:
 *
 *   queued ⇄ held        the policy sees the job only while it is queued, its dependencies are met, and it
 *     │                  waits neither for its begin nor for its next attempt (`notBeforeMs`)
 *     │
 *   starting             a decision gave it CPUs; the attempt is written to disk, then sent to the conductor
 *     │
 *   running              the conductor has launched it (under time sharing, also while it is stopped)
 *     │
 *     │
 *   (paused)             between running and running again: its processes are stopped, in no row
 *     │
 *   ending               the front end has asked the job to end
 *     │
 *   done, failed, cancelled        or back to queued for a restart
 *
 * Records are immutable: a change makes a new one. So if a cycle cannot be written to disk, it is rolled back
 * by restoring the old records.
 */
import { type NodeCpus, THIS_NODE } from "@tutti/kernel/core/machine.ts";
import type { EndReason } from "@tutti/protocol/attempts.ts";
import { fieldsWith } from "@tutti/protocol/job-fields.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { commandWithValues } from "@tutti/protocol/sweep-values.ts";
import { type Dependency, isConditional, kindOf } from "./dependencies.ts";

/** Fields that users see unchanged; optional ones may also be undefined. */
type Shown = Omit<Job, "cpus" | "nodes" | "after" | "afterKinds" | "retries" | "news">;
type OrUndefined<T> = {
  readonly [Field in keyof T]: T extends Required<Pick<T, Field>> ? T[Field] : T[Field] | undefined;
};

/** The command is the one of the request: users see it with the job's values in it. */
export interface JobRecord extends OrUndefined<Shown>, Required<Pick<SubmitJob, "retries">> {
  readonly after: readonly Dependency[];
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
  /**
   * Why the job was asked to end; only in the state ending. made-room: the processors are taken away, so the
   * job is queued again.
   */
  readonly ending?: EndReason | "made-room" | undefined;
  /**
   * The names of the output files as they were requested, with their placeholders: what it takes to run the
   * job again, in addition to its environment and script. Undefined: these are no longer kept.
   */
  readonly repeat?: Pick<SubmitJob, "stdout" | "stderr"> | undefined;
  /** Attempts that do not count against the retries: their command never began. */
  readonly uncharged?: number | undefined;
}

/** Fields that answers make of several. */
const MADE: ReadonlySet<string> = new Set(
  "command retries notBeforeMs after afterKinds cpus nodes stdout stderr".split(" "),
);
/** Fields that answers take from the record as they are. */
const SHOWN = fieldsWith("answer").filter((field) => !MADE.has(field)) as readonly (keyof JobRecord &
  keyof Job)[];

/** The job as users see it. For a waiting job, `reason` says why it waits. */
export function infoOf(record: JobRecord, ranMs = record.ranMs, reason = record.reason): Job {
  const { retries, notBeforeMs, after } = record;
  const info: { -readonly [Field in keyof Job]?: unknown } = {};
  // Lists have up to 100,000 jobs, and Object.assign takes twice as long.
  for (const field of SHOWN) {
    const value = record[field];
    if (value !== undefined) info[field] = value;
  }
  info.ranMs = ranMs;
  if (reason !== undefined) info.reason = reason;
  if (retries > 0) info.retries = retries;
  if (notBeforeMs !== undefined && !isEnded(record.state)) info.notBeforeMs = notBeforeMs;
  info.command = commandWithValues(record.command, record.values, record.scriptWord);
  const { stdout, stderr } = outputsOf(record);
  info.stdout = stdout;
  info.stderr = stderr;
  const { cpus, nodes } = shownCpus(record.nodes);
  info.cpus = cpus;
  if (nodes !== undefined) info.nodes = nodes;
  info.after = after.map(({ job }) => job);
  if (after.some(isConditional)) info.afterKinds = after.map(kindOf);
  return info as Job;
}

/** Starts that count against the retries. */
export function chargedStarts({ attempt, uncharged = 0 }: Pick<JobRecord, "attempt" | "uncharged">): number {
  return attempt - uncharged;
}

/** CPUs as users see them: their numbers, and their nodes unless all belong to this machine. */
export function shownCpus(nodes: readonly NodeCpus[]) {
  return { cpus: nodes.flatMap(({ cpus }) => cpus), ...(isElsewhere(nodes) && { nodes }) };
}

/** Stands for the first node of the gang in paths of outputs. No path contains this character. */
export const FIRST_NODE = "\0";

/** Paths of the outputs of the present attempt, or of the last one; with %N if no node is known. */
export function outputsOf({ stdout, stderr, nodes }: Pick<JobRecord, "stdout" | "stderr" | "nodes">) {
  const node = nodes.length === 0 ? "%N" : nodes[0].node;
  return { stdout: stdout.replaceAll(FIRST_NODE, node), stderr: stderr.replaceAll(FIRST_NODE, node) };
}

/** Whether some CPUs are on other nodes than this machine. */
export function isElsewhere(nodes: readonly NodeCpus[]): boolean {
  return nodes.some(({ node }) => node !== THIS_NODE);
}

/** Whether job a is served before job b, unless the policy orders them otherwise. */
export function servedBefore(
  a: Pick<JobRecord, "priority" | "queueRank">,
  b: Pick<JobRecord, "priority" | "queueRank">,
): boolean {
  return a.priority === b.priority ? a.queueRank < b.queueRank : a.priority > b.priority;
}
