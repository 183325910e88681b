/** Time for pages: a clock that views may read, and signals that change less often than what they follow. */
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

/** Unix time in ms, renewed every second while the page is visible and a view reads it. */
const nowMs = signal(Date.now());
/** True while what the page shows is old: then its clock stands still, and its frame takes no input. */
export const isStale = signal(false);

let readers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, to the second. The component is drawn again every second. */
export function useNow(): number {
  useEffect(() => {
    readers++;
    adjust();
    return () => {
      readers--;
      adjust();
    };
  }, []);
  return nowMs.value;
}

addEventListener("visibilitychange", adjust);
isStale.subscribe(adjust);

function adjust(): void {
  const isNeeded = readers > 0 && !document.hidden && !isStale.peek();
  if (isNeeded === (timer !== undefined)) return;
  clearInterval(timer);
  timer = isNeeded ? setInterval(tick, 1000) : undefined;
  if (isNeeded) tick();
}

function tick(): void {
  nowMs.value = Date.now();
}

/** Follows a signal, but changes at most every `everyMs`. The last value always arrives. */
export function useCalm<Value>(source: ReadonlySignal<Value>, everyMs: number): Value {
  const [calm] = useState(() => signal(source.peek()));
  useEffect(() => {
    let changedAtMs = Number.NEGATIVE_INFINITY;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      source.value;
      waiting ??= setTimeout(
        () => {
          waiting = undefined;
          changedAtMs = performance.now();
          calm.value = source.peek();
        },
        Math.max(0, changedAtMs + everyMs - performance.now()),
      );
    });
    return () => {
      stop();
      clearTimeout(waiting);
    };
  }, [source, everyMs, calm]);
  return calm.value;
}
