/** Why a job started when it did, as facts. */
import type { StartRule } from "../core/policy.ts";

/** A job as the explanation names it. */
export interface NamedJob {
  /** Number in the source. */
  readonly id: number;
  readonly size: number;
}

/** What stood in the way when the job was first decided on and did not start. */
export type Obstacle =
  /** It started in the instant in which it arrived. */
  | { readonly kind: "none" }
  /** Too few processors were free after the decision. */
  | { readonly kind: "size"; readonly free: number; readonly missing: number }
  /** Enough were free, but another job held a reservation. */
  | {
      readonly kind: "reservation";
      readonly free: number;
      readonly holder: NamedJob;
      readonly promisedS: number;
    }
  /** Enough were free, but the queue is served in order and another job was before it; undefined when it was first itself. */
  | { readonly kind: "queue"; readonly free: number; readonly head: NamedJob | undefined };

/** A reservation of another job, held while the job waited. */
export interface HeldReservation extends NamedJob {
  /** From the job's arrival, or later, to its start, or earlier. */
  readonly fromS: number;
  readonly untilS: number;
  readonly firstPromisedS: number;
  readonly lastPromisedS: number;
  /** How often the promise was replaced by an earlier one (or a later one). */
  readonly changes: number;
  /** Start of the holder; null when it never started. */
  readonly startS: number | null;
}

/** A job that started while this one waited, though it was behind in the queue or came later. */
export interface Passer extends NamedJob {
  readonly submitS: number;
  readonly startS: number;
  readonly runS: number;
  readonly rule: StartRule;
  /** It came later but stands before this job in queue order. */
  readonly isAheadInOrder: boolean;
}

/** A running job, and when its processors were expected to be free and were. */
export interface RunningJob extends NamedJob {
  readonly expectedEndS: number;
  readonly endS: number;
}

/** So many there are; at most a few are listed. */
interface Listed<T> {
  readonly count: number;
  readonly listed: readonly T[];
}

/** What counts in space sharing. Times in seconds. */
export interface SpaceFacts {
  readonly sharing: "space";
  /** At its arrival, before the decision. */
  readonly arrival: {
    readonly free: number;
    readonly running: number;
    /** Waiting jobs before it in queue order, and their processors. */
    readonly queued: number;
    readonly queuedProcessors: number;
  };
  readonly obstacle: Obstacle;
  /** Running jobs whose ends, by their estimates, would have freed enough for it first. */
  readonly hadToEnd: Listed<RunningJob>;
  /** Jobs that ended in the instant in which it started. */
  readonly freedBy: Listed<NamedJob> & { readonly processors: number };
  /** First instant after whose decision enough processors were free for it; null when that never was before its start. */
  readonly firstRoomS: number | null;
  /** Its own promises over time: when made, for when. First and last ones when there are many. */
  readonly promises: Listed<{ readonly atS: number; readonly startS: number }>;
  readonly reservations: Listed<HeldReservation>;
  /** Listed are those with most processor-seconds. */
  readonly passers: Listed<Passer> & {
    readonly processorSeconds: number;
    readonly byRule: readonly {
      readonly rule: StartRule;
      readonly isAheadInOrder: boolean;
      readonly count: number;
    }[];
  };
  /** Parts of the wait: too few processors free; enough free but kept for a reservation; enough free but not its turn. */
  readonly waitParts: {
    readonly tooFewFreeS: number;
    readonly reservedS: number;
    readonly notItsTurnS: number;
  };
}

/** What counts in time sharing. */
export interface GangFacts {
  readonly sharing: "time";
  readonly slotS: number;
  /** null when it was never placed. */
  readonly placedS: number | null;
  /** Position of its first row in the round, from 1, and the number of rows after the decision that placed it. */
  readonly position: number;
  readonly rowsThen: number;
  /** Its processors, which it keeps until it migrates: first and last of each stretch that stands side by side. */
  readonly processors: readonly (readonly [first: number, last: number])[];
  /** Whole slots of work. */
  readonly workSlots: number;
  /** From its placing to its end, weighted by time. */
  readonly meanRows: number;
  readonly mostRows: number;
  /** Slots per round that it had, weighted by time. */
  readonly meanSlots: number;
  /** Slots per round given and taken after the first, and times its runs were moved to other rows. */
  readonly slotsGiven: number;
  readonly slotsTaken: number;
  readonly moves: number;
  /** Times it was moved to other processors, and the seconds of service that it lost by that. */
  readonly migrations: number;
  readonly migrationS: number;
  /** Changes of its slots per round; first ones when there are many. */
  readonly changes: readonly { readonly atS: number; readonly slots: number; readonly rows: number }[];
  /** Time in the system over its work in slots. */
  readonly slowdown: number;
}

export interface Explanation {
  readonly policy: string;
  readonly job: NamedJob & {
    readonly submitS: number;
    readonly estimateS: number;
    readonly runS: number;
    /** null when it never started. */
    readonly startS: number | null;
    readonly endS: number | null;
  };
  readonly processors: number;
  readonly rule: StartRule | null;
  readonly facts: SpaceFacts | GangFacts;
}
