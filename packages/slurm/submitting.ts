/** Submits pilots to Slurm, and cancels those of its jobs that are our pilots. */
import type { Clock } from "@tutti/host/clock.ts";
import { SlurmError } from "./commands.ts";
import { ENDED, failureWaitMs, type Pilot } from "./pilot.ts";
import type { Slurm } from "./slurm.ts";
import type { PilotSettings } from "./waiting.ts";

const TRIES = 3;

/**
 * Submits the pilot, unless an earlier try has worked without an answer.
 * @param beforeSubmit called when it is certain that the pilot must be submitted
 * @returns its job id; undefined: no earlier try has worked, and it is not wanted any longer
 * @throws SlurmError
 */
export async function submitPilot(
  pilot: Pilot,
  slurm: Slurm,
  { submission }: Pick<PilotSettings, "submission">,
  beforeSubmit: () => void,
): Promise<string | undefined> {
  if (pilot.mayExist) {
    const found = (await slurm.queue()).findLast(({ comment }) => comment === pilot.mark);
    if (found !== undefined) return found.id;
    if (pilot.isGivenUp) return undefined;
  }
  beforeSubmit();
  pilot.mayExist = true;
  const { options, script } = submission(pilot);
  return slurm.submit(options, script);
}

/**
 * Cancels a pilot's job if it still has our mark: Slurm can use an id again after it has lost its state.
 * @throws SlurmError after three tries
 */
export async function cancelPilot(slurm: Slurm, clock: Clock, pilot: Pilot): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const job =
        pilot.jobId === undefined
          ? (await slurm.queue()).findLast(({ comment }) => comment === pilot.mark)
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
  const strays = (await slurm.queue()).filter(
    ({ id, comment, state }) =>
      comment.startsWith(prefix) &&
      !ENDED.has(state) &&
      // The answer of sbatch may be lost: the next turn finds it by its mark.
      known.every(({ jobId, mark }) => jobId !== id && (jobId !== undefined || mark !== comment)),
  );
  for (const { id } of strays) await slurm.cancel(id);
  return strays.map(({ id }) => id);
}
