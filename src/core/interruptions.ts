/**
 * Describes how the capacity of a machine changes over time: when processors are unavailable (outages), and
 * when jobs are stopped.
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
interface Stop {
  /** Its row in the table. */
  readonly job: number;
  readonly fromS: number;
  /** From then on the job waits again. */
  readonly untilS: number;
}

export interface Interruptions {
  readonly outages: readonly Outage[];
  readonly stops: readonly Stop[];
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
