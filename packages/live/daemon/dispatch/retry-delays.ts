/**
 * Keeps the delays of retries as durations, although they are stored as Unix times, as people read them: when
 * the wall clock was set, they move with it. Time in which the machine is suspended, or the scheduler is
 * away, counts. After a reboot, Unix time decides, but nobody waits longer than the whole delay.
 */
import { aheadMs, type Clocks, clocksNow, STEP_MS, setBetween } from "@tutti/host/clock.ts";
import type { AttemptEnd } from "@tutti/protocol/attempts.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { retryDelayMs } from "./retries.ts";

/** The name in the store's table `meta`. */
const META = "clocks";

/**
 * When the delay of a retry begins, in Unix time: at the end of the attempt, so that a front end that was
 * away does not make the job wait longer, also if the clock was set since.
 */
export function delayBeginsMs(
  { clock, bootId }: Pick<FrontEndParts, "clock" | "bootId">,
  { endedAtMs, clocks }: Pick<AttemptEnd, "endedAtMs" | "clocks">,
): number {
  const movedMs = setBetween(clocks, clocksNow(bootId, clock)) ?? 0;
  return Math.min(endedAtMs + movedMs, clock.unixMs());
}

export class RetryDelays {
  readonly #context: FrontEndParts;
  /** Unix time minus monotonic time at the last look; undefined: before the first one. */
  #aheadMs: number | undefined;

  constructor(context: FrontEndParts) {
    this.#context = context;
  }

  /** Called in every cycle, before anything is handled that goes by the new time. */
  followClock(): void {
    const { store, book, clock, bootId } = this.#context;
    const before = this.#aheadMs;
    const nowAheadMs = aheadMs(clock);
    if (before !== undefined && Math.abs(nowAheadMs - before) <= STEP_MS) return;
    const unixMs = clock.unixMs();
    const clocks = clocksNow(bootId, clock);
    const text = store.meta(META);
    const known: Clocks | undefined = text === undefined ? undefined : JSON.parse(text);
    const movedMs = setBetween(known, clocks);
    if (movedMs !== 0) {
      for (const record of book.timed) {
        // The others wait for their begin, an instant of Unix time.
        if (record.notBeforeMs === record.beginAtMs) continue;
        const notBeforeMs =
          movedMs === undefined
            ? Math.min(record.notBeforeMs, unixMs + retryDelayMs(record))
            : record.notBeforeMs + movedMs;
        if (notBeforeMs !== record.notBeforeMs) book.change(record, { notBeforeMs });
      }
      store.setMeta(META, JSON.stringify(clocks));
    }
    this.#aheadMs = nowAheadMs;
    book.alsoUndo(() => {
      this.#aheadMs = before;
    });
  }
}
