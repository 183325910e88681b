/** The feed's surroundings in a browser. */
import type { FeedWorld } from "./feed.ts";

export const BROWSER: FeedWorld = {
  fetch: (url, options) => fetch(url, options),
  nowMs: () => performance.now(),
  port: location.port || "80",
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(end, ms);
      function end() {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      }
      signal.addEventListener("abort", end);
    }),
};
