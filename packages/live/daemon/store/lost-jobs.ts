/**
 * Records lost jobs. Their numbers were given, but the store does not know them, because a backup was
 * restored or files were lost. The store keeps their numbers as ranges, so they are not reported as ended and
 * forgotten.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { Store } from "./store.ts";

/** The part of a store that is read. */
type Reader = Pick<Store, "meta" | "latestJob">;
type Range = readonly [first: JobNumber, last: JobNumber];

/** Keys in the store's `meta`. */
const LOST_JOBS = "lost jobs";
const PASSED_OVER = "numbers passed over";

/** The highest number that the store accounts for: its job is known, lost, or the number was skipped. */
export function latestAccountedFor(store: Reader): JobNumber {
  const passedOver = Number(store.meta(PASSED_OVER) ?? 0);
  return Math.max(store.latestJob(), passedOver, ...rangesIn(store).map(([, last]) => last));
}

/**
 * Skips all numbers up to this one, because they may have been given. Must be called inside a transaction.
 */
export function passOver(store: Store, last: JobNumber): void {
  if (last > latestAccountedFor(store)) store.setMeta(PASSED_OVER, String(last));
}

/** Marks all unaccounted numbers up to this one as lost. Must be called between `begin` and `commit`. */
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
