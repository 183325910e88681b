/** While a conductor works, a guardian watches it, which continues all gangs if it dies. */
import type { Life } from "../life.ts";

/** Between two looks, at most. */
const BETWEEN_MS = 30_000;
/** A conductor has started its guardian by then, or started it again. */
const START_MS = 5000;

export async function watchGuardian(life: Life): Promise<void> {
  const random = life.source.fork("guardian");
  while (!life.isOver) {
    await life.sleep(random.below(BETWEEN_MS));
    const pid = pidAlone(life);
    if (pid === undefined) continue;
    await life.sleep(START_MS);
    if (pidAlone(life) === pid) life.problem(`conductor ${pid} has no guardian`);
  }
}

/** Of a conductor without a guardian, on a machine in which all is well. */
function pidAlone(life: Life): number | undefined {
  const [conductor] = life.conductors();
  const isWell = conductor?.state === "S" && life.isCalm;
  return isWell && life.guardians().length === 0 ? conductor.pid : undefined;
}
