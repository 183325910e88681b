/** Decides whether a job that did not succeed is started again, and when (`retryOn`). */
import type { AttemptEnd } from "@tutti/protocol/attempts.ts";
import { DEFAULT_RETRY_DELAY_MS, MAX_DOUBLED_DELAY_MS } from "@tutti/protocol/limits.ts";
import { chargedStarts, type JobRecord } from "../contract/record.ts";

type Retried = Pick<JobRecord, "retries" | "retryOn" | "retryDelayMs" | "attempt" | "uncharged">;

/**
 * How long the job waits before its next attempt; undefined: it is not retried. An exit code or a signal
 * counts only if the program ended by itself: at a limit, it is Tutti that ends it.
 * @param starts that count, with the one that has this end
 */
export function retryAfterMs(
  record: Retried,
  { reason, code, signal }: AttemptEnd,
  starts: number,
): number | undefined {
  const { retries, retryOn = [] } = record;
  if (starts > retries) return undefined;
  const own = reason === "none" ? (signal ?? String(code)) : undefined;
  return retryOn.some((word) => word === "fail" || word === own) ? delayAfterMs(record, starts) : undefined;
}

/** The wait after its last start: doubled for every start after the first, within bounds. */
export function retryDelayMs(record: Retried): number {
  return delayAfterMs(record, chargedStarts(record));
}

function delayAfterMs({ retryDelayMs: firstMs = DEFAULT_RETRY_DELAY_MS }: Retried, starts: number): number {
  return Math.max(firstMs, Math.min(firstMs * 2 ** (starts - 1), MAX_DOUBLED_DELAY_MS));
}
