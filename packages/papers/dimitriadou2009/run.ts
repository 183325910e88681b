/**
 * Computes the result of a cell of the kind `sites`: simulates a policy on jobs of several sites until the
 * given number of jobs have ended.
 */

import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import type { CellInputs } from "@tutti/lab/experiments/cell.ts";
import { type SitesNumbers, summariseSites } from "../wings/sites/metrics.ts";
import { acrossSites, oneSite } from "../wings/sites/policies.ts";
import { type RemainingRule, simulateSites } from "../wings/sites/simulate.ts";
import { generateSites, type SitesWorkload, withPredictionError } from "../wings/sites/workload.ts";

interface SitesCell {
  readonly jobs: SitesWorkload;
  /** Largest error of predicted service times, in %. */
  readonly error: number;
  readonly policy: string;
  readonly remaining: RemainingRule;
  readonly completions: number;
}

/** @throws Error if too few jobs were generated for the number of completions */
export async function runSites(cell: SitesCell, inputs: CellInputs): Promise<SitesNumbers> {
  const { completions, remaining } = cell;
  const { definition, parameters } = chooseAmong([oneSite, acrossSites], cell.policy);
  const jobs = inputs.once(cell.jobs, () => generateSites(cell.jobs));
  const instance = withPredictionError(jobs, cell.error);
  const schedule = simulateSites(instance, definition, parameters, { completions, remaining });
  if (schedule.completed < completions || schedule.arrived === cell.jobs.count) {
    throw new Error(
      `Cannot measure "${cell.policy}": only ${schedule.completed} jobs ended, expected ${completions} before the last of ${cell.jobs.count} arrived`,
    );
  }
  return summariseSites(instance, schedule);
}
