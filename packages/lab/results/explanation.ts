/** Defines the facts that explain why a job started when it did. */
import type { StartRule } from "@tutti/kernel/core/policy.ts";

/** A job as the explanation names it. */
export interface NamedJob {
  /** Number in the source. */
  readonly id: number;
  readonly size: number;
}

/** What kept the job from starting at the first decision after its arrival. */
export type Obstacle =
  /** Nothing: it started at the instant of its arrival. */
  | { readonly kind: "none" }
  /** Too few processors were free after the decision. */
  | { readonly kind: "size"; readonly free: number; readonly missing: number }
  /** Enough processors were free, but another job held a reservation. */
  | {
      readonly kind: "reservation";
      readonly free: number;
      readonly holder: NamedJob;
      readonly promisedS: number;
    }
  /**
   * Enough processors were free, but the queue is served in order and `head` was first; undefined if this job
   * was first itself.
   */
  | { readonly kind: "queue"; readonly free: number; readonly head: NamedJob | undefined };

/** A reservation of another job, held while the job waited. */
export interface HeldReservation extends NamedJob {
  /** Limited to the time between the job's arrival and its start. */
  readonly fromS: number;
  readonly untilS: number;
  readonly firstPromisedS: number;
  readonly lastPromisedS: number;
  /** How often the promised time changed. */
  readonly changes: number;
  /** Start of the holder; null if it never started. */
  readonly startS: number | null;
}

/** A job that started while this one waited, although it came later or was after it in the queue. */
export interface Passer extends NamedJob {
  readonly submitS: number;
  readonly startS: number;
  readonly runS: number;
  readonly rule: StartRule;
  /** Whether it came later but is before this job in queue order. */
  readonly isAheadInOrder: boolean;
}

/** A running job, with the expected and the actual time at which it frees its processors. */
export interface RunningJob extends NamedJob {
  readonly expectedEndS: number;
  readonly endS: number;
}

/** A list that is cut after a few entries, with the number of all entries. */
interface Listed<T> {
  readonly count: number;
  readonly listed: readonly T[];
}

/** The facts for space sharing. Times are in seconds. */
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
  /**
   * The running jobs that, according to their estimates, would first free enough processors for it if no
   * waiting job took them.
   */
  readonly hadToEnd: Listed<RunningJob>;
  /**
   * The jobs that still waited before it in queue order after the first decision since its arrival. Their
   * work is processors × estimate, in processor-seconds.
   */
  readonly inFront: { readonly count: number; readonly processors: number; readonly workS: number };
  /** Jobs that ended at the instant of its start. */
  readonly freedBy: Listed<NamedJob> & { readonly processors: number };
  /**
   * First instant at which enough processors were free for it after the decision; null if there was none
   * before its start.
   */
  readonly firstRoomS: number | null;
  /**
   * Its own promises: when each was made, and for which time. If there are many, the first ones and the last
   * one.
   */
  readonly promises: Listed<{ readonly atS: number; readonly startS: number }>;
  readonly reservations: Listed<HeldReservation>;
  /** The list has those with the most processor-seconds. */
  readonly passers: Listed<Passer> & {
    readonly processorSeconds: number;
    readonly byRule: readonly {
      readonly rule: StartRule;
      readonly isAheadInOrder: boolean;
      readonly count: number;
    }[];
  };
  /**
   * Parts of the wait: too few processors were free; enough were free but kept for a reservation; enough were
   * free but it was not its turn.
   */
  readonly waitParts: {
    readonly tooFewFreeS: number;
    readonly reservedS: number;
    readonly notItsTurnS: number;
  };
}

/** The facts for time sharing. */
export interface GangFacts {
  readonly sharing: "time";
  readonly slotS: number;
  /** null if it was never placed. */
  readonly placedS: number | null;
  /**
   * Position of its first row in the round, from 1, and the number of rows after the decision that placed it.
   */
  readonly position: number;
  readonly rowsThen: number;
  /** The first and last processor of each of its stretches. It keeps them until it migrates. */
  readonly processors: readonly (readonly [first: number, last: number])[];
  /** Its work in whole slots. */
  readonly workSlots: number;
  /** From its placing to its end, weighted by time. */
  readonly meanRows: number;
  readonly mostRows: number;
  /** Its slots per round, weighted by time. */
  readonly meanSlots: number;
  /**
   * Extra slots per round that it was given and that were taken back, and how often it was moved to another
   * row.
   */
  readonly slotsGiven: number;
  readonly slotsTaken: number;
  readonly moves: number;
  /** How often it was moved to other processors, and the seconds of service that this cost. */
  readonly migrations: number;
  readonly migrationS: number;
  /** Changes of its slots per round; only the first ones if there are many. */
  readonly changes: readonly { readonly atS: number; readonly slots: number; readonly rows: number }[];
  /** Time in the system ÷ its work in slots. */
  readonly slowdown: number;
}

export interface Explanation {
  readonly policy: string;
  readonly job: NamedJob & {
    readonly submitS: number;
    readonly estimateS: number;
    readonly runS: number;
    /** null if it never started. */
    readonly startS: number | null;
    readonly endS: number | null;
  };
  readonly processors: number;
  readonly rule: StartRule | null;
  readonly facts: SpaceFacts | GangFacts;
}
