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

export interface IdentifiedAttempt extends AttemptKey {
  /**
   * 32 random hexadecimal digits, made when the attempt was decided on. Claim and exit of the attempt carry it, and those of another identity are
   * never believed: numbers can come back with an older store, identities cannot. Left out: decided on under protocol 1.
   */
  readonly identity?: string;
}

/** All that the conductor needs to run an attempt. */
export interface LaunchSpec extends IdentifiedAttempt {
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

export interface AttemptEnd extends IdentifiedAttempt {
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

export interface AttemptState extends IdentifiedAttempt {
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

/** The Ousterhout matrix as it is turned. A gang may stand in several rows, with the same CPUs in each. */
export interface MatrixSchedule<Gang> {
  /** Grows by one with every change; an older matrix than the one held is ignored. */
  readonly sequence: number;
  /** 20 … 60,000. */
  readonly slotMs: number;
  /**
   * gang: gangs of other rows are stopped. concurrent: where two gangs share a CPU, those of other rows run in the idle
   * class, weighted by their grades of membership (Silva and Scherson 1999).
   */
  readonly mode: "gang" | "concurrent";
  /**
   * Number of a slot of the grid, epoch + k × slotMs, in which rows[0] has its turn: slot k belongs to row (k − fromSlot) mod rows.
   * So a change of the rows does not disturb the round. Left out: 0.
   */
  readonly fromSlot?: number;
  /** Rows in order of the round. A gang that is in no row is stopped. */
  readonly rows: readonly (readonly Gang[])[];
}

/** What may be asked for an attempt, or of all. Each may be said again, such as after a reconnect. */
export type AttemptCommand =
  /**
   * Starts an attempt, which waits until its row has a slot. Answered by `launched` when the command begins then, or by `ended` if it
   * could not be started. Said again, it is answered again and nothing is run twice.
   */
  | { readonly type: "launch"; readonly spec: LaunchSpec }
  /** TERM, then KILL of the whole tree after the grace time; `kill` at once. A stopped gang is continued for it. */
  | {
      readonly type: "stop";
      readonly attempt: AttemptKey;
      readonly kill: boolean;
      readonly reason: EndReason;
      /** Stops the attempt of this identity only; left out: whichever has that number. */
      readonly identity?: string;
    }
  /** The front end has written the end to its store; the conductor may forget the attempt. With `identity`: only the attempt that has it. */
  | { readonly type: "forget"; readonly attempt: AttemptKey; readonly identity?: string }
  /**
   * The store does not know this attempt, and nobody has said yet what is to become of it: it runs on whatever the rows are, beside the gangs, until
   * it ends or is stopped. It holds until the next front end says hello and sends a matrix without saying this again. With `identity`: only for the
   * attempt that has it. Protocol 2.
   */
  | { readonly type: "keep"; readonly attempt: AttemptKey; readonly identity?: string }
  /** Kills what is left, removes cgroups, exits. Without `killJobs` it refuses while attempts run. */
  | { readonly type: "shutdown"; readonly killJobs: boolean };

/** What is told of attempts and of the clock of the slots. */
export type AttemptReport =
  | {
      readonly type: "launched";
      readonly attempt: AttemptKey;
      /** That of the launch, if it had one. */
      readonly identity?: string;
      readonly shim: ProcessIdentity;
      readonly startedAtMs: number;
    }
  | { readonly type: "ended"; readonly end: AttemptEnd }
  | { readonly type: "slots"; readonly statistics: SlotStatistics }
  | { readonly type: "refused"; readonly message: string };
