/** Whether the page may talk to the scheduler: only after the scheduler has proven that it is the one. */
import { signal } from "@preact/signals";
import { isStale } from "../page/clock.ts";

/** `starting` until the first answer. `lost`: what is shown is old. */
export const connection = signal<"starting" | "live" | "lost">("starting");

/** Unix time in ms at which the scheduler last said something. */
export const heard = { atMs: Date.now() };

connection.subscribe((state) => {
  isStale.value = state === "lost";
});

/** Resolves when the scheduler answers and has proven itself. @throws the signal's reason if it aborts */
export function untilLive(stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const unsubscribe = connection.subscribe((state) => {
      if (state === "live") queueMicrotask(() => end(resolve));
    });
    const onAbort = () => end(() => reject(stop.reason));
    function end(then: () => void) {
      unsubscribe();
      stop.removeEventListener("abort", onAbort);
      then();
    }
    stop.addEventListener("abort", onAbort);
    if (stop.aborted) onAbort();
  });
}
