/** What the event log tells: one typed map from the kind of an event to what it says. Small, flat, JSON; keys are only added. */
import type { Event } from "./answers.ts";
import type { JobState } from "./states.ts";

/** How an attempt ended. `stray`: one that the store does not know. */
type AttemptOutcome = {
  readonly attempt: number;
  readonly reason: string;
  readonly ranMs: number;
  readonly code?: number;
  readonly signal?: string;
  readonly stray?: boolean;
};

/** CPUs are a text such as `0,1`; where not all are of the scheduler's own machine, `nodes` says `n1:0 n2:1`. */
type Cpus = { readonly cpus: string; readonly nodes?: string };

/** By kind; undefined: the kind says it all. */
export type EventPayloads = {
  readonly submitted: { readonly tasks: number; readonly queue: string };
  readonly held: { readonly because: string } | undefined;
  readonly released: undefined;
  readonly priority: { readonly before: number; readonly after: number };
  /** undefined: it runs, and is asked to end. */
  readonly cancelled:
    | { readonly reason: string | null }
    | { readonly attempt: number; readonly stray: boolean; readonly by: string }
    | undefined;
  /** A gang in a row of the matrix. */
  readonly placed:
    | { readonly row: number }
    | (Cpus & { readonly rule: string })
    | (Cpus & { readonly before: string });
  readonly removed: { readonly row: number } | { readonly because: string };
  /** `timeMs` is the instant of the decision on the monotonic clock. */
  readonly starting: Cpus & {
    readonly attempt: number;
    readonly rule: string;
    readonly timeMs: number;
  };
  readonly started: { readonly attempt: number; readonly startedAtMs: number };
  readonly ended: AttemptOutcome & { readonly state?: JobState };
  readonly requeued: AttemptOutcome;
  /** Switched by an administrator; given up for another; made anew, with the jobs that there are. */
  readonly policy:
    | { readonly before: string; readonly after: string; readonly by: string }
    | { readonly after: string; readonly because?: string }
    | { readonly policy: string; readonly adopted?: string };
  /** `jobs`: the rows, with a bar between. */
  readonly matrix: {
    readonly sequence: number;
    readonly fromSlot: number;
    readonly rows: number;
    readonly jobs: string;
  };
  readonly conductor:
    | { readonly pid?: number; readonly attempts: number }
    | { readonly refused: string }
    | undefined;
  readonly recovered:
    | { readonly because: string }
    | { readonly attempt: number; readonly found: boolean }
    | { readonly attempt: number; readonly stray: boolean; readonly command: string };
};

export type EventKind = keyof EventPayloads;

/**
 * An event of any kind, to be read. Numbers are given without gaps, and a client asks for what came after the last one it saw; in what is kept
 * there are gaps where old ones are forgotten.
 */
export type DaemonEvent = Event & { readonly kind: EventKind };

export type EventData = NonNullable<Event["data"]>;
