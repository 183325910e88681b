/**
 * The one place that asks the machine what time it is, and that names the clock of each promise about time.
 * There are three clocks: Unix time, which people and NTP set; monotonic time, which nobody can set and which
 * stands still while the machine is suspended; and boot time, which also counts suspends.
 *
 * A new promise needs a row here, in the table of docs/reference-administration.md, and a scene in
 * test/clock-steps.test.ts, which sets the clock in each direction and suspends the machine.
 */
import { uptime } from "./ports/os.ts";

/** Milliseconds on the monotonic clock, which all processes share and nobody can set. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Unix time in ms; it may be set in either direction. */
export function unixMs(): number {
  return Date.now();
}

export interface Clock {
  /** Monotonic ms, see `monotonicMs`. */
  nowMs(): number;
  /** Unix time in ms, for people; the system clock may be set in either direction. */
  unixMs(): number;
  /** Ms since the boot, suspends included, in steps of 10 ms. It reads a file, so ask rarely. */
  bootMs(): number;
  /** Calls once, at or after the instant `atMs` of `nowMs`. Returns a function that cancels the call. */
  at(atMs: number, call: () => void): () => void;
  /** Calls once, after all events that are ready now, before time passes. */
  soon(call: () => void): void;
}

/** Node fires a timer immediately if it is set for longer than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: monotonicMs,
  unixMs,
  bootMs: () => 1000 * uptime(),
  at(atMs, call) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = atMs - systemClock.nowMs();
      if (leftMs <= 0) call();
      else timer = setTimeout(arm, Math.min(Math.ceil(leftMs), MAX_TIMER_MS));
    };
    timer = setTimeout(arm, Math.min(Math.max(0, Math.ceil(atMs - systemClock.nowMs())), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
  soon(call) {
    setImmediate(call);
  },
};

/** What Unix time was worth during one boot of a machine. */
export interface Clocks {
  readonly bootId: string;
  /** Unix time minus boot time, in ms; it changes when the wall clock is set. */
  readonly aheadMs: number;
}

/** @param unixMs what `clock` has just said: it may be set between two looks */
export function clocksNow(
  bootId: string,
  clock: Pick<Clock, "unixMs" | "bootMs"> = systemClock,
  unixMs = clock.unixMs(),
): Clocks {
  return { bootId, aheadMs: Math.round(unixMs - clock.bootMs()) };
}

/** By how many ms the wall clock was set in between; undefined: there was a reboot, or it is unknown. */
export function setBetween(before: Clocks | undefined, now: Clocks): number | undefined {
  if (before?.bootId !== now.bootId) return undefined;
  const movedMs = now.aheadMs - before.aheadMs;
  return Math.abs(movedMs) > STEP_MS ? movedMs : 0;
}

interface Terms {
  /**
   * - unix: an instant that people name, or an age in days; it follows the wall clock
   * - boot: a duration that also passes while the machine is suspended
   * - monotonic: a duration that stands still while the machine is suspended
   */
  readonly clock: "unix" | "boot" | "monotonic";
  /** What happens when the wall clock is set, or the machine was suspended or rebooted. */
  readonly step: string;
}

export const PROMISES = {
  begin: {
    clock: "unix",
    step: "follows the new time within 2 seconds, in both directions",
  },
  window: {
    clock: "unix",
    step: "begins and ends by the new time within 2 seconds; last starts are computed again",
  },
  "retry delay": {
    clock: "boot",
    step: "the rest of the delay stays the same, also over a restart; after a reboot it follows the wall clock, but takes at most the whole delay",
  },
  quota: {
    clock: "unix",
    step: "what was used decays by the new time; setting the clock back restores it",
  },
  "fair share": {
    clock: "unix",
    step: "what was used decays by the new time; setting the clock back restores it",
  },
  retention: {
    clock: "unix",
    step: "after a step forward of more than an hour, ages go by the old time for another day, so that a wrong clock deletes nothing at once",
  },
  limit: {
    clock: "monotonic",
    step: "none: only the time in which the job runs counts; with --native, after a restart of the scheduler it follows the wall clock",
  },
  "signal before a limit": {
    clock: "monotonic",
    step: "none: only the time in which the job runs counts",
  },
  "grace time": {
    clock: "monotonic",
    step: "none; a new conductor begins it again",
  },
  forecast: {
    clock: "unix",
    step: "forecasts are computed again within 5 seconds; one that was stored before the step is judged by the new time",
  },
  "hook retry": {
    clock: "monotonic",
    step: "none; after a restart it follows the wall clock, but waits at most the whole pause",
  },
  "hook limit": {
    clock: "monotonic",
    step: "none",
  },
  "node silence": {
    clock: "monotonic",
    step: "none",
  },
  session: {
    clock: "unix",
    step: "ends by the new time",
  },
  link: {
    clock: "monotonic",
    step: "none; a restart of the scheduler ends it",
  },
  decision: {
    clock: "monotonic",
    step: "none",
  },
} as const satisfies Readonly<Record<string, Terms>>;

type PromiseName = keyof typeof PROMISES;

/** An instant of the clock of its promise; Infinity: never. Delays by boot time are kept as Unix times. */
export type Due = readonly [promise: PromiseName, atMs: number];

/** While somebody waits for Unix time, the clock is looked at this often. */
export const LOOK_MS = 2000;
/** If Unix time moved by more than this against monotonic time, the clock was set, or the machine slept. */
export const STEP_MS = 20;

/** Unix time minus monotonic time, in ms. */
export const aheadMs = (clock: Clock): number => clock.unixMs() - clock.nowMs();

/**
 * Calls once when one of the instants has come, or within LOOK_MS after a step or a suspend if an instant of
 * Unix time is among them: the caller then computes all instants again. Returns a function that cancels.
 */
export function wakeAt(clock: Clock, dues: readonly Due[], call: () => void): () => void {
  const earliest = (isMonotonic: boolean) =>
    Math.min(
      ...dues
        .filter(([promise]) => (PROMISES[promise].clock === "monotonic") === isMonotonic)
        .map(([, atMs]) => atMs),
    );
  const monotonicDueMs = earliest(true);
  const unixDueMs = earliest(false);
  const startAheadMs = aheadMs(clock);
  let cancel = (): void => {};
  const look = (): void => {
    const nowMs = clock.nowMs();
    const leftMs = unixDueMs - clock.unixMs();
    const isDue = monotonicDueMs <= nowMs || leftMs <= 0;
    const hasStepped =
      unixDueMs < Number.POSITIVE_INFINITY && Math.abs(aheadMs(clock) - startAheadMs) > STEP_MS;
    if (isDue || hasStepped) call();
    else wait(nowMs, leftMs);
  };
  const wait = (nowMs: number, leftMs: number): void => {
    const untilMs = Math.min(
      monotonicDueMs,
      unixDueMs === Number.POSITIVE_INFINITY ? unixDueMs : nowMs + Math.min(LOOK_MS, Math.max(0, leftMs)),
    );
    if (untilMs < Number.POSITIVE_INFINITY) cancel = clock.at(untilMs, look);
  };
  wait(clock.nowMs(), unixDueMs - clock.unixMs());
  return () => cancel();
}
