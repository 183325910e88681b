/**
 * Numbers of jobs that were given out and that the store does not know, because it is older: a backup was put back, or files were lost.
 * They are kept as ranges in the store, so that nobody is told that such a job has ended and is forgotten.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { Store } from "./store.ts";

/** What of a store is looked at. */
type Reader = Pick<Store, "meta" | "latestJob">;
type Range = readonly [first: JobNumber, last: JobNumber];

/** Names in the store's `meta`. */
const LOST_JOBS = "lost jobs";
const PASSED_OVER = "numbers passed over";

/** The highest number that the store can tell something of, be it that nothing is known of it. */
export function latestAccountedFor(store: Reader): JobNumber {
  const passedOver = Number(store.meta(PASSED_OVER) ?? 0);
  return Math.max(store.latestJob(), passedOver, ...rangesIn(store).map(([, last]) => last));
}

/** Notes that numbers up to this one are not given any more, though nobody may have got them. To be called inside a transaction. */
export function passOver(store: Store, last: JobNumber): void {
  if (last > latestAccountedFor(store)) store.setMeta(PASSED_OVER, String(last));
}

/** Notes that nothing is known of the numbers from here on up to this one. To be called between `begin` and `commit`. */
export function noteLostUpTo(store: Store, last: JobNumber): void {
  const first = latestAccountedFor(store) + 1;
  if (first > last) return;
  store.setMeta(LOST_JOBS, JSON.stringify([...rangesIn(store), [first, last]]));
}

export function isLost(store: Reader, job: JobNumber): boolean {
  return rangesIn(store).some(([first, last]) => job >= first && job <= last);
}

function rangesIn(store: Reader): Range[] {
  return JSON.parse(store.meta(LOST_JOBS) ?? "[]");
}
