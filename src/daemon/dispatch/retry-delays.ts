/**
 * Keeps the delays of retries as durations, although they are stored as Unix times, as people read them: when
 * the wall clock was set, they move with it. Time in which the machine is suspended, or the scheduler is
 * away, counts. After a reboot, Unix time decides, but nobody waits longer than the whole delay.
 */
import { aheadMs, STEP_MS } from "../../host/clock.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { retryDelayMs } from "./retries.ts";

/** The name in the store's table `meta`. */
const META = "clocks";

interface Clocks {
  readonly bootId: string;
  /** Unix time minus boot time, in ms. */
  readonly aheadMs: number;
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
    const clocks: Clocks = { bootId, aheadMs: Math.round(unixMs - clock.bootMs()) };
    const text = store.meta(META);
    const known: Clocks | undefined = text === undefined ? undefined : JSON.parse(text);
    const movedMs = known?.bootId === bootId ? clocks.aheadMs - known.aheadMs : undefined;
    if (movedMs === undefined || Math.abs(movedMs) > STEP_MS) {
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
