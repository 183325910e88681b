/** Pauses that end by themselves. */
import type { Life } from "./life.ts";

const LOOK_MS = 500;

/** Resumes a job until it is no longer paused: a request may get lost. */
export async function resumePaused(life: Life, job: number): Promise<void> {
  while (!life.isOver && (await life.asked(job))?.state === "paused") {
    await life.change({ action: "resume" }, job);
    await life.sleep(LOOK_MS);
  }
  life.paused.delete(job);
}
