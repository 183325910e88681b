/**
 * The capacity of a machine as a function of time: when processors are away, and when jobs are stopped.
 *
 *   processors  7 ┌────┬────┬───────────
 *               6 │    │away│                an outage has processors of its own: at one time no two have one in common
 *               5 ├────┴────┴────┬──────
 *                 │   job 1   ···│           what stands on them when they go is stopped, keeps the work that it has done,
 *               0 └──────────────┴──────▶    and waits anew with what is left of its estimate
 */
import { InputError } from "./errors.ts";

/** Processors first … first + processors − 1 are away from one instant to another. */
export interface Outage {
  readonly first: number;
  readonly processors: number;
  readonly fromS: number;
  readonly untilS: number;
  /** When policies are told of it, with its end. Left out: a sudden loss, whose end they hear of when it has come. */
  readonly announcedS?: number | undefined;
}

/** A job that is stopped from outside. Without effect while it does not run. */
interface Stop {
  /** Its row in the table. */
  readonly job: number;
  readonly fromS: number;
  /** From then on it waits anew. */
  readonly untilS: number;
}

export interface Interruptions {
  readonly outages: readonly Outage[];
  readonly stops: readonly Stop[];
}

/** What a policy knows of an outage that is not over: from when to when how many processors are away; to Infinity where nobody knows. */
export type KnownOutage = Pick<Outage, "processors" | "fromS" | "untilS">;

/** @throws InputError unless every outage lies on the machine and no two have a processor in common at one time */
export function checkOutages(outages: readonly Outage[], processors: number): void {
  for (const [i, one] of outages.entries()) {
    const { first, fromS, untilS, announcedS = fromS } = one;
    const what = `Cannot take processors ${first} to ${first + one.processors - 1} away from ${fromS} to ${untilS} s`;
    if (!(Number.isInteger(first) && Number.isInteger(one.processors) && first >= 0 && one.processors >= 1)) {
      throw new InputError(`${what}: expected whole numbers, 1 processor or more`);
    }
    if (first + one.processors > processors) throw new InputError(`${what}: there are ${processors}`);
    if (!(fromS < untilS && announcedS <= fromS)) {
      throw new InputError(
        `${what}, told at ${announcedS} s: expected an end after the beginning, told by then`,
      );
    }
    const other = outages.findIndex(
      (two, k) =>
        k < i &&
        two.fromS < untilS &&
        fromS < two.untilS &&
        two.first < first + one.processors &&
        first < two.first + two.processors,
    );
    if (other >= 0) throw new InputError(`${what}: some are away by outage ${other + 1} then`);
  }
}
