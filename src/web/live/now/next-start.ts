/** When the next of the user's waiting jobs is expected to start. */
import { useEffect, useState } from "preact/hooks";
import type { TimelineAnswer } from "../../../protocol/forecasts.ts";
import { ask } from "../client.ts";
import { connection } from "../connection.ts";

const REFRESH_MS = 10_000;
/** The answer lists every waiting job, so a long queue is asked for only a short while ahead. */
const LONG_QUEUE = 500;
const SHORT_MS = 60_000;
const LONG_MS = 30 * 24 * 3600 * 1000;

/** Unix time in ms of the earliest median start; undefined: no forecast, or none of the queue soon. */
export function useNextStart(queued: number): number | undefined {
  const [nextMs, setNext] = useState<number>();
  const isLive = connection.value === "live";
  useEffect(() => {
    setNext(undefined);
    if (queued === 0 || !isLive) return undefined;
    const stop = new AbortController();
    const load = async () => {
      if (document.hidden) return;
      const nowMs = Date.now();
      const toMs = nowMs + (queued > LONG_QUEUE ? SHORT_MS : LONG_MS);
      try {
        const path = `/v1/timeline?from=${nowMs}&to=${toMs}`;
        const { jobs } = await ask<TimelineAnswer>(path, { signal: stop.signal });
        const starts = jobs.flatMap(({ start }) => (start === undefined ? [] : [start.p50Ms]));
        setNext(starts.length === 0 ? undefined : Math.min(...starts));
      } catch {
        // The number is left out; the head of the page says that the scheduler does not answer.
      }
    };
    void load();
    const timer = setInterval(load, REFRESH_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [queued, isLive]);
  return nextMs;
}
