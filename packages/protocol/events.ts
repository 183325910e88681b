/**
 * Defines the data of each kind of event in the event log: small JSON. Keys may be added, but never removed.
 * The API answers with lists and maps as texts (daemon/book/event-texts.ts).
 */
import type { Event } from "./answers.ts";
import type { UpdateBody } from "./requests.ts";
import type { Units } from "./resources.ts";
import type { JobState } from "./states.ts";

/** How an attempt ended. `stray`: the store does not know the attempt. */
type AttemptOutcome = {
  readonly attempt: number;
  readonly reason: string;
  readonly ranMs: number;
  /** CPU time of its processes in ms, if it was counted. */
  readonly cpuMs?: number;
  /** Time in ms in which its GPUs were busy, summed over them, if it was measured. */
  readonly gpuMs?: number;
  readonly code?: number;
  readonly signal?: string;
  readonly stray?: boolean;
};

/** CPUs by node. */
type Cpus = readonly { readonly node: string; readonly cpus: readonly number[] }[];

/** Data by kind; undefined: the kind needs no data. */
export type EventPayloads = {
  /** `repeats`: the job that this one runs again. */
  readonly submitted: {
    readonly tasks: number;
    readonly threads?: number;
    readonly queue: string;
    readonly repeats?: number;
  };
  readonly held: { readonly because: string } | undefined;
  readonly released: undefined;
  readonly priority: { readonly before: number; readonly after: number };
  /** The changed fields: what they were, if they had a value, and what they are now. */
  readonly updated: {
    readonly by: string;
    readonly was: Partial<UpdateBody>;
    readonly now: Partial<UpdateBody>;
  };
  /** undefined: the job is running and has now been asked to end. */
  readonly cancelled:
    | { readonly reason: string | null }
    | { readonly attempt: number; readonly stray: boolean; readonly by: string }
    | undefined;
  /** A gang in a row of the matrix. */
  readonly placed:
    | { readonly row: number }
    | { readonly nodes: Cpus; readonly rule: string }
    | { readonly nodes: Cpus; readonly before: Cpus };
  readonly removed: { readonly row: number } | { readonly because: string };
  /** `timeMs` is the instant of the decision on the monotonic clock. */
  readonly starting: {
    readonly attempt: number;
    readonly nodes: Cpus;
    /** Units of countable resources. */
    readonly units?: Units;
    readonly rule: string;
    readonly timeMs: number;
  };
  /** `release`: other jobs may use its CPUs. */
  readonly paused: { readonly by: string; readonly release?: boolean };
  readonly resumed: { readonly by: string };
  readonly started: { readonly attempt: number; readonly startedAtMs: number };
  readonly ended: AttemptOutcome & { readonly state?: JobState };
  /** `nextAtMs`: the next attempt waits until this Unix time. */
  readonly requeued: AttemptOutcome & { readonly nextAtMs?: number };
  /** The begin of the job has come, or the wait before its next attempt is over: it joins the queue. */
  readonly eligible: { readonly attempt: number };
  /** Switched by an administrator; replaced after a failure; or rebuilt with the current jobs (adoption). */
  readonly policy:
    | { readonly before: string; readonly after: string; readonly by: string }
    | { readonly after: string; readonly because?: string }
    | { readonly policy: string; readonly adopted?: string };
  /** From now on, nothing starts. */
  readonly drained: { readonly by: string; readonly reason?: string };
  readonly undrained: { readonly by: string };
  readonly reserved: {
    readonly name: string;
    readonly fromMs: number;
    readonly untilMs: number;
    readonly by: string;
    readonly users?: readonly string[];
    readonly queues?: readonly string[];
    readonly reason?: string;
  };
  readonly unreserved: { readonly name: string; readonly by: string };
  /** `running`: jobs that it does not name and that still run; `jobs`: the first of them. */
  readonly "window-began": {
    readonly name: string;
    readonly running: number;
    readonly jobs?: readonly number[];
  };
  readonly "window-ended": { readonly name: string };
  /** The jobs of each row. */
  readonly matrix: {
    readonly sequence: number;
    readonly fromSlot: number;
    readonly rows: readonly (readonly number[])[];
  };
  readonly conductor:
    | { readonly pid?: number; readonly attempts: number }
    | { readonly refused: string }
    | undefined;
  /** The processors are others now. */
  readonly capacity: { readonly because: string; readonly cpus: number; readonly nodes: number };
  /** A rule for a fault of the cluster was applied. */
  readonly node: { readonly rule: string; readonly text: string; readonly node?: string };
  readonly recovered:
    | { readonly because: string }
    | { readonly attempt: number; readonly found: boolean }
    | { readonly attempt: number; readonly stray: boolean; readonly command: string };
};

export type EventKind = keyof EventPayloads;

/**
 * An event of any kind. Sequence numbers are assigned without gaps, and a client asks for the events after
 * the last one that it saw. The stored log has gaps because old events are forgotten.
 */
export type LoggedEvent = Omit<Event, "data"> & {
  readonly kind: EventKind;
  readonly data?: EventData;
};

/** JSON of any form. */
export type EventData = Readonly<Record<string, unknown>>;

/** An event as clients read it. */
export type DaemonEvent = Event & { readonly kind: EventKind };
