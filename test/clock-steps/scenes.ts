/**
 * Scenes in which something waits for a promise of host/clock.ts while the clocks of the machine change. A
 * scene begins at 0 on the monotonic clock, by which all its times are.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { vi } from "vitest";

export const S = 1000;
export const MINUTE = 60 * S;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The clocks of a scene. */
export interface Time {
  /** The wall clock is set forward, or back. */
  step(byMs: number): void;
  /** The machine is suspended and resumed: the monotonic clock stands still. */
  suspend(forMs: number): void;
}

/** What happens to the clocks, and how far: forward and suspended by 2 h, or back by half an hour. */
export const CHANGES = {
  forward: (time: Time, leapMs = 2 * HOUR) => time.step(leapMs),
  back: (time: Time) => time.step(-HOUR / 2),
  suspend: (time: Time, leapMs = 2 * HOUR) => time.suspend(leapMs),
} as const;

export type Change = keyof typeof CHANGES;

export interface Scene {
  /** Lets time pass, calls `change` at the time `CHANGE_MS`, and returns when the promised thing happens. */
  readonly happensAtMs: (change: (time: Time) => void) => Promise<number>;
  /** When it must happen at the earliest, worked by hand from the row of the table of promises. */
  readonly expectedMs: Readonly<Record<Change, number>>;
  /** It may be so much later. */
  readonly lateMs: number;
  /** How far the clock is set forward, and how long the machine is suspended; default 2 h. */
  readonly leapMs?: number;
}

export const CHANGE_MS = 2 * S;

/** What nobody can set, independently of the code under test. */
const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

/** Time of code that asks the machine itself, in host/clock.ts and by timers; they stand still otherwise. */
export class MachineTime implements Time {
  readonly #startMs = monotonicMs();

  nowMs(): number {
    return monotonicMs() - this.#startMs;
  }

  step(byMs: number): void {
    // Moves neither timers nor the monotonic clock.
    vi.setSystemTime(Date.now() + byMs);
  }

  suspend(forMs: number): void {
    this.step(forMs);
  }

  /** What is due on the way happens, also what it leaves for the next turns of the event loop. */
  async advanceTo(untilMs: number, stepMs: number): Promise<void> {
    while (this.nowMs() < untilMs) {
      vi.advanceTimersByTime(Math.min(stepMs, untilMs - this.nowMs()));
      for (let i = 0; i < 4; i++) await nextTurn();
    }
  }
}

/** Replaces the machine's time while the scene plays. */
export async function inMachineTime<Result>(play: (time: MachineTime) => Promise<Result>): Promise<Result> {
  const timers = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] as const;
  vi.useFakeTimers({ toFake: [...timers, "Date", "hrtime"] });
  try {
    return await play(new MachineTime());
  } finally {
    vi.useRealTimers();
  }
}
