/**
 * Power cuts in the middle of a commit or a migration. SQLite takes no time in the simulated world, so
 * nothing else can happen to it there: the disk refuses everything from some write or sync on, and the power
 * goes at the same instant.
 */
import type { Life } from "./life.ts";

/** Writes and syncs before it: within a commit, or a migration, or some time later. */
const WRITES = [10, 100, 1000] as const;
const LOOK_MS = 100;
/** On a machine at rest, nothing is written. */
const PATIENCE_MS = 60_000;

export async function cutPowerAtWrite(life: Life): Promise<void> {
  const { disk, site, random, machine } = life;
  const untilMs = life.trueMs + PATIENCE_MS;
  let isCut = false;
  disk.breakAfter(random.below(random.pick(WRITES)), () => {
    life.spoilt.push({ fromMs: life.trueMs, toMs: life.trueMs });
    site.timeline.at(site.timeline.nowUs, () => {
      machine.cutPower();
      isCut = true;
    });
  });
  await life.until(() => isCut || life.trueMs > untilMs, LOOK_MS);
  disk.mend();
  if (!isCut) return;
  life.loseMemory();
  await life.sleep(random.between(5000, 600_000));
  life.boot();
}
