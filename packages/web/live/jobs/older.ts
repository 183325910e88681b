/** Ended jobs that the page does not keep: how many there are, and those of them that a search finds. */

import { rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type { Job, JobsAnswer } from "@tutti/protocol/answers.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../client.ts";
import { connection } from "../connection.ts";
import { jobs, loaded, status } from "../store.ts";
import { filterOf } from "./filter.ts";

/** The user types on for a moment. */
const CALM_MS = 300;

interface Older {
  /** Undefined: nobody searches, or the scheduler has not answered yet. */
  readonly found: readonly Job[] | undefined;
  readonly isSearch: boolean;
}

/** How many ended jobs the scheduler has besides these. */
export function olderCount(all: readonly Job[]): number {
  // Without a subscription: the counts change with the jobs, which draw the list again after a while.
  const counts = status.peek()?.counts;
  if (counts === undefined || loaded.value < 1) return 0;
  const ended = counts.done + counts.failed + counts.cancelled;
  return Math.max(0, ended - all.filter(({ state }) => isEnded(state)).length);
}

/** @param isNeeded some jobs are older than those that the page keeps */
export function useOlder(query: Readonly<Record<string, string>>, isNeeded: boolean): Older {
  const [answer, setAnswer] = useState<{ readonly path: string; readonly found: readonly Job[] }>();
  const { name, numbers } = filterOf(query);
  const isSearch = isNeeded && (name !== undefined || numbers !== undefined);
  const path = `/v1/jobs?after=0${name ? `&name=${encodeURIComponent(name)}` : ""}${numbers ? `&numbers=${rangesText(numbers)}` : ""}`;
  const isLive = connection.value === "live";
  useEffect(() => {
    if (!isSearch || !isLive) return undefined;
    const stop = new AbortController();
    const search = async () => {
      const { jobs: found } = await ask<JobsAnswer>(path, { signal: stop.signal });
      setAnswer({ path, found: found.filter(({ job, state }) => isEnded(state) && !jobs.has(job)) });
    };
    // If it fails, the list says that it still searches.
    const timer = setTimeout(() => search().catch(() => {}), CALM_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [isSearch, path, isLive]);
  return { isSearch, found: isSearch && answer?.path === path ? answer.found : undefined };
}
