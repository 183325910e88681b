/** Requests that wait for something before they are answered. */
import type { Service } from "../../../daemon/contract/service.ts";
import { pause } from "../../../host/pause.ts";
import type { Call } from "../call.ts";

const MAX_WAIT_S = 60;

/**
 * Returns when something holds, after the time that the request states as `wait`, or when the client has left.
 * @param lookAgainMs how often it looks by itself, should an event have been missed
 * @param mayHold whether it may hold since something has happened to that job
 */
export async function waitUntil(
  { caller, query, request }: Call,
  service: Service,
  lookAgainMs: number,
  holds: () => boolean | Promise<boolean>,
  mayHold: (job: number) => boolean,
): Promise<void> {
  const deadlineMs = performance.now() + Math.min(Number(query.wait), MAX_WAIT_S) * 1000;
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
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return;
      await pause(Math.min(leftMs, lookAgainMs), wake.signal);
    }
  } finally {
    unlisten();
    request.signal.removeEventListener("abort", wakeUp);
  }
}
