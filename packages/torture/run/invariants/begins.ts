/** A job begins neither before its time by the machine's clock nor, on a scheduler at work, long after it. */
import type { Life } from "../life.ts";

/** Between two looks, at most. */
const BETWEEN_MS = 60_000;
/** packages/host/clock.ts: within 2 s, also after the clock was set. */
const LATE_MS = 10_000;
const ROUNDING_MS = 2;

export async function watchBegins(life: Life): Promise<void> {
  const random = life.source.fork("begins");
  while (!life.isOver) {
    await life.sleep(random.below(BETWEEN_MS));
    const before = await late(life);
    if (before.size === 0) continue;
    await life.sleep(LATE_MS);
    const after = await late(life);
    for (const [job, ms] of after)
      if (before.has(job)) life.problem(`job ${job} still waits for a time that passed ${ms} ms ago`);
  }
}

/** Jobs whose time has passed, and which wait for it all the same; in ms. */
async function late(life: Life): Promise<ReadonlyMap<number, number>> {
  const found = new Map<number, number>();
  const { unixMs } = life;
  for (const { job, notBeforeMs } of (life.isCalm && (await life.listed(["queued"]))) || [])
    if (notBeforeMs !== undefined && unixMs - notBeforeMs > LATE_MS) found.set(job, unixMs - notBeforeMs);
  return life.isCalm ? found : new Map();
}

export function checkBegins({ jobs, clocks, witness }: Life): string[] {
  const problems: string[] = [];
  for (const { numbers, possible, submittedAtMs } of jobs) {
    if (possible.length > 1) continue;
    const [{ beginAtMs }] = possible;
    if (beginAtMs === undefined) continue;
    for (const { job, beganMs } of witness.starts) {
      if (!numbers.includes(job)) continue;
      const shownMs = latestShown(clocks, submittedAtMs, beganMs);
      if (shownMs < beginAtMs - ROUNDING_MS)
        problems.push(`job ${job} began ${beginAtMs - shownMs} ms before its time by the machine's clock`);
    }
  }
  return problems;
}

/** The latest time that the machine's clock has shown between two instants. */
function latestShown(clocks: Life["clocks"], fromMs: number, toMs: number): number {
  let shownMs = Number.NEGATIVE_INFINITY;
  let atMs = fromMs;
  const pass = (untilMs: number, offsetMs: number) => {
    const endMs = Math.min(untilMs, toMs);
    if (endMs < atMs) return;
    shownMs = Math.max(shownMs, endMs + offsetMs);
    atMs = endMs;
  };
  for (const clock of clocks) {
    pass(clock.fromMs, 0);
    pass(clock.toMs, clock.offsetMs);
  }
  pass(toMs, 0);
  return shownMs;
}
