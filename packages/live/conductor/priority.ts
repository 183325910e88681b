/**
 * Gives the conductor priority over the gangs. Otherwise, gangs that it has just continued would take its
 * processor for milliseconds in the middle of a switch.
 */
import { spawnSync } from "@tutti/host/ports/child-process.ts";
import { setPriority } from "@tutti/host/ports/os.ts";
import { OWN_ENVIRONMENT } from "@tutti/host/surroundings.ts";

const OPTIONS = { env: OWN_ENVIRONMENT, stdio: "ignore" } as const;

/** real-time: SCHED_FIFO; nice: a negative nice value; none: like any other process. */
export type ClockPriority = "real-time" | "nice" | "none";

/** Takes the highest priority that is allowed. Child processes do not inherit it (-R, reset on fork). */
export function takePriority(): ClockPriority {
  const own = String(process.pid);
  const realTime = spawnSync("chrt", ["-R", "-f", "-p", "10", own], OPTIONS);
  if (realTime.status === 0) return "real-time";
  const resetOnFork = spawnSync("chrt", ["-R", "-o", "-p", "0", own], OPTIONS);
  if (resetOnFork.status !== 0) return "none";
  try {
    setPriority(-15);
    return "nice";
  } catch {
    return "none";
  }
}

/** Returns to ordinary priority. */
export function leavePriority(): void {
  spawnSync("chrt", ["-o", "-p", "0", String(process.pid)], OPTIONS);
  try {
    setPriority(0);
  } catch {
    // The priority was never raised.
  }
}
