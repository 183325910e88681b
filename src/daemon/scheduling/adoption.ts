/** Makes a new driver with a new policy and lets it take over the running jobs. */
import type { PolicyDefinition } from "../../core/policy.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import type { LiveDriver, MatrixRows, RunningJob } from "./live-driver.ts";
import { LivePool } from "./live-pool.ts";
import { LiveRounds, type LiveRoundsOptions } from "./live-rounds.ts";

interface AdoptionOptions extends Omit<LiveRoundsOptions, "definition"> {
  readonly definition: PolicyDefinition;
  /** Number of jobs, for the size of the table. */
  readonly known: number;
  /** The matrix, beginning with the row whose turn it is. */
  readonly rows: MatrixRows;
  readonly nowMs: number;
}

export function driverFor(running: readonly RunningJob[], options: AdoptionOptions): LiveDriver {
  const { definition, rows, nowMs, known } = options;
  if (definition.sharing === "space") {
    const pool = new LivePool({ ...options, definition }, known);
    for (const job of [...running].sort((a, b) => b.ranMs - a.ranMs || a.job - b.job)) {
      pool.takeOver(job, nowMs);
    }
    return pool;
  }
  const make = () =>
    new LiveRounds({ ...options, definition }, known + options.processors * (rows.length + 1), nowMs);
  if (running.length === 0) return make();
  if (definition.capabilities?.restore) {
    const driver = make();
    driver.restore(running, rows);
    return driver;
  }
  let best: { driver: LiveRounds; moved: number } | undefined;
  for (const fill of ["cells", "blocks", "none"] as const) {
    const driver = make();
    try {
      const moved = driver.takeOver(running, rows, fill).length;
      if (best === undefined || moved < best.moved) best = { driver, moved };
    } catch (error) {
      // The policy fails with these fillers; the attempt without fillers must succeed.
      if (fill === "none" && best === undefined) throw error;
    }
    if (best?.moved === 0) break;
  }
  return best!.driver;
}

/** Jobs that a driver has taken over but has given no processors. */
export function stoppedJobs(running: readonly RunningJob[], driver: LiveDriver): JobNumber[] {
  const placed = new Set(driver.layout().flatMap((placements) => placements.map(({ job }) => job)));
  return running.filter(({ job }) => !placed.has(job)).map(({ job }) => job);
}
