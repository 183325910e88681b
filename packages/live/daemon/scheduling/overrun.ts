/** Says how long jobs are expected to run whose estimates were wrong. */

/** A job without a limit that exceeds its estimate is expected to run on for this share of its time. */
const OVERRUN_SHARE = 0.25;
/** A job at its limit is being ended; few take longer. Also the least for other jobs. */
const ENDING_MS = 1000;

/** How long a job that has used up its estimate is expected to run on. */
export function overrunMs(ranMs: number, isLimited: boolean): number {
  return isLimited ? ENDING_MS : OVERRUN_SHARE * ranMs + ENDING_MS;
}

/** A paused job is expected to stay paused as long as it has been already, and at least this long. */
const LEAST_PAUSE_MS = 60_000;

/**
 * How much longer a paused job is expected to be paused. As the time doubles, the policy has to take over
 * the live state only a few times during a long pause.
 */
export function pauseMs(pausedMs: number): number {
  return Math.max(LEAST_PAUSE_MS, pausedMs);
}

/** A job this close to the end of its estimate has reached it: the rest is rounding. */
const SAME_INSTANT_MS = 0.001;

/** Running time that a policy may expect of a job that has run so long. */
export function expectedMs(estimateMs: number, ranMs: number, isLimited: boolean): number {
  return ranMs + SAME_INSTANT_MS < estimateMs ? estimateMs : ranMs + overrunMs(ranMs, isLimited);
}
