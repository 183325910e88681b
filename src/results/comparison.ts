/** What a comparison found: several policies over the same jobs on the same machine. */
import type { Instance } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";
import type { Summary } from "../metrics/summary.ts";
import type { MatrixRecord } from "./matrix-record.ts";

export interface Comparison {
  readonly instance: Instance;
  readonly workloadHash: string;
  /** Seed of the workload; undefined for a trace. */
  readonly seed: number | undefined;
  /** The rules of the run in words. */
  readonly rules: readonly string[];
  readonly made: { readonly version: string; readonly revision: string };
  /** The command that makes the same result again, where there is one. */
  readonly command: string | undefined;
  /** At least one; summaries made with the same metrics, classes and window. */
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
  /** Time sharing only, where a report wants it. */
  readonly matrix?: MatrixRecord | undefined;
  /** Summaries of further seeds with the same policy, this one's first; undefined without replications. */
  readonly replications: readonly Summary[] | undefined;
  /** What each of the replications was made from and gave, in the same order. */
  readonly replicationHashes?: readonly ReplicationHashes[] | undefined;
}

interface ReplicationHashes {
  readonly seed: number;
  /** Of the workload. */
  readonly name: string;
  readonly workload: string;
  readonly schedule: string;
}
