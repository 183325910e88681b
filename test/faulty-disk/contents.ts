/** What a store says that it has. */
import { createHash } from "node:crypto";
import type { Store } from "../../packages/live/daemon/store/store.ts";

/** Where the writer notes the number of its transaction. */
const NUMBER = "boot";

export interface Contents {
  /** Number of the last transaction; 0: none. */
  readonly number: number;
  readonly digest: string;
}

export function numberTransaction(store: Store, number: number): void {
  store.setMeta(NUMBER, String(number));
}

export function contentsOf(store: Store): Contents {
  const live = store.liveJobs();
  const jobs = live.map(({ environment, script }) => [
    store.contents.environment(environment),
    script === undefined ? undefined : Buffer.from(store.contents.script(script) ?? "").toString("base64"),
  ]);
  const all = [
    live,
    jobs,
    store.kept.endedBefore(Number.MAX_SAFE_INTEGER, 1e9),
    store.kept.counts(),
    store.kept.leftovers(0, 1e9),
  ];
  const digest = createHash("sha256").update(JSON.stringify([all, store.eventsAfter(0, 1e9)]));
  return { number: Number(store.meta(NUMBER) ?? 0), digest: digest.digest("hex").slice(0, 16) };
}
