/** Keeps jobs from starting when an administrator asks for it, also after a restart of the front end. */
import type { Answer } from "@tutti/protocol/refusal.ts";
import type { Drain, DrainBody } from "@tutti/protocol/schema.ts";
import { refuseOthers } from "../contract/rights.ts";
import type { Caller } from "../contract/service.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

/** The name in the store's table `meta`. An empty value: not drained. */
const META = "drain";

/** The drain that an earlier front end was asked for. */
export function storedDrain(store: FrontEndParts["store"]): Drain | undefined {
  const text = store.meta(META);
  return text === undefined || text === "" ? undefined : JSON.parse(text);
}

/**
 * Begins a drain, changes the reason of the present one, or ends it. Only the reason changes in a drain that
 * has begun: its beginning and who began it stay.
 */
export function setDrain(
  {
    store,
    book,
    feed,
    scheduler,
    clock,
  }: Pick<FrontEndParts, "store" | "book" | "feed" | "scheduler" | "clock">,
  caller: Caller,
  asked: DrainBody | undefined,
): Answer<{ readonly drain?: Drain }> {
  const refusal = refuseOthers(caller, `${asked === undefined ? "undrain" : "drain"} the scheduler`);
  if (refusal !== undefined) return refusal;
  const { machine } = scheduler;
  const before = machine.drain;
  const { user: by } = caller;
  // Without a reason, that of the present drain stays.
  const reason = asked === undefined ? undefined : (asked.reason ?? before?.reason);
  const drain =
    asked === undefined
      ? undefined
      : { sinceMs: before?.sinceMs ?? clock.unixMs(), by: before?.by ?? by, reason };
  if (drain?.reason !== before?.reason || (drain === undefined) !== (before === undefined)) {
    store.setMeta(META, drain === undefined ? "" : JSON.stringify(drain));
    book.alsoUndo(() => {
      machine.drain = before;
    });
    machine.drain = drain;
    if (drain === undefined) feed.add("undrained", clock.unixMs(), undefined, { by });
    else feed.add("drained", clock.unixMs(), undefined, { by, reason });
    book.limits.unsettle();
    // The policy keeps its state: a new one might move gangs to other rows.
    for (const record of book.eligible()) {
      if (drain === undefined) scheduler.arrived(record);
      else scheduler.withdrawn(record, "waits until the drain ends");
    }
  }
  return { drain: machine.drain };
}
