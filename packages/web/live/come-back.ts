/** What a page does that the browser had frozen, and that the user comes back to. */
import type { FeedWorld } from "./feed.ts";
import { prove } from "./proof.ts";
import type { Session } from "./session.ts";

const PROOF_MS = 10_000;
const RETRY_MS = 1000;

/**
 * Reloads the page, but only after a proof that the scheduler still has the port: the script of another
 * process on the port could read the session that this tab has kept.
 */
export async function reloadWhenProven(
  session: Session | undefined,
  { fetch, sleep, port }: FeedWorld,
  reload: () => void,
): Promise<void> {
  for (;;) {
    try {
      if (session !== undefined) await prove(session, fetch, port, AbortSignal.timeout(PROOF_MS));
      reload();
      return;
    } catch {
      await sleep(RETRY_MS, new AbortController().signal);
    }
  }
}
