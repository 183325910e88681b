/** Defines what an executor needs of a batch system, such as Slurm, whose jobs are attempts. */
import type { EndReason, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { Capabilities } from "../executor.ts";

/** What can be done with jobs of any batch system. @param name of it, for people */
export function inQueueOf(name: string): Capabilities {
  return {
    tasksRunEach: false,
    modeConcurrent: `users cannot run gangs at low priority in ${name}, expected the mode "gang"`,
    signalsBeforeLimit: `jobs of this scheduler run under ${name}`,
    resources: `nodes of ${name} have resources of their own`,
    canPause: `it is a job of ${name}, which only ${name} can suspend`,
    beginsAtOnce: `${name} decides when jobs begin`,
    timeSharing: false,
    movesGangs: false,
    offByWord: `${name} itself says when nothing runs on a node`,
    endsWithReboot: false,
    hasNodes: true,
  };
}

/** A job in the batch system's queue. */
export interface BatchJob {
  readonly id: string;
  /** The mark with which it was submitted. A job with another one is not ours, whatever its id. */
  readonly mark: string;
  /** again: the batch system has queued it again after a start. */
  readonly phase: "waiting" | "running" | "again" | "ended";
  /** It waits until somebody releases it. */
  readonly isHeld: boolean;
  /** Unix time in ms of its start; undefined: unknown. */
  readonly startedAtMs: number | undefined;
  /** What the batch system says about it, as a sentence, if it has not ended. */
  readonly note: string;
}

/** What can be done with a job; signals go to all of its processes. */
export type Order = "release" | "TERM" | "KILL" | "cancel";

/** What the batch system knows of a single job. Unix times in ms. */
export interface ShownBatchJob {
  /** Empty if the batch system has not kept it. */
  readonly mark: string;
  readonly hasEnded: boolean;
  /** The batch system's word for its state. */
  readonly state: string;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number;
  /** Why the batch system ended it. */
  readonly reason: EndReason;
  /** How its script ended by itself; empty: unknown. */
  readonly status: { readonly code?: number } | { readonly signal?: string };
}

/** Its methods throw `ProviderError` for answers that are no, and when there is no answer. */
export interface BatchSystem {
  /** For people. */
  readonly name: string;
  /** Time until a job starts that need not wait, such as "about 3 s". */
  readonly startsAfter: string;
  /** Its name for programs: of its notices, and in place of the machine of a process. */
  readonly kind: string;
  /**
   * Submits the attempt's job, held, with the mark. Its script makes the folder `began` of the attempt before
   * anything else, and ends if it is there: the batch system may start the job again.
   * @returns its id
   */
  submit(spec: LaunchSpec, mark: string): Promise<string>;
  /** Only a release fails if the job has ended. */
  give(id: string, order: Order): Promise<void>;
  /** All jobs of this user. */
  queue(): Promise<readonly BatchJob[]>;
  /** undefined: it does not know the job any longer. */
  shown(id: string): Promise<ShownBatchJob | undefined>;
}
