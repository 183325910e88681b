/** When the next of the user's waiting jobs is expected to start, in words. */
import { useEffect, useState } from "preact/hooks";
import type { TimelineAnswer } from "../../../protocol/forecasts.ts";
import { NO_VALUE } from "../../../report/text/format.ts";
import { type Expected, expectedInText } from "../../../words/expected.ts";
import { ask } from "../client.ts";
import { connection } from "../connection.ts";

const REFRESH_MS = 10_000;
/** The answer lists every waiting job, so a long queue is asked for only a short while ahead. */
const LONG_QUEUE = 500;
const SHORT_MS = 60_000;
const LONG_MS = 30 * 24 * 3600 * 1000;

/** Of the earliest median start; NO_VALUE: there is no forecast, or none of the queue starts soon. */
export function useNextStart(queued: number, nowMs: number): string {
  const [next, setNext] = useState<Expected | "none">();
  const isLive = connection.value === "live";
  useEffect(() => {
    if (queued === 0) setNext(undefined);
    if (queued === 0 || !isLive) return undefined;
    const stop = new AbortController();
    const load = async () => {
      if (document.hidden) return;
      const nowMs = Date.now();
      const toMs = nowMs + (queued > LONG_QUEUE ? SHORT_MS : LONG_MS);
      try {
        const path = `/v1/timeline?from=${nowMs}&to=${toMs}`;
        const { jobs } = await ask<TimelineAnswer>(path, { signal: stop.signal });
        const starts = jobs.flatMap(({ start }) => start ?? []).sort((a, b) => a.p50Ms - b.p50Ms);
        setNext(starts[0] ?? "none");
      } catch {
        // The page says that the scheduler does not answer.
      }
    };
    void load();
    const timer = setInterval(load, REFRESH_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [queued, isLive]);
  if (queued === 0 || next === "none") return NO_VALUE;
  return next === undefined ? "loading" : expectedInText(next, nowMs);
}
