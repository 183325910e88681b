/** Sums what users' ended jobs had and used. Users may see their own sums; administrators, everybody's. */
import type { Clock } from "@tutti/host/clock.ts";
import type { UsageAnswer, UsageRow } from "@tutti/protocol/schema.ts";
import type { Caller, UsageQuestion } from "../contract/service.ts";
import type { EndedUsage } from "../store/kept.ts";
import type { Store } from "../store/store.ts";

/** Jobs read per step, which takes a few ms. */
const WINDOW = 250;

type Sums = { -readonly [Field in keyof UsageRow]: UsageRow[Field] };

/**
 * Of the jobs that ended in a stretch of time, all attempts, the largest sum of CPU time held first. In steps
 * of a few ms.
 */
export function* usageOf(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  caller: Caller,
  { by, fromMs, toMs = clock.unixMs() }: UsageQuestion,
): Generator<undefined, Omit<UsageAnswer, "schema">, void> {
  const sums = new Map<string, Sums>();
  let after: EndedUsage | undefined;
  for (;;) {
    const window = store.kept.endedUsages(fromMs, toMs, after, WINDOW);
    for (const used of window) {
      if (!caller.isAdministrator && used.uid !== caller.uid) continue;
      const names = { ...(by.user && { user: used.user }), ...(by.queue && { queue: used.queue }) };
      const key = JSON.stringify(names);
      const sum = sums.get(key) ?? { ...names, ...NOTHING };
      sums.set(key, sum);
      add(sum, used);
    }
    if (window.length < WINDOW) break;
    after = window.at(-1);
    yield undefined;
  }
  const keptSinceMs = store.kept.sinceMs(caller.isAdministrator ? undefined : caller.uid);
  const forgets = keptSinceMs !== undefined && keptSinceMs >= fromMs;
  return {
    fromMs,
    toMs,
    ...(forgets && { keptSinceMs: Math.ceil(keptSinceMs) }),
    rows: [...sums.values()].sort((a, b) => b.heldMs - a.heldMs || nameOf(a).localeCompare(nameOf(b), "en")),
  };
}

const NOTHING = {
  done: 0,
  failed: 0,
  cancelled: 0,
  started: 0,
  waitMs: 0,
  heldMs: 0,
  countedMs: 0,
  cpuMs: 0,
};

function add(sum: Sums, used: EndedUsage): void {
  sum[used.state]++;
  if (used.startedAtMs !== undefined) {
    sum.started++;
    sum.waitMs += Math.max(0, used.startedAtMs - used.mayStartAtMs);
  }
  sum.heldMs += used.heldMs;
  sum.countedMs += used.countedMs;
  sum.cpuMs += used.cpuMs;
}

function nameOf({ user = "", queue = "" }: UsageRow): string {
  return `${user} ${queue}`;
}
