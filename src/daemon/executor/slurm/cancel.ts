/** Cancels jobs of Slurm that are our pilots. */
import type { Clock } from "../../../host/clock.ts";
import { SlurmError } from "./commands.ts";
import { ENDED, failureWaitMs, type Pilot } from "./pilot.ts";
import type { Slurm } from "./slurm.ts";

const TRIES = 3;

/**
 * Cancels a pilot's job if it still has our mark: Slurm can use an id again after it has lost its state.
 * @throws SlurmError after three tries
 */
export async function cancelPilot(slurm: Slurm, clock: Clock, pilot: Pilot): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const job =
        pilot.jobId === undefined
          ? (await slurm.ownJobs()).findLast(({ comment }) => comment === pilot.mark)
          : await slurm.job(pilot.jobId);
      if (job !== undefined && job.comment === pilot.mark && !ENDED.has(job.state))
        await slurm.cancel(job.id);
      return;
    } catch (error) {
      if (tries === TRIES) {
        const text = `Cannot cancel the pilot ${pilot.jobId ?? pilot.mark}: ${(error as Error).message}; cancel it with scancel`;
        throw new SlurmError(text, true);
      }
      const untilMs = clock.nowMs() + failureWaitMs(tries);
      await new Promise<void>((resolve) => clock.at(untilMs, resolve));
    }
  }
}

/**
 * Cancels jobs of this owner that are no known pilots: a submission that timed out may have worked later than
 * we looked.
 * @param mark of any pilot of the owner
 * @returns their ids
 */
export async function cancelStrays(slurm: Slurm, mark: string, known: readonly Pilot[]): Promise<string[]> {
  const prefix = mark.replace(/\d+$/, "");
  const strays = (await slurm.ownJobs()).filter(
    ({ id, comment, state }) =>
      comment.startsWith(prefix) && !ENDED.has(state) && known.every(({ jobId }) => jobId !== id),
  );
  for (const { id } of strays) await slurm.cancel(id);
  return strays.map(({ id }) => id);
}
