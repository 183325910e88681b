/** Waits for the executor when the scheduler ends: for the one that knows the jobs, then for its end. */
import type { Clock } from "@tutti/host/clock.ts";
import type { Executor } from "../executor/executor.ts";
import type { ExecutorHealth } from "./executor-health.ts";

const MAX_CONNECT_MS = 5000;
const MAX_DRAIN_MS = 15_000;
const LOOK_MS = 10;

interface Ending {
  readonly clock: Clock;
  readonly executor: Executor;
  readonly health: ExecutorHealth;
  readonly runningCount: () => number;
}

/**
 * A conductor that was just started, or that takes over a folder that was removed, comes in a moment. Only it
 * knows all jobs that run, and can end them.
 */
export function untilConnected({ clock, executor, health }: Ending): Promise<void> {
  const hasReason = () => executor.trouble !== undefined || executor.rests !== undefined;
  return until(clock, MAX_CONNECT_MS, () => health.connected !== undefined || hasReason());
}

/** Asks the executor to end. Resolves when the ends of all jobs are on disk, or after MAX_DRAIN_MS. */
export function drain(killJobs: boolean, { clock, executor, health, runningCount }: Ending): Promise<void> {
  executor.apply([{ type: "shutdown", killJobs }]);
  return until(clock, MAX_DRAIN_MS, () => runningCount() === 0 || health.connected === undefined);
}

function until(clock: Clock, maxMs: number, isSo: () => boolean): Promise<void> {
  const giveUpMs = clock.nowMs() + maxMs;
  return new Promise((resolve) => {
    const look = (): void => {
      if (isSo() || clock.nowMs() >= giveUpMs) resolve();
      else clock.at(clock.nowMs() + LOOK_MS, look);
    };
    look();
  });
}
