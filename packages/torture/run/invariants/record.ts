/** The world in a front end's memory is the one that the next front end would rebuild from its record. */
import type { Life } from "../life.ts";

/** Between two looks, at most: each reads all jobs that have not ended. */
const BETWEEN_MS = 120_000;

export async function watchRecord(life: Life): Promise<void> {
  const random = life.source.fork("record");
  while (!life.isOver) {
    await life.sleep(random.below(BETWEEN_MS));
    // A disk that refuses writes may refuse reads, too.
    if (!life.isCalm) continue;
    for (const difference of life.differences() ?? [])
      life.problem(`the front end's memory differs from its record: ${difference}`);
  }
}
