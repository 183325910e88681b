/**
 * Describes how the capacity of a machine changes over time: when processors are unavailable (outages), when
 * jobs are stopped, when nothing starts (drains), and when waiting jobs are held or changed (withdrawals).
 *
 *   processors  7 ┌────┬────┬───────────
 *               6 │    │away│
 *               5 ├────┴────┴────┬──────
 *                 │   job 1   ···│
 *               0 └──────────────┴──────▶ time
 *
 * Outages at the same time never share a processor. A job that loses a processor is stopped: it keeps the
 * work done, and waits again with the rest of its estimate.
 */
import { InputError } from "./errors.ts";

/** Processors first … first + processors − 1 are unavailable from `fromS` to `untilS`. */
export interface Outage {
  readonly first: number;
  readonly processors: number;
  readonly fromS: number;
  readonly untilS: number;
  /**
   * When policies learn of the outage and of its end. Default: a sudden loss, whose end nobody knows in
   * advance.
   */
  readonly announcedS?: number | undefined;
}

/** A stop of a job from outside. It has no effect if the job is not running. */
export interface Stop {
  /** Its row in the table. */
  readonly job: number;
  readonly fromS: number;
  /** From then on the job waits again. */
  readonly untilS: number;
}

/** A time in which nothing starts, although running jobs continue. Nobody knows its end in advance. */
export interface Drain {
  readonly fromS: number;
  readonly untilS: number;
}

/**
 * A waiting job leaves the queue and arrives again, perhaps changed. It has no effect if the job does not
 * wait.
 */
export interface Withdrawal {
  /** Its row in the table. */
  readonly job: number;
  readonly fromS: number;
  /** Infinity if it never arrives again. May be equal to `fromS`. */
  readonly untilS: number;
  /** What the job has from `fromS` on. */
  readonly change?: JobChange | undefined;
}

export interface JobChange {
  readonly size?: number | undefined;
  readonly estimateS?: number | undefined;
  readonly priority?: number | undefined;
  /** Its queue, which matters for limits. */
  readonly queue?: string | undefined;
  /** How much it needs, by kind of resource. */
  readonly use?: Readonly<Record<string, number>> | undefined;
}

export interface Interruptions {
  readonly outages: readonly Outage[];
  /** The job gives its processors back. */
  readonly stops: readonly Stop[];
  /** The job stands still and keeps its processors. */
  readonly freezes?: readonly Stop[] | undefined;
  readonly drains?: readonly Drain[] | undefined;
  readonly withdrawals?: readonly Withdrawal[] | undefined;
}

/** A paused job is expected to stay paused as long as it has been already, and at least this long. */
const LEAST_PAUSE_S = 60;

/** How much longer a job is expected to be paused, live and simulated. */
export function expectedPauseS(pausedS: number): number {
  return Math.max(LEAST_PAUSE_S, pausedS);
}

/** The same for a table with other rows; undefined: the table does not have the job. */
export function forJobs(
  interruptions: Interruptions,
  rowOf: (row: number) => number | undefined,
): Interruptions {
  const moved = <OfJob extends { readonly job: number }>(list: readonly OfJob[] = []): OfJob[] =>
    list.flatMap((one) => {
      const job = rowOf(one.job);
      return job === undefined ? [] : [{ ...one, job }];
    });
  const { stops, freezes, withdrawals } = interruptions;
  return { ...interruptions, stops: moved(stops), freezes: moved(freezes), withdrawals: moved(withdrawals) };
}

/** What a policy knows about an outage that is not over. `untilS` is Infinity if the end is unknown. */
export type KnownOutage = Pick<Outage, "processors" | "fromS" | "untilS">;

/**
 * @throws InputError unless every outage is within the machine and no two share a processor at the same
 *   time
 */
export function checkOutages(outages: readonly Outage[], processors: number): void {
  for (const [i, outage] of outages.entries()) {
    const { first, fromS, untilS, announcedS = fromS } = outage;
    const end = first + outage.processors;
    const what = `Cannot take processors ${first} to ${end - 1} away from ${fromS} to ${untilS} s`;
    if (
      !(
        Number.isInteger(first) &&
        Number.isInteger(outage.processors) &&
        first >= 0 &&
        outage.processors >= 1
      )
    ) {
      throw new InputError(`${what}: expected whole numbers and at least 1 processor`);
    }
    if (end > processors) throw new InputError(`${what}: the machine has ${processors} processors`);
    if (!(fromS < untilS && announcedS <= fromS)) {
      throw new InputError(
        `${what}, announced at ${announcedS} s: an outage must end after it begins, and must be announced before it begins or when it begins`,
      );
    }
    const other = outages.findIndex(
      (earlier, k) =>
        k < i &&
        earlier.fromS < untilS &&
        fromS < earlier.untilS &&
        earlier.first < end &&
        first < earlier.first + earlier.processors,
    );
    if (other >= 0)
      throw new InputError(
        `${what}: outage ${other + 1} takes some of these processors away at the same time`,
      );
  }
}
