/** What its user has paused stands still until its user resumes it, also if processes are killed. */
import type { Life } from "../life.ts";

/** Between two looks, at most. */
const BETWEEN_MS = 4000;
/** Within this time, a conductor stops a gang that is paused from now on. */
const STOP_MS = 3000;

export async function watchPaused(life: Life): Promise<void> {
  const random = life.source.fork("paused");
  while (!life.isOver) {
    await life.sleep(random.below(BETWEEN_MS));
    const before = runningAlthoughPaused(life);
    if (before.length === 0) continue;
    await life.sleep(STOP_MS);
    for (const gang of runningAlthoughPaused(life))
      if (before.includes(gang)) life.problem(`gang ${gang} ran for ${STOP_MS} ms although it is paused`);
  }
}

function runningAlthoughPaused(life: Life): string[] {
  if (life.standing.size === 0 || !life.isCalm || life.conductors()[0]?.state !== "S") return [];
  const gangs: string[] = [];
  for (const { name } of life.site.runningGangs()) if (life.standing.has(name)) gangs.push(name);
  return gangs;
}
