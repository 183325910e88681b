/**
 * Watches the pilots of a life: which attempts their ends may stop, and that none ends without a reason. A
 * front end that begins while Slurm does not answer reaches no node, and gives all up.
 */
import type { Job } from "../../slurm/slurm.ts";
import type { Life } from "../life.ts";
import { lossesOf } from "./cluster.ts";
import type { Loss } from "./losses.ts";

const LOOK_MS = 2000;
/** A front end knows the end of its pilot within this time. */
const EARLY_MS = 15_000;
const LATE_MS = 60_000;
/** The other ends of a pilot follow from losses of its nodes within this time. */
const BECAUSE_MS = 15 * 60_000;

export async function watchPilots(life: Life): Promise<void> {
  const slurm = life.site.slurm!;
  const losses = lossesOf(life);
  const ending = new Map<Job, Loss>();
  let away: Loss | undefined;
  while (!life.isOver) {
    await life.sleep(LOOK_MS);
    if (slurm.trouble !== undefined && life.service === undefined) away ??= losses.begin(undefined);
    else if (slurm.trouble === undefined && away !== undefined) {
      losses.end(away, LATE_MS);
      away = undefined;
    }
    for (const job of slurm.jobs.values()) {
      const isOver = slurm.isOver(job);
      if (job.startedUs === 0 || (isOver && !ending.has(job))) continue;
      if (!ending.has(job) && mayEnd(life, job)) ending.set(job, losses.begin(undefined));
      const loss = ending.get(job);
      if (isOver && loss?.untilMs === Number.POSITIVE_INFINITY) losses.end(loss, LATE_MS);
      const isOdd = job.final === "COMPLETED" || job.final === "NODE_FAIL" || job.final === "FAILED";
      if (job.state !== "COMPLETING" || !isOdd || ending.has(job)) continue;
      if (!losses.isOpen && life.trueMs - losses.lastMs > BECAUSE_MS)
        life.problem(`pilot ${job.id} has ended by itself: ${job.final}`);
      ending.set(job, losses.begin(undefined));
    }
  }
}

/** Whether what runs on it may be stopped from now on. */
function mayEnd(life: Life, { startedUs, minutes, state }: Job): boolean {
  const { stopBeforeMs } = life.setting.cluster!.pilots;
  const leftMs = (startedUs + minutes * 60e6 - life.site.timeline.nowUs) / 1000;
  return state === "RUNNING" && leftMs < stopBeforeMs + EARLY_MS;
}
