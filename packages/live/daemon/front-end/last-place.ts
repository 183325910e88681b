/**
 * Remembers where the jobs of a state run. Until `tutti down` has ended it, jobs, conductors and files may be
 * left there, which a scheduler of another place could neither see nor remove.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { hasProcess } from "@tutti/protocol/states.ts";
import type { Provider } from "../executor/provider.ts";
import type { Store } from "../store/store.ts";

/** The name in the store's table `meta`. Its value: the options; empty: this machine. */
const META = "place";

/** @throws InputError if the state has something at another place */
export function refuseOtherPlace(store: Store, { chosenBy = "" }: Provider, path: string): void {
  const before = store.meta(META);
  if (before === undefined || before === chosenBy) return;
  const running = store.liveJobs().filter(({ state }) => hasProcess(state)).length;
  // Without jobs, a conductor of this machine ends by itself, and leaves nothing.
  if (before === "" && running === 0) return;
  const withOptions = before === "" ? "without --on" : `with ${before}`;
  const left =
    running === 0 ? "what it has there" : `${running} running ${running === 1 ? "job" : "jobs"} there`;
  throw new InputError(
    `Cannot start the scheduler ${chosenBy === "" ? "without --on" : `with ${chosenBy}`} in "${path}": the last one there was started ${withOptions}, and ${left} would be left alone, expected the same options; start it again with these, and tutti down ends it; or use another folder (--state, TUTTI_STATE)`,
  );
}

export function rememberPlace(store: Store, { chosenBy = "" }: Provider): void {
  if (store.meta(META) !== chosenBy) store.setMeta(META, chosenBy);
}

/** Nothing is left at any place. */
export function forgetPlace(store: Store): void {
  store.setMeta(META, "");
}
