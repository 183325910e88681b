/** Words that the front end, what executes its decisions, and a conductor have in common: jobs, their attempts, and how those end. */
import type { ProcessIdentity } from "../host/processes.ts";

/** Number of a job, as users see it; never used again. */
export type JobNumber = number;

/** One try to run a job: a job that is requeued gets the next attempt. */
export interface AttemptKey {
  readonly job: JobNumber;
  /** 1, 2, … */
  readonly attempt: number;
}

/** All that the conductor needs to run an attempt. */
export interface LaunchSpec extends AttemptKey {
  /**
   * 32 random hexadecimal digits, made when the attempt was decided on. Claim and exit of the attempt carry it, and those of another identity are
   * never believed: numbers can come back with an older store, identities cannot. Left out: decided on under protocol 1.
   */
  readonly identity?: string;
  /** Folder of the attempt, made by the front end and belonging to `uid`; absolute. The shim's files lie in it. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; parent folders exist. Opened for appending by the shim, never a pipe. */
  readonly stdout: string;
  readonly stderr: string;
  /**
   * User and group to run as. A conductor run by root refuses a launch without them, any other one a launch for another user than its own.
   * Left out: the conductor's, in attempts of the first release.
   */
  readonly uid?: number;
  readonly gid?: number;
  /** Bytes, for the whole gang; undefined: no limit. Kept by a memory cgroup where there is one. */
  readonly memoryBytes?: number;
  /** File mode creation mask of the job, 0 … 0o777; left out: 0o022, as in the first release. */
  readonly umask?: number;
  /** Limit on running time in ms, counted only while the gang's row has its slots; undefined: none. */
  readonly limitMs?: number;
  /** Time from TERM to KILL in ms. */
  readonly graceMs: number;
}

/** Why an attempt was ended by us; `none` when it ended by itself. */
export type EndReason = "none" | "cancelled" | "time-limit" | "memory-limit" | "shutdown" | "requeued";

export interface AttemptEnd extends AttemptKey {
  /** That of the launch, if it had one. */
  readonly identity?: string;
  /** Exit code 0 … 255, or undefined when a signal ended it or it was lost. */
  readonly code?: number;
  /** Such as SIGKILL. */
  readonly signal?: string;
  readonly reason: EndReason;
  /** Set when there is no exit status: it never started, or the shim was killed with it. For people. */
  readonly lost?: string;
  /** It was lost and certainly never ran its command, so that starting it anew runs nothing twice. */
  readonly neverBegan?: true;
  /** Unix time in ms. */
  readonly endedAtMs: number;
  /** Time that its rows had the processors, in ms. */
  readonly ranMs: number;
  /** CPU time of the whole tree, in ms, where a cgroup tells it. */
  readonly cpuMs?: number;
}

export interface AttemptState extends AttemptKey {
  /** That of the launch, if it had one. */
  readonly identity?: string;
  /** For people who must decide about an attempt that the store does not know. Protocol 2. */
  readonly about?: {
    /** Left out: the conductor's own user. */
    readonly uid?: number;
    readonly command: readonly string[];
    readonly cwd: string;
    readonly folder: string;
    readonly startedAtMs?: number;
  };
  readonly phase: "launching" | "running" | "stopping" | "ended";
  readonly shim?: ProcessIdentity;
  readonly ranMs: number;
  readonly end?: AttemptEnd;
}

/** How well the clock was kept since the last such message. */
export interface SlotStatistics {
  readonly slots: number;
  /** Lateness of the switches in ms. */
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
  /** Time spent in the calls of a switch, in µs. */
  readonly switchP50Us: number;
  readonly switchP99Us: number;
  /** Boundaries passed over because the conductor was late by more than a slot. */
  readonly skipped: number;
  /** CPU share of each gang in its own slots since the last message, 0 … 1 of its CPUs. */
  readonly gangs: readonly {
    readonly job: JobNumber;
    readonly share: number;
    readonly gradeCompute: number;
  }[];
}

/** How gangs are stopped on this machine, best first. */
export type FreezerKind = "cgroup2" | "cgroup1" | "signals";
