/** Invariants of rest on a cluster: nothing of a gang is left on any node. */
import { checkRest } from "../invariants/rest.ts";
import type { Life } from "../life.ts";

const LOOK_MS = 1000;
/** What is left on a node that was lost is found when a connector has waited for a conductor for 25 s. */
const CLEAR_MS = 120_000;

/** Waits until nothing of a gang is left, or too long for that. */
export async function atRest(life: Life): Promise<void> {
  const untilMs = life.trueMs + CLEAR_MS;
  await life.until(() => left(life).length === 0 || life.trueMs > untilMs, LOOK_MS);
}

export function checkClusterRest(life: Life): string[] {
  return [...left(life), ...checkRest(life)];
}

function left(life: Life): string[] {
  return life.site.nodes.flatMap(({ name, processes }) =>
    [...processes.values()]
      .filter(({ environment, end }) => end === undefined && "TUTTI_GANG" in environment)
      .map(
        ({ pid, argv, state }) =>
          `process ${pid} of ${name} (${argv.join(" ").slice(0, 80)}, ${state}) is left after the last job`,
      ),
  );
}
