/** Defines the result of a comparison: several policies on the same jobs and the same machine. */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import type { Summary } from "@tutti/kernel/metrics/summary.ts";
import type { Verdict } from "@tutti/kernel/metrics/verdict.ts";
import type { MatrixRecord } from "./matrix-record.ts";

export interface Comparison {
  readonly instance: Instance;
  readonly workloadHash: string;
  /** Seed of the workload; undefined for a trace. */
  readonly seed: number | undefined;
  /** The rules of the run in words. */
  readonly rules: readonly string[];
  readonly made: { readonly version: string; readonly revision: string };
  /** The command that makes the same result again, if there is one. */
  readonly command: string | undefined;
  /** At least one. All summaries have the same metrics, classes and window. */
  readonly policies: readonly ComparedPolicy[];
}

export interface ComparedPolicy {
  /** As written on the command line. */
  readonly label: string;
  readonly title: string;
  /** The policy's own rules in words. */
  readonly rules: readonly string[];
  readonly summary: Summary;
  readonly schedule: Schedule;
  readonly scheduleHash: string;
  /** What this policy would have done; only for the history of a site, which says what happened. */
  readonly verdict?: Verdict | undefined;
  /** Only for time sharing, and only if a report needs it. */
  readonly matrix?: MatrixRecord | undefined;
  /** Summaries of all seeds, beginning with `summary`; undefined without replications. */
  readonly replications: readonly Summary[] | undefined;
  /** Seed, workload and schedule of each replication, in the same order. */
  readonly replicationHashes?: readonly ReplicationHashes[] | undefined;
}

interface ReplicationHashes {
  readonly seed: number;
  /** Of the workload. */
  readonly name: string;
  readonly workload: string;
  readonly schedule: string;
}
