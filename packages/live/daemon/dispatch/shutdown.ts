/** Waits for the executor when the scheduler ends: for the one that knows the jobs, then for its end. */
import type { Clock } from "@tutti/host/clock.ts";
import type { Executor } from "../executor/executor.ts";
import type { ExecutorHealth } from "./executor-health.ts";

const MAX_CONNECT_MS = 5000;
/** Only the conductor can end the jobs, so it is worth a longer wait then. */
const MAX_CONNECT_TO_KILL_MS = 30_000;
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
export function untilConnected(killJobs: boolean, { clock, executor, health }: Ending): Promise<void> {
  const hasReason = () => executor.trouble !== undefined || executor.rests !== undefined;
  const maxMs = killJobs ? MAX_CONNECT_TO_KILL_MS : MAX_CONNECT_MS;
  return until(clock, maxMs, () => health.connected !== undefined || hasReason());
}

/**
 * Asks the executor to end. Resolves when the ends of all jobs are on disk, or after MAX_DRAIN_MS.
 * @returns why jobs that were to be killed may still run, as sentences
 */
export async function drain(killJobs: boolean, ending: Ending): Promise<string | undefined> {
  const { clock, executor, health, runningCount } = ending;
  const { connected, trouble } = health;
  executor.apply([{ type: "shutdown", killJobs }]);
  await until(clock, MAX_DRAIN_MS, () => runningCount() === 0 || health.connected === undefined);
  if (!killJobs) return undefined;
  const then = "the next tutti serve finds what still runs";
  // A conductor may have jobs that we do not know; on a cluster, such jobs end with their allocation.
  if (connected === undefined && (executor.nodeSource === undefined || runningCount() > 0)) {
    return `Jobs may still run, because nothing could be asked to end them (${trouble}); ${then}.`;
  }
  const left = runningCount();
  if (left === 0) return undefined;
  return `${left} ${left === 1 ? "job has" : "jobs have"} not ended within ${MAX_DRAIN_MS / 1000} s; ${then}.`;
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
