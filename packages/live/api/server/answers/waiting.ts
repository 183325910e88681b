/** Answers requests that first wait for a condition. */

import { monotonicMs } from "@tutti/host/clock.ts";
import { sleep } from "@tutti/host/sleep.ts";
import type { Service } from "../../../daemon/contract/service.ts";
import type { Call } from "../call.ts";

const MAX_WAIT_S = 60;

/**
 * Resolves when `holds` is true, after the request's time `wait`, or when the client has left.
 * @param lookAgainMs interval between checks without an event, in case an event was missed
 * @param mayHold whether an event of this job may have made the condition true
 */
export async function waitUntil(
  { caller, query, request }: Call,
  service: Service,
  lookAgainMs: number,
  holds: () => boolean | Promise<boolean>,
  mayHold: (job: number) => boolean,
): Promise<void> {
  const deadlineMs = monotonicMs() + Math.min(Number(query.wait), MAX_WAIT_S) * 1000;
  let wake = new AbortController();
  const wakeUp = () => wake.abort();
  const unlisten = service.listen(caller, Number.MAX_SAFE_INTEGER, ({ job }) => {
    if (job !== undefined && !wake.signal.aborted && mayHold(job)) wakeUp();
  });
  request.signal.addEventListener("abort", wakeUp);
  try {
    while (!request.signal.aborted) {
      wake = new AbortController();
      if (await holds()) return;
      const leftMs = deadlineMs - monotonicMs();
      if (leftMs <= 0) return;
      await sleep(Math.min(leftMs, lookAgainMs), wake.signal);
    }
  } finally {
    unlisten();
    request.signal.removeEventListener("abort", wakeUp);
  }
}
